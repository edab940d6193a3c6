"""What a file is, by its content."""

import gzip
import io
import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest
import zstandard

from airflow_provider_ingest import formats
from airflow_provider_ingest.exceptions import FormatError, UnsupportedFile
from airflow_provider_ingest.formats.detect import Format
from tests.unit.formats.tables import read_bytes


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
    data = compress(PLAIN[name])
    assert formats.detect_format(data) == Format(name, compression)
    packed, plain = read_bytes(data), read_bytes(PLAIN[name])
    assert (packed.rows, packed.plan.columns) == (plain.rows, plain.plan.columns)
    assert packed.plan.facts["compression"] == compression


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
        (b"a,b\n1,2\n\x00,4\n5,6\n", "csv"),
        (b"a,b\n" + b"1,\x00\n" * 10, "csv"),
        (b"a\x02b\n1\x022\n" * 10, "csv"),
        ('[{"a": 1}]'.encode("utf-16"), "json"),
        ('[{"a": 1}]'.encode("utf-16-be"), "json"),
        ('[{"a": 1}]'.encode("utf-32"), "json"),
        ('{"a": 1}\n{"a": 2}\n'.encode("utf-16-le"), "ndjson"),
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
        (b"\0\0\0", "is not text"),
        (b"\x03\x7d\x01\x02" + b"NAME\0\0\0\0\0\0\0C\0\0\0\0\x14" * 3 + b"\r Lamp   Chair  ", "is not text"),
        (random.Random(1).randbytes(400), "is not text"),
        ("<html>".encode("utf-16"), "an HTML or XML page"),
        (b"x" * 257 + b"ustar\x0000", "a tar archive"),
        (gzip.compress(gzip.compress(b"a,b\n")), "compressed more than once"),
        (gzip.compress(b"%PDF-1.7\n"), "a PDF document"),
        (zipped(gzip.compress(b"a,b\n")), "compressed more than once"),
    ],
    ids=lambda value: value if isinstance(value, str) else "head",  # gzip writes the time, which is no name
)
def test_what_is_no_table_is_refused_by_name(head, what):
    with pytest.raises(UnsupportedFile) as caught:
        formats.detect_format(head, "sales.csv")
    assert what in str(caught.value)
    assert str(caught.value).startswith('"sales.csv" ')
    assert caught.value.status == 415


def test_one_nul_in_a_tiny_file_costs_one_row():
    whole = read_bytes(b"a,b\n1,2\n\x00,4\n5,6\n")
    assert (whole.numbers, [row["reason"] for row in whole.malformed]) == ([1, 3], ["contains a NUL byte"])


def test_a_nul_in_every_row_costs_every_row_and_says_why():
    whole = read_bytes(b"a,b\n" + b"1,\x00\n" * 10)
    assert {row["reason"] for row in whole.malformed} == {"contains a NUL byte"}
    assert (len(whole.malformed), whole.rows) == (10, [])


@pytest.mark.parametrize("delimiter", ["\x01", "\x02", "\x07", "\x1f"])
def test_a_delimiter_that_nobody_can_type_is_taken(delimiter):
    data = f"a{delimiter}b\n".encode() + f"1{delimiter}2\n".encode() * 20
    assert read_bytes(data, delimiter=delimiter).rows == [{"a": "1", "b": "2"}] * 20


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_json_in_wide_characters_is_read(encoding, compress):
    array, lines = '[{"a": "ü"}, {"a": "x"}]', '{"a": "ü"}\n{"a": "x"}\n'
    for text, name in ((array, "json"), (lines, "ndjson")):
        whole = read_bytes(compress(text.encode(encoding)))
        assert (whole.plan.facts["format"], whole.rows) == (name, [{"a": "ü"}, {"a": "x"}])
    assert read_bytes(array.encode("cp1252"), format="json", encoding="cp1252").rows[0] == {"a": "ü"}


@pytest.mark.parametrize("blanks", [b"\n" * 300_000, b"\r\n" * 300_000, b" \n" * 200_000])
def test_a_file_that_starts_with_many_blank_lines_is_read(blanks):
    lines = blanks.count(b"\n")
    whole = read_bytes(blanks + b"a,b\n1,2\n3,4\n")
    assert whole.rows == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert whole.lines == [lines + 2, lines + 3]
    assert read_bytes(blanks + b"t\na,b\n1,2\n", header_row=lines + 2).lines == [lines + 3]
    assert read_bytes(blanks + b'[{"a": 1}]').rows == [{"a": "1"}]
    with pytest.raises(FormatError, match="blank lines only"):
        read_bytes(blanks)


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
