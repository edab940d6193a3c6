"""Rows as maps: what each Python value becomes, and that formats agree."""

import json
import tempfile
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest import formats
from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import Limits
from airflow_provider_ingest.formats.plan import plan_mappings
from airflow_provider_ingest.formats.rows import FRAME_CELLS, RowFrames
from tests.unit.formats.tables import Whole, read_all, read_bytes


def read_rows(rows, chunk_rows=1000, batch_rows=50_000, columns=None) -> Whole:
    with tempfile.TemporaryDirectory() as scratch:
        plan = formats.plan_rows(iter(rows), columns=columns, chunk_rows=chunk_rows, scratch=Path(scratch))
        return read_all(plan, batch_rows)


class Color(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text", "kind"),
    [
        ("x", "x", "text"),
        ("", "", "text"),
        (7, "7", "integer"),
        (2**70, str(2**70), "number"),
        (True, "true", "boolean"),
        (1.5, "1.5", "number"),
        (Decimal("1.50"), "1.50", "number"),
        (date(2024, 2, 29), "2024-02-29", "date"),
        (datetime(2024, 2, 29, 1, 2, 3), "2024-02-29T01:02:03", "datetime"),
        (datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), "2024-02-29T01:02:03+00:00", "datetime"),
        (time(1, 2), "01:02:00", "text"),
        (timedelta(hours=30), "30:00:00", "text"),
        ([1, Decimal("1.50"), 2**70], f"[1,1.50,{2**70}]", "json"),
        ((1, 2), "[1,2]", "json"),
        ({"a": None}, '{"a":null}', "json"),
        (b"abc", "abc", "text"),
        (b"\xff", "\\xff", "text"),
        (Color.RED, "red", "text"),
        (np.int64(7), "7", "integer"),
        (UUID(int=1), str(UUID(int=1)), "text"),
        (None, None, "text"),
    ],
)
def test_a_python_value_becomes_text_and_kind(value, text, kind):
    whole = read_rows([{"v": value}])
    assert whole.rows == [{"v": text}]
    assert whole.kinds.get("v", "text") == kind
    assert read_rows([{"v": value}, {"v": None}, {"v": value}]).rows == [{"v": text}, {"v": None}, {"v": text}]


def test_dates_beside_times_become_times():
    whole = read_rows([{"v": date(2024, 1, 1)}, {"v": datetime(2024, 1, 1, 10)}, {"v": None}])
    assert [row["v"] for row in whole.rows] == ["2024-01-01T00:00:00", "2024-01-01T10:00:00", None]
    assert whole.kinds == {"v": "datetime"}


def test_rows_may_carry_their_original_numbers():
    rows = [{"_row_number": 7, "_line_number": 9, "a": "x"}, {"_row_number": 90, "_line_number": 99, "a": "y"}]
    whole = read_rows(rows, chunk_rows=1)
    assert (whole.numbers, whole.lines) == ([7, 90], [9, 99])
    assert whole.plan.columns == ("a",)
    assert [chunk.first_row for chunk in whole.plan.chunks] == [7, 90]


def test_a_number_of_a_row_that_is_none_is_refused():
    with pytest.raises(FormatError, match="_row_number is no whole number"):
        read_rows([{"_row_number": "x"}])


def test_given_columns_come_first_even_if_no_row_has_them():
    assert read_rows([{"b": 1, "a": 2}], columns=["a", "c"]).plan.columns == ("a", "c", "b")
    assert read_rows([], columns=["a"]).plan.columns == ("a",)


def test_a_value_without_text_fails_its_row_alone():
    whole = read_rows([{"a": "x", "b": 1}, {"a": "\ud800", "b": 2}, {"a": "y", "b": 3}])
    assert whole.numbers == [1, 3]
    assert whole.malformed[0]["reason"] == 'field "a" is not valid Unicode'
    assert json.loads(whole.malformed[0]["data"]) == {"a": None, "b": "2"}


def test_a_row_that_is_no_map_fails_alone():
    whole = read_rows([{"a": 1}, ["x"], {"a": 2}])
    assert whole.numbers == [1, 3]
    assert whole.malformed[0]["raw"] == '["x"]'


def test_an_error_of_the_source_passes_through():
    def broken():
        yield {"a": 1}
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        read_rows(broken())


def test_too_many_different_columns_are_refused(tmp_path):
    rows = ({f"k{at}": 1} for at in range(50))
    with pytest.raises(FormatError, match="more than 40 different columns"):
        plan_mappings(rows, chunk_rows=10, scratch=tmp_path, limits=Limits(columns=40))


def test_rows_with_many_different_keys_make_no_vast_frame():
    records = [{f"k{at}": at} for at in range(4000)]
    frames = list(RowFrames().frames(records, range(1, 4001), range(1, 4001)))
    assert sum(frame.height for frame in frames) == 4000
    assert max(frame.height * frame.width for frame in frames) <= FRAME_CELLS * 1.1


def test_keys_that_only_look_alike_are_two_columns():
    assert read_rows([{1: "a", "1": "b"}]).rows == [{"1": "a", "1_2": "b"}]


keys = st.text(min_size=0, max_size=4) | st.sampled_from(["*", "^a.*$", "_malformed_raw", "a", "b", ""])
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
floats = st.floats(allow_nan=False, allow_infinity=False, width=32)
objects = st.dictionaries(
    keys, scalars | floats | st.lists(scalars, max_size=2) | st.dictionaries(keys, scalars, max_size=2)
)


def expected_text(value):
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@settings(max_examples=60, deadline=None)
@given(st.lists(objects, max_size=12), st.integers(1, 13), st.integers(1, 13))
def test_any_objects_come_back_the_same_from_all_formats_however_cut(rows, chunk_rows, batch_rows):
    one = read_rows(rows, chunk_rows, batch_rows)
    named = {name: None for row in rows for name in row}
    back = dict(zip(named, one.plan.columns, strict=True))
    assert one.rows == [{back[key]: expected_text(row.get(key)) for key in named} for row in rows]
    assert one.numbers == list(range(1, len(rows) + 1))
    array = read_bytes(json.dumps(rows).encode(), format="json", chunk_rows=chunk_rows, batch_rows=batch_rows)
    lines = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    ndjson = read_bytes(lines, format="ndjson", chunk_rows=chunk_rows, batch_rows=batch_rows)
    for other in (array, ndjson):
        assert (other.rows, other.kinds, other.plan.columns) == (one.rows, one.kinds, one.plan.columns)
        assert other.numbers == one.numbers
