"""Laws of the engine: what holds for any input."""

from __future__ import annotations

from typing import Any

import orjson
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.engine.failures import error_counts
from airflow_provider_ingest.engine.plan import Processed
from airflow_provider_ingest.engine.row_log import all_rows, failed_rows
from airflow_provider_ingest.importers.table import ColumnKind
from airflow_provider_ingest.runs.failure import RowFailure, Stage, errors_document
from airflow_provider_ingest.runs.frames import ROW_NUMBER, Kind, RowBatch
from airflow_provider_ingest.transformers import (
    BooleanTransformer,
    DefaultValueTransformer,
    NumericTransformer,
    TrimTransformer,
)
from airflow_provider_ingest.validators import EmailValidator, RangeValidator, RequiredValidator
from tests.unit.engine.worlds import batch, column, importer, integer, money, plan, table

SHAPE = table(
    column("text", length=5, nullable=False),
    integer("whole"),
    money("price"),
    column("plain", ColumnKind.NUMERIC),
    column("real", ColumnKind.FLOAT),
    column("flag", ColumnKind.BOOLEAN),
    column("day", ColumnKind.DATE),
    column("moment", ColumnKind.TIMESTAMP),
    column("instant", ColumnKind.TIMESTAMPTZ),
    column("clock", ColumnKind.TIME),
    column("uid", ColumnKind.UUID),
    column("doc", ColumnKind.JSON),
    column("choice", ColumnKind.ENUM, choices=("a", "b")),
    column("bytes", ColumnKind.BINARY),
    column("other", ColumnKind.OTHER),
    column("note"),
)

STEPS = (
    importer()
    .expect_schema({"whole": {"type": "integer"}, "day": {"type": "date", "nullable": False}})
    .map_transform_and_validate("text", "text", [TrimTransformer], [RequiredValidator, EmailValidator])
    .map_and_transform("whole", "whole", [DefaultValueTransformer("0"), NumericTransformer(0)])
    .map_transform_and_validate("price", "price", [NumericTransformer(2)], [RangeValidator(0, 100)])
    .map("plain", "plain")
    .map("real", "real")
    .map_and_transform("flag", "flag", BooleanTransformer())
    .map("day", "day")
    .map("moment", "moment")
    .map("instant", "instant")
    .map("clock", "clock")
    .map("uid", "uid")
    .map("doc", "doc")
    .map("choice", "choice")
    .map("bytes", "bytes")
    .map_when("other", "other", pl.col("flag") == "yes")
    .map_when("other", "note", lambda row: row["flag"] != "yes", lambda value: None if value is None else value[::-1])
    .map_when("note", "note", lambda row: row["note"] == row["other"])
)
FIELDS = SHAPE.names

near_misses = st.sampled_from(
    (
        *(
            "",
            " ",
            "  ",
            "\u00a0",
            "0",
            "1",
            "-1",
            " 7 ",
            "+3",
            "12.0",
            "12,50",
            "1e5",
            "1E400",
            "-0",
            "٣",
            "NaN",
            "inf",
        ),
        *("0x1f", "007", "1_000", "9" * 40, "0." + "3" * 40, "99999999.995", "2147483648", "true", "YES", "f", "n"),
        *("2024-02-29", "2023-02-29", "2024-02-31", "0000-01-01", "9999-12-31T23:59:59-14:00", "2024-01-01 00:00:60"),
        *("2024-01-01T10:00:00Z", "2024-01-01 10:00:00.123456789+05:30", "24:00", "10:30", "10:30:59.5"),
        *("6f9619ff8b86d011b42d00cf4fc964ff", "{}", "[1", "null", '"\\u0000"', '{"a":1}', "a", "b", "a\x00b", "İ", "é"),
    )
)
cells = st.one_of(st.none(), near_misses, st.text(max_size=12))
rows = st.lists(st.fixed_dictionaries(dict.fromkeys(FIELDS, cells)), max_size=6)
kinds = st.dictionaries(st.sampled_from(FIELDS), st.sampled_from(list(Kind)), max_size=6)


def made(given_rows: list[dict[str, str | None]], first: int = 1, of_kind: dict[str, Kind] | None = None) -> RowBatch:
    return batch({field: [row[field] for row in given_rows] for field in FIELDS}, first=first, kinds=of_kind)


