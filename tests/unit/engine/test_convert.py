"""From text to the types of columns: the edge cases, as a table."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from airflow_provider_ingest.engine.convert import conversion_of
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape
from airflow_provider_ingest.runs.frames import Kind
from airflow_provider_ingest.transformers import TrimTransformer
from tests.unit.engine.worlds import batch, column, importer, integer, money, process, table

UTC = dt.UTC
NUMERIC = column("c", ColumnKind.NUMERIC, sql_type="numeric")
WIDE = column("c", ColumnKind.NUMERIC, sql_type="numeric(50,2)", precision=50, scale=2)
FLOAT = column("c", ColumnKind.FLOAT, sql_type="double precision")
BOOLEAN = column("c", ColumnKind.BOOLEAN, sql_type="boolean")
DATE = column("c", ColumnKind.DATE, sql_type="date")
TIMESTAMP = column("c", ColumnKind.TIMESTAMP, sql_type="timestamp")
TIMESTAMPTZ = column("c", ColumnKind.TIMESTAMPTZ, sql_type="timestamptz")
TIME = column("c", ColumnKind.TIME, sql_type="time")
UUID = column("c", ColumnKind.UUID, sql_type="uuid")
JSON = column("c", ColumnKind.JSON, sql_type="jsonb")
ENUM = column("c", ColumnKind.ENUM, sql_type="mood", choices=("sad", "ok"))
TEXT3 = column("c", sql_type="varchar(3)", length=3)
BINARY = column("c", ColumnKind.BINARY, sql_type="bytea")
UNSIGNED = column("c", ColumnKind.INTEGER, sql_type="bigint unsigned", minimum=0, maximum=2**64 - 1)

CASES: list[tuple[ColumnShape, Any, Any]] = [
    (integer("c"), " 7 ", 7),
    (integer("c"), "+3", 3),
    (integer("c"), "007", 7),
    (integer("c"), "12.0", 12),
    (integer("c"), "1.5", "type"),
    (integer("c"), "1e5", "type"),
    (integer("c"), "1_000", "type"),
    (integer("c"), "٣", "type"),
    (integer("c"), "NaN", "type"),
    (integer("c"), "2147483647", 2147483647),
    (integer("c"), "2147483648", "out_of_range"),
    (integer("c"), "9" * 40, "out_of_range"),
    (integer("c"), "", None),
    (integer("c"), "\u00a0", None),
    (UNSIGNED, "18446744073709551615", 2**64 - 1),
    (UNSIGNED, "-1", "out_of_range"),
    (money("c"), "1.005", Decimal("1.01")),
    (money("c"), "-1.005", Decimal("-1.01")),
    (money("c"), "1.0049", Decimal("1.00")),
    (money("c"), "0.00499999999999999999999", Decimal("0.00")),
    (money("c"), "499999999999999e-17", Decimal("0.00")),
    (money("c"), "1e5", Decimal("100000.00")),
    (money("c"), "12,50", "type"),
    (money("c"), "NaN", "type"),
    (money("c"), "99999999.994", Decimal("99999999.99")),
    (money("c"), "99999999.995", "out_of_range"),
    (money("c"), "9" * 60, "out_of_range"),
    (NUMERIC, "0.1000", "0.1000"),
    (NUMERIC, "1e3", "1000"),
    (NUMERIC, "9" * 60, "9" * 60),
    (NUMERIC, "x", "type"),
    (WIDE, "1.005", "1.01"),
    (FLOAT, "1e5", 100000.0),
    (FLOAT, "1e400", "out_of_range"),
    (FLOAT, "inf", "type"),
    (FLOAT, "nan", "type"),
    (BOOLEAN, "Yes", True),
    (BOOLEAN, " 0 ", False),
    (BOOLEAN, "maybe", "type"),
    (DATE, "2024-02-29", dt.date(2024, 2, 29)),
    (DATE, "2023-02-29", "type"),
    (DATE, "2024-02-31", "type"),
    (DATE, "2024-2-9", "type"),
    (DATE, "0000-01-01", "type"),
    (DATE, "2024-01-01 00:00:00", dt.date(2024, 1, 1)),
    (DATE, "2024-01-01 10:00:00", "type"),
    (TIMESTAMP, "2024-01-01", dt.datetime(2024, 1, 1)),
    (TIMESTAMP, "2024-01-01T10:00:00+02:00", dt.datetime(2024, 1, 1, 8)),
    (TIMESTAMP, "2024-01-01 24:00:00", "type"),
    (TIMESTAMP, "2024-01-01 10:00:60", "type"),
    (TIMESTAMP, "2024-01-01 10:00:00.123456", dt.datetime(2024, 1, 1, 10, 0, 0, 123456)),
    (TIMESTAMPTZ, "2024-01-01T10:00:00Z", dt.datetime(2024, 1, 1, 10, tzinfo=UTC)),
    (TIMESTAMPTZ, "2024-01-01 10:00", dt.datetime(2024, 1, 1, 10, tzinfo=UTC)),
    (TIMESTAMPTZ, "2024-01-01T10:00:00-0530", dt.datetime(2024, 1, 1, 15, 30, tzinfo=UTC)),
    (TIMESTAMPTZ, "9999-12-31T23:59:59-14:00", "type"),
    (TIME, "10:30", dt.time(10, 30)),
    (TIME, "9:30", dt.time(9, 30)),
    (TIME, "9:05:07", dt.time(9, 5, 7)),
    (TIME, "9:5", "type"),
    (TIME, "24:00", "type"),
    (TIMESTAMP, "2024-01-01 9:30", dt.datetime(2024, 1, 1, 9, 30)),
    (TIMESTAMP, "2024-01-01 9:05:07", dt.datetime(2024, 1, 1, 9, 5, 7)),
    (UUID, "{6F9619FF-8B86-D011-B42D-00CF4FC964FF}", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"),
    (UUID, "6f9619ff8b86d011b42d00cf4fc964ff", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"),
    (UUID, "6f9619ff", "type"),
    (JSON, '{"a": [1]}', '{"a": [1]}'),
    (JSON, "null", "null"),
    (JSON, "[1", "type"),
    (JSON, '"\\u0000"', "out_of_range"),
    (ENUM, " ok ", "ok"),
    (ENUM, "OK", "type"),
    (TEXT3, "", ""),
    (TEXT3, " a ", " a "),
    (TEXT3, "éàü", "éàü"),
    (TEXT3, "abcd", "too_long"),
    (TEXT3, "a\x00", "out_of_range"),
    (BINARY, "é", "é".encode()),
    (BINARY, " a\n", b" a\n"),
    (BINARY, "\\x00Ff", b"\x00\xff"),
    (BINARY, "\\x0", b"\\x0"),
    (BINARY, "", None),
]


@pytest.mark.parametrize(("shape", "text", "expected"), CASES, ids=[f"{c[0].sql_type}: {c[1]!a}"[:60] for c in CASES])
def test_a_text_in_a_column(shape: ColumnShape, text: str, expected: Any) -> None:
    values, refused = conversion_of(shape, is_key=False)(pl.Series([text]))
    got = next((one.code for one in refused if one.rows[0]), values[0])
    assert got == expected


@pytest.mark.parametrize(
    ("shape", "values", "expected"),
    [
        (integer("c"), pl.Series([1.0, 2.5]), [1, "type"]),
        (integer("c"), pl.Series([Decimal("3.00")]), [3]),
        (integer("c"), pl.Series([True]), [1]),
        (money("c"), pl.Series([2.675, None]), [Decimal("2.68"), None]),
        (money("c"), pl.Series([7]), [Decimal("7.00")]),
        (money("c"), pl.Series([10**9]), ["out_of_range"]),
        (BOOLEAN, pl.Series([1, 0, 2]), [True, False, "type"]),
        (DATE, pl.Series([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 5)]), [dt.date(2024, 1, 1), "type"]),
        (TIMESTAMP, pl.Series([dt.date(2024, 1, 1)]), [dt.datetime(2024, 1, 1)]),
        (column("c"), pl.Series([1.5, 2.0]), ["1.5", "2"]),
        (column("c"), pl.Series([True]), ["true"]),
        (FLOAT, pl.Series([1, None]), [1.0, None]),
        (FLOAT, pl.Series([float("inf")]), ["type"]),
    ],
)
def test_a_typed_column_in_a_column(shape: ColumnShape, values: pl.Series, expected: list[Any]) -> None:
    converted, refused = conversion_of(shape, is_key=False)(values)
    codes = [next((one.code for one in refused if one.rows[row]), converted[row]) for row in range(len(values))]
    assert codes == expected


def test_null_fails_where_the_column_takes_none() -> None:
    _, refused = conversion_of(column("c", ColumnKind.DATE, nullable=False), is_key=False)(pl.Series(["", "x", None]))
    assert [(one.code, one.rows.to_list()) for one in refused] == [
        ("type", [False, True, False]),
        ("not_null", [True, False, True]),
    ]


def test_messages_name_the_column_and_what_it_takes() -> None:
    _, refused = conversion_of(integer("stock"), is_key=False)(pl.Series(["x"]))
    assert refused[0].message == "The column stock takes integer, a whole number."


@pytest.mark.parametrize("shape", [one for one, _, _ in CASES], ids=lambda one: one.sql_type)
def test_the_type_does_not_depend_on_the_values(shape: ColumnShape) -> None:
    convert = conversion_of(shape, is_key=False)
    usual = convert(pl.Series(["x", "1", "2024-01-01"]))[0].dtype
    assert convert(pl.Series([], dtype=pl.String))[0].dtype == usual
    assert convert(pl.Series([None], dtype=pl.Null))[0].dtype == usual


# -- the character NUL, for which a reader may have looked already


class Terminated(TrimTransformer):
    """A step of a user's own, made of one that only cuts."""

    def transform(self, values: pl.Series, rows: Any) -> pl.Series:
        return values + "\0"


@pytest.mark.parametrize(
    ("steps", "path", "refused"),
    [
        ([], "word", []),
        ([TrimTransformer], "word", []),
        ([Terminated], "word", ["out_of_range"]),
        ([TrimTransformer, Terminated], "word", ["out_of_range"]),
        ([], "json.word", ["out_of_range"]),
    ],
)
def test_nul_that_no_reader_can_have_seen_is_found(steps: list[Any], path: str, refused: list[str]) -> None:
    given = batch({"word": ["a"], "json": [r'{"word": "a\u0000"}']}, kinds={"json": Kind.JSON})
    config = importer().map_transform_and_validate(path, "word", steps, [])
    done = process(config, table("word"), replace(given, may_hold_nul=False))
    assert done.failures["code"].to_list() == refused


def test_nul_is_looked_for_where_no_reader_has_looked() -> None:
    done = process(importer().map("word", "word"), table("word"), {"word": ["a\0b"]})
    assert done.failures["code"].to_list() == ["out_of_range"]
