"""Runs the table in ``docs/reference/formats.md``."""

import io
import re
import tempfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_provider_ingest import formats
from airflow_provider_ingest.formats.limits import GIB, LIMITS, MIB
from tests.unit.formats.tables import Whole, read_all, read_bytes

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
LINE = re.compile(r"^\| `(\w+)` \| `(.+?)` \| `(.+?)` \| `(\w+)` \|$", re.MULTILINE)
NAMES = {one.__name__: one for one in (date, datetime, time, timedelta, Decimal, UUID)}


def cases() -> Iterator[Any]:
    for match in LINE.finditer(PAGE):
        yield pytest.param(*match.groups(), id=f"{match[1]} {match[2]}")


def written(format_: str, value: str) -> Whole:
    """A file of the format whose only row has the value in column ``v``."""
    if format_ == "csv":
        return read_bytes(f"k,v\n1,{value}\n".encode())
    if format_ in ("json", "ndjson"):
        pair = "" if value == "(absent)" else f', "v": {value}'
        rows = [f'{{"k": 1{pair}}}', '{"k": 2, "v": null}']
        return read_bytes(f"[{','.join(rows)}]".encode() if format_ == "json" else "\n".join(rows).encode())
    given = eval(value, NAMES)
    buffer = io.BytesIO()
    if format_ == "rows":
        with tempfile.TemporaryDirectory() as scratch:
            rows_plan = formats.plan_rows(iter([{"k": 1, "v": given}]), chunk_rows=10, scratch=Path(scratch))
            return read_all(rows_plan)
    if format_ == "xlsx":
        book = openpyxl.Workbook()
        book.active.append(["k", "v"])
        book.active.append([1, given])
        book.save(buffer)
        return read_bytes(buffer.getvalue())
    table = pa.table({"k": [1], "v": [given]})
    if format_ == "parquet":
        pq.write_table(table, buffer)
    else:
        with pa.ipc.new_file(buffer, table.schema) as writer:
            writer.write_table(table)
    return read_bytes(buffer.getvalue())


@pytest.mark.parametrize(("format_", "value", "text", "kind"), list(cases()))
def test_the_page_says_what_a_value_becomes(format_, value, text, kind):
    whole = written(format_, value)
    assert whole.plan.facts["format"] == format_
    assert whole.rows[0].get("v") == eval(text)
    assert whole.kinds.get("v", "text") == kind


def test_the_page_names_every_format_and_states_the_limits_that_hold():
    from airflow_provider_ingest.formats.detect import FORMATS

    assert set(FORMATS) | {"rows"} == {match[1] for match in LINE.finditer(PAGE)}
    assert LIMITS.columns == LIMITS.column_name
    for stated in (
        f"inflated | {LIMITS.inflated_bytes // GIB} GiB, and {LIMITS.inflate_ratio} times its size",
        f"(from {LIMITS.ratio_from // MIB} MiB on)",
        f"{LIMITS.zip_entries:,}; {LIMITS.zip_directory_bytes // MIB} MiB",
        f"| a workbook, inflated | {LIMITS.workbook_bytes // GIB} GiB |",
        f"{LIMITS.sheet_cells:,} cells",
        f"{LIMITS.record_bytes // MIB} MiB |",
        f"characters of a key | {LIMITS.columns:,} |",
    ):
        assert stated in PAGE