def result(processed: Processed) -> tuple[list[Any], list[Any]]:
    return processed.records.records.rows(), processed.failures.rows()


@settings(deadline=None, max_examples=25)
@given(rows, kinds)
def test_no_text_and_no_kind_makes_the_engine_raise_or_lose_a_row(given_rows: Any, of_kind: Any) -> None:
    processed = plan(STEPS, SHAPE).process(made(given_rows, of_kind=of_kind))
    good = set(processed.records.records[ROW_NUMBER])
    failed = set(processed.failures[ROW_NUMBER])
    assert not good & failed
    assert good | failed == set(range(1, len(given_rows) + 1))


@settings(deadline=None, max_examples=25)
@given(rows, st.data())
def test_the_result_does_not_depend_on_the_size_of_batches(given_rows: Any, data: Any) -> None:
    whole = plan(STEPS, SHAPE).process(made(given_rows))
    cut = data.draw(st.integers(0, len(given_rows)))
    parts = [
        plan(STEPS, SHAPE).process(made(part, first))
        for part, first in ((given_rows[:cut], 1), (given_rows[cut:], cut + 1))
        if part or not given_rows
    ]
    assert [row for part in parts for row in result(part)[0]] == result(whole)[0]
    assert [row for part in parts for row in result(part)[1]] == result(whole)[1]
    assert all(part.records.records.schema == whole.records.records.schema for part in parts)


@settings(deadline=None, max_examples=25)
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_what_becomes_of_them(given_rows: Any, random: Any) -> None:
    order = list(range(len(given_rows)))
    random.shuffle(order)
    straight = plan(STEPS, SHAPE).process(made(given_rows))
    shuffled = plan(STEPS, SHAPE).process(made([given_rows[place] for place in order]))
    back = {number: order[number - 1] + 1 for number in range(1, len(order) + 1)}
    assert sorted((back[row[0]], *map(repr, row[1:])) for row in result(shuffled)[0]) == sorted(
        (row[0], *map(repr, row[1:])) for row in result(straight)[0]
    )
    assert sorted((back[row[0]], *map(str, row[1:])) for row in result(shuffled)[1]) == sorted(
        (row[0], *map(str, row[1:])) for row in result(straight)[1]
    )


@settings(deadline=None, max_examples=25)
@given(rows, kinds)
def test_the_row_log_is_what_a_loop_over_rows_would_write(given_rows: Any, of_kind: Any) -> None:
    given_batch = made(given_rows, of_kind=of_kind)
    processed = plan(STEPS.with_tracing(), SHAPE).process(given_batch)
    logged = failed_rows(given_batch, processed.failures, processed.trace)
    by_row: dict[int, list[RowFailure]] = {}
    for line in processed.failures.iter_rows(named=True):
        number = line.pop(ROW_NUMBER)
        by_row.setdefault(number, []).append(RowFailure(row_number=number, stage=Stage(line.pop("stage")), **line))
    assert logged[ROW_NUMBER].to_list() == sorted(by_row)
    for row in logged.iter_rows(named=True):
        assert orjson.loads(row["errors"]) == errors_document(by_row[row[ROW_NUMBER]])
        assert set(orjson.loads(row["trace"])) == {"transformations", "mappings"}
        data = dict(zip(given_batch.columns, orjson.loads(row["data"]), strict=True))
        for field, value in given_rows[row[ROW_NUMBER] - 1].items():
            assert data[field] == value or field in of_kind
    everything = all_rows(given_batch, processed.failures, None, processed.trace)
    assert everything[ROW_NUMBER].to_list() == list(range(1, len(given_rows) + 1))
    assert everything.filter(pl.col("status") == "failed").rows() == logged.rows()


@settings(deadline=None, max_examples=25)
@given(rows)
def test_the_error_summary_counts_each_failed_row_once_in_general(given_rows: Any) -> None:
    processed = plan(STEPS, SHAPE).process(made(given_rows))
    counts = error_counts(processed.failures)
    assert sum(one.count for one in counts if one.field is None) == processed.failures[ROW_NUMBER].n_unique()
