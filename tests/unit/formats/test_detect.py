"""What a file is, by its content."""

import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest
import zstandard

from airflow_provider_ingest import formats
from airflow_provider_ingest.exceptions import UnsupportedFile
from airflow_provider_ingest.formats.detect import Format


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["a"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def parquet() -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame({"a": [1]}).write_parquet(buffer)
    return buffer.getvalue()


def arrow(is_stream: bool) -> bytes:
    buffer = io.BytesIO()
    frame = pl.DataFrame({"a": [1]})
    _ = frame.write_ipc_stream(buffer) if is_stream else frame.write_ipc(buffer)
    return buffer.getvalue()


def zipped(data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("folder/", b"")
        archive.writestr("folder/data.bin", data)
    return buffer.getvalue()


PLAIN = {
    "csv": b"a,b\n1,2\n",
    "json": b'[{"a": 1}]',
    "ndjson": b'{"a": 1}\n{"a": 2}\n',
    "xlsx": workbook(),
    "parquet": parquet(),
    "arrow": arrow(is_stream=False),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_format_is_recognised_by_its_content_alone(name):
    assert formats.detect_format(PLAIN[name], "misleading.pdf") == Format(name)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize(
    ("compression", "compress"),
    [("gzip", gzip.compress), ("zstd", zstandard.compress), ("zip", zipped), ("zip", lambda data: zipped(data, 0))],
)
def test_a_format_is_recognised_inside_a_compressed_file(name, compression, compress):
    assert formats.detect_format(compress(PLAIN[name])) == Format(name, compression)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"", "csv"),
        (b"id\n", "csv"),
        (b"\xef\xbb\xbf[]", "json"),
        (b"  \r\n\t[ { } ]", "json"),
        (b"[1, 2]", "json"),
        (b"[id],[name]\n1,2\n", "csv"),
        (b"[2024] report;x\n1;2\n", "csv"),
        (b'["x"];y\n', "csv"),
        (b"[" * 100_000, "json"),
        (b'{\n  "data": []\n}', "json"),
        (b'{"a": 1}', "ndjson"),
        (b'{"a": \n{"a": 1}\n', "ndjson"),
        (b'{"a": "' + b"x" * 300_000, "ndjson"),
        (b"{id},{name}\n1,2\n", "csv"),
        ("a,é\n1,ü\n".encode("latin-1"), "csv"),
        ("名前,値\n".encode("shift-jis"), "csv"),
        ("a,b\n1,2\n".encode("utf-16"), "csv"),
        ("a,b\n1,2\n".encode("utf-16-le"), "csv"),
        ("a,b\n1,2\n".encode("utf-16-be"), "csv"),
        (b"a\x01b\n1\x012\n" * 10, "csv"),
        (b"a,b\n" + b"1,x\x00y\n" + b"1,2\n" * 30, "csv"),
        (arrow(is_stream=True), "arrow"),
    ],
)
def test_odd_beginnings_are_told_apart(head, name):
    assert formats.detect_format(head).name == name


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"\x7fELF\x02\x01", "a program"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 50, "save it as .xlsx"),
        (b"BZh91AY&SY\x00\x01", "a bzip2 file"),
        (b"<!DOCTYPE html><html>", "an HTML or XML page"),
        (b"\n<html lang=x>", "an HTML or XML page"),
        (b'<?xml version="1.0"?>', "an HTML or XML page"),
        (bytes(range(256)) * 4, "is not text"),
        (b"\0" * 1000, "is not text"),
        (b"x" * 257 + b"ustar\x0000", "a tar archive"),
        (gzip.compress(gzip.compress(b"a,b\n")), "compressed more than once"),
        (gzip.compress(b"%PDF-1.7\n"), "a PDF document"),
        (zipped(gzip.compress(b"a,b\n")), "compressed more than once"),
    ],
)
def test_what_is_no_table_is_refused_by_name(head, what):
    with pytest.raises(UnsupportedFile) as caught:
        formats.detect_format(head, "sales.csv")
    assert what in str(caught.value)
    assert str(caught.value).startswith('"sales.csv" ')
    assert caught.value.status == 415


def test_word_and_open_documents_are_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", '<?xml version="1.0"?>')
        archive.writestr("word/document.xml", "<w/>")
    with pytest.raises(UnsupportedFile):
        formats.detect_format(buffer.getvalue())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    with pytest.raises(UnsupportedFile, match="OpenDocument"):
        formats.detect_format(buffer.getvalue())


def test_importing_the_formats_loads_no_reader():
    heavy = "[name for name in ('polars', 'pyarrow', 'numpy') if name in sys.modules]"
    code = f"import sys, airflow_provider_ingest.formats; print({heavy})"
    root = Path(__file__).parents[3]
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root).stdout
    assert json.loads(printed) == []
