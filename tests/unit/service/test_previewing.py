"""A look at the beginning of a file."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.service.head_reader import read_head


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"sku": ["A", "B", None], "tags": [["x", "y"], [], None]}), file)
    return file.getvalue()


def test_a_columnar_file_is_looked_at_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "head"
    path.write_bytes(parquet())
    head = read_head(path, "parquet", {}, 2)
    assert head.columns == ["sku", "tags"]
    assert head.rows == [{"sku": "A", "tags": '["x","y"]'}, {"sku": "B", "tags": "[]"}]
    path.write_text("sku,tags\nA,x\n")
    assert read_head(path, "csv", {}, 2).rows == [{"sku": "A", "tags": "x"}]


def test_a_columnar_file_that_is_no_such_file_is_told_by_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "head"
    path.write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    with pytest.raises(FormatError, match="Parquet"):
        read_head(path, "parquet", {}, 2)


def test_a_columnar_file_that_ends_its_reader_leaves_the_others_alone(tmp_path: Path) -> None:
    # PyArrow 26 aborts where a footer gives a histogram of levels another length than the column's levels have.
    path, data = tmp_path / "head", parquet()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for place in [at for at in range(len(data) - 9, footer, -1) if data[at] == 0x16]:
        path.write_bytes(data[:place] + b"\x26" + data[place + 1 :])
        if "ended the process" in told_of(path):
            return
    pytest.fail("No damage of this kind ends the reader any more: it may be read in the server's own process.")


def told_of(path: Path) -> str:
    try:
        return str(read_head(path, "parquet", {}, 2))
    except FormatError as error:
        return str(error)
