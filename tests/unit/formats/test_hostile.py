"""Files made to take down the reader: each refused with a clear error, in bounded memory and time.

Every file is planned in a process of its own, which reports its peak memory and the MiB that it read, and is ended
after 40 seconds of work (CPU time, whatever else the machine does).
"""

import gzip
import io
import json
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import zstandard

ROOT = Path(__file__).parents[3]
EXTRA_MEMORY = 300  # MiB above what the imports alone take

MEASURE = """
import json, resource, sys, tempfile
from pathlib import Path
resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
import polars, pyarrow, numpy, pyarrow.parquet, python_calamine, zstandard
from airflow_provider_ingest import formats
import airflow_provider_ingest.formats.csv, airflow_provider_ingest.formats.xlsx, airflow_provider_ingest.formats.ndjson
peak = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
read = lambda: int(Path("/proc/self/io").read_text().split("rchar:")[1].split()[0]) >> 20
before, begun, error, rows = peak(), read(), None, None
with tempfile.TemporaryDirectory() as scratch:
    try:
        plan = formats.plan_file(Path(sys.argv[1]), options={}, chunk_rows=250_000, scratch=Path(scratch))
        rows = sum(batch.rows for chunk in plan.chunks for batch in formats.read_chunk(plan.reader, chunk))
    except Exception as caught:  # the test looks at which error it was
        error = f"{type(caught).__name__}: {caught}"
print(json.dumps({"error": error, "rows": rows, "extra": peak() - before, "read": read() - begun}))
"""


def measure(path: Path) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["extra"] < EXTRA_MEMORY, result
    return result


ZEROS = bytes(1 << 20)
MANY = 80  # MiB of zeros


def gzip_bomb(path: Path) -> None:
    with gzip.open(path, "wb", 6) as file:
        file.write(b"a,b\n")
        for _ in range(MANY):
            file.write(ZEROS.replace(b"\0", b"1"))


def zstd_bomb(path: Path) -> None:
    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as writer:
        writer.write(b"a,b\n")
        for _ in range(MANY):
            writer.write(ZEROS.replace(b"\0", b"1"))


def zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.csv", "w") as file:
        file.write(b"a,b\n")
        for _ in range(MANY):
            file.write(ZEROS.replace(b"\0", b"1"))


def lying_zip_bomb(path: Path) -> None:
    """A ZIP file whose directory says that the bomb is 100 bytes small."""
    zip_bomb(path)
    data = bytearray(path.read_bytes())
    directory = data.rindex(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)


def workbook_with(path: Path, sheet: list[bytes]) -> None:
    book, plain = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a"])
    book.save(plain)
    source = zipfile.ZipFile(plain)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            with archive.open(member.filename, "w", force_zip64=True) as file:
                for piece in sheet if "worksheets/" in member.filename else [source.read(member)]:
                    file.write(piece)


HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
TAIL = b"</sheetData></worksheet>"


def xlsx_bomb(path: Path) -> None:
    workbook_with(path, [HEAD, *[ZEROS.replace(b"\0", b" ")] * MANY, TAIL])


def xlsx_rectangle(path: Path) -> None:
    cell = b'<row r="%d"><c r="%b%d"><v>1</v></c></row>'
    workbook_with(path, [HEAD, cell % (1, b"A", 1), cell % (1_048_576, b"XFD", 1_048_576), TAIL])


def gzip_of_gzip(path: Path) -> None:
    inner = path.with_name("inner")
    gzip_bomb(inner)
    path.write_bytes(gzip.compress(inner.read_bytes()))


