"""A look at the beginning of a file."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.service.head_reader import MAX_INFLATED, read_head
from airflow_provider_ingest.service.preview import MAX_HEAD, ROWS, NoPreview, preview


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


def test_of_compressed_text_only_the_beginning_is_looked_at() -> None:
    row = b"AB-10001,9\n"
    seen = preview(MANIFEST, gzip.compress(b"sku,price\n" + row * 2_000_000), "a.csv.gz", 1)
    assert (seen["is_partial"], seen["format_label"], seen["facts"]["compression"]) == (True, "csv (gzip)", "gzip")
    assert seen["rows"] == [{"sku": "AB-10001", "price": "9"}] * ROWS
    assert seen["malformed"] == 0
    whole = preview(MANIFEST, gzip.compress(b"sku,price\n" + row), "a.csv.gz", 1)
    assert (whole["is_partial"], len(whole["rows"])) == (False, 1)


def test_a_workbook_that_inflates_to_very_much_has_no_preview() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr("xl/workbook.xml", "<workbook/>")
        container.writestr("xl/worksheets/sheet1.xml", b"<row/>" * (MAX_INFLATED // 6 + 1))
    for content, name in ((file.getvalue(), "a.xlsx"), (gzip.compress(file.getvalue()), "a.xlsx.gz")):
        with pytest.raises(NoPreview, match="inflates to more than 16 MiB"):
            preview(MANIFEST, content, name, len(content))


def test_a_small_parquet_file_that_states_millions_of_rows_takes_little_memory(tmp_path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(5_000_000, np.int32)), pa.array(["x" * 1_000]))
    pq.write_table(pa.table({"sku": texts}), tmp_path / "head", compression="zstd", row_group_size=5_000_000)
    assert (tmp_path / "head").stat().st_size < MAX_HEAD * 2
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); "
    reader = "from airflow_provider_ingest.service.head_reader import main; main(*sys.argv[1:])"
    command = [sys.executable, "-c", limited + reader, str(tmp_path / "head"), "{}", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert len(json.loads(done.stdout or "{}").get("rows", ())) == 2, done.stderr


MANIFEST = {"source": {}, "mappings": [{"attribute": "sku", "fields": ["sku"], "reads": []}]}
