"""NDJSON: lines, blank ones, broken ones."""

import io

import pytest

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import Limits
from airflow_provider_ingest.formats.ndjson import line_blocks
from tests.unit.formats.tables import read_bytes


def test_the_line_number_is_the_physical_line_and_blank_lines_are_no_rows():
    whole = read_bytes(b'\xef\xbb\xbf{"a":1}\n\n  \r\n{"a":2}\r\n{"a":3.0}')
    assert (whole.numbers, whole.lines) == ([1, 2, 3], [1, 4, 5])
    assert [row["a"] for row in whole.rows] == ["1", "2", "3.0"]
    assert whole.kinds == {"a": "number"}


def test_a_broken_line_fails_alone():
    whole = read_bytes(b'{"a":1}\n{"a":\n{"a":1} {"a":2}\n[1]\n{"a":"\xff"}\n{"a":2}\n', chunk_rows=2)
    assert whole.numbers == [1, 6]
    assert [row["_line_number"] for row in whole.malformed] == [2, 3, 4, 5]
    assert [row["reason"] for row in whole.malformed] == [
        "is not JSON: it ends too early",
        "is not JSON: trailing characters",
        "expected an object, found an array",
        "is not valid UTF-8",
    ]
    assert whole.malformed[0]["raw"] == '{"a":'


def test_two_broken_lines_that_make_one_row_together_are_two_broken_lines():
    assert read_bytes(b'{"z":0}\n{"a":1\n"b":2}\n').numbers == [1]


def test_nesting_without_end_fails_its_line_alone():
    whole = read_bytes(b'{"a":1}\n{"a":' + b"[" * 100_000 + b"]" * 100_000 + b'}\n{"a":2}\n')
    assert whole.numbers == [1, 3]
    assert "nested too deeply" in whole.malformed[0]["reason"]


def test_a_line_above_the_cap_is_refused_by_number():
    stream = io.BytesIO(b'{"a":1}\n{"a":"' + b"x" * (3 << 20))
    with pytest.raises(FormatError, match="Line 2 is larger than 2 MiB"):
        list(line_blocks(stream, Limits(record_bytes=2 << 20)))