def deep_array(path: Path) -> None:
    path.write_bytes(b'[{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}]")


def open_brackets(path: Path) -> None:
    path.write_bytes(b"[" * (20 << 20))


def many_brackets(path: Path) -> None:
    path.write_bytes(b"[[" + b"[]," * (8 << 20))


def long_string(path: Path, start: bytes, size: int = 1 << 30) -> None:
    """A sparse file of 1 GB: a text, then zeros that take no room on the disk."""
    with path.open("wb") as file:
        file.write(start + b"x" * (1 << 20))
        file.truncate(size)


def long_line(path: Path) -> None:
    long_string(path, b'{"a":1}\n{"a":"')


def long_element(path: Path) -> None:
    long_string(path, b'[{"a":1},{"a":"')


def long_field(path: Path) -> None:
    """A CSV file of 1 GB whose second row is one quoted field that nobody closes."""
    long_string(path, b'a,b\n1,"')


def long_text_field(path: Path) -> None:
    """The same without a quote, and without zeros that would say it is no text: 20 MB, written out."""
    path.write_bytes(b"a,b\n1," + b"x" * (20 << 20) + b"\n3,4\n")


def long_stray_quotes(path: Path) -> None:
    """A record of 15 MB in which every field may be read in several ways, and none is right."""
    path.write_bytes(b"a,b\n1,2\n" + b'"x"y,' * (3 << 20) + b"\n3,4\n")


def shared_strings_bomb(path: Path) -> None:
    """A workbook of texts that inflate to more than the file's size allows."""
    book, plain = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a"])
    book.save(plain)
    source = zipfile.ZipFile(plain)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            archive.writestr(member.filename, source.read(member))
        with archive.open("xl/sharedStrings.xml", "w", force_zip64=True) as file:
            file.write(b"<sst>")
            for _ in range(MANY):
                file.write(b"<si><t>xxxxxxxxx</t></si>" * 42_000)
            file.write(b"</sst>")


def entity_bomb(path: Path) -> None:
    """The billion laughs in a sheet."""
    laughs = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 12))
    workbook_with(path, [f'<!DOCTYPE x [<!ENTITY a0 "ha">{laughs}]>'.encode(), HEAD, b"<row>&a11;</row>", TAIL])


def many_keys(path: Path) -> None:
    path.write_bytes(b"".join(b'{"k%d":1}\n' % at for at in range(10_500)))


def many_entries(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for at in range(12_000):
            archive.writestr(f"xl/{at}", b"")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (gzip_bomb, "more than 300 times its size"),
        (zstd_bomb, "more than 300 times its size"),
        (zip_bomb, "more than 300 times its size"),
        (lying_zip_bomb, "more than 300 times its size"),
        (xlsx_bomb, "more than 300 times its size"),
        (xlsx_rectangle, "spans 1,048,576 rows × 16,384 columns"),
        (shared_strings_bomb, "more than 300 times its size"),
        (entity_bomb, "declares XML entities"),
        (gzip_of_gzip, "holds another compressed file"),
        (deep_array, "nested too deeply"),
        (open_brackets, "larger than 16 MiB"),
        (many_brackets, "larger than 16 MiB"),
        (long_line, "Line 2 is longer than 16 MiB"),
        (long_element, "Element 2 of the array is larger than 16 MiB"),
        (many_keys, "more than 10,000 different columns"),
        (many_entries, "more than 10,000 entries"),
    ],
)
def test_a_hostile_file_is_refused_in_bounded_memory(make, error, tmp_path):
    path = tmp_path / "upload"
    make(path)
    result = measure(path)
    assert result["error"] is not None
    assert result["error"].startswith("FormatError: ")
    assert error in result["error"]


def test_a_csv_field_of_a_gigabyte_is_refused_before_the_file_is_read_to_its_end(tmp_path):
    path = tmp_path / "upload"
    long_field(path)
    result = measure(path)
    assert "FormatError: Line 2 is longer than 64 MiB" in result["error"]
    assert result["read"] < 150


@pytest.mark.parametrize(("make", "rows"), [(long_text_field, 2), (long_stray_quotes, 3)])
def test_a_csv_record_that_is_too_long_or_hopeless_fails_alone(make, rows, tmp_path):
    path = tmp_path / "upload"
    make(path)
    result = measure(path)
    assert (result["error"], result["rows"]) == (None, rows)


def test_thousands_of_sparse_columns_are_read_in_bounded_memory(tmp_path):
    path = tmp_path / "upload"
    path.write_bytes(b"".join(b'{"k%d":1}\n' % (at % 2000) for at in range(6_000)))
    assert measure(path)["rows"] == 6_000


def test_a_large_array_is_read_in_bounded_memory(tmp_path):
    path = tmp_path / "upload"
    row = json.dumps({"id": 1234567, "name": "x" * 200, "price": 12.5, "tags": ["a", "b"], "note": None}).encode()
    with path.open("wb") as file:
        file.write(b"[")
        for _ in range(15):
            file.write(b",".join([row] * 10_000) + b",\n")
        file.write(row + b"]")
    assert measure(path)["rows"] == 150_001


def test_a_tiny_zstd_frame_of_a_vast_window_is_refused(tmp_path):
    path = tmp_path / "upload"
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=30, enable_ldm=True)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(writer.compress(b"a,b\n1,2\n") + writer.flush())
    assert "damaged" in (measure(path)["error"] or "")


def test_a_deflate_stream_without_end_is_refused(tmp_path):
    path = tmp_path / "upload"
    squeeze = zlib.compressobj(wbits=31)
    path.write_bytes(squeeze.compress(b"a,b\n" * 100_000) + squeeze.flush(zlib.Z_SYNC_FLUSH))
    assert "cut off" in (measure(path)["error"] or "")
