"""Files made to take down the reader: each refused with a clear error, in bounded memory and time.

The files are planned and read in a process that reports, for each, its peak memory and the MiB that it read, and that
is ended when one takes more than 40 seconds of work (CPU time, whatever else the machine does).
"""

import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from openpyxl.utils import get_column_letter

from tests.unit.formats import hostile_files as hostile

ROOT = Path(__file__).parents[3]
EXTRA_MEMORY = 300  # MiB above what the imports alone take

MEASURE = """
import json, resource, sys, tempfile
from pathlib import Path
import polars, pyarrow, numpy, pyarrow.parquet, python_calamine, zstandard
from airflow_provider_ingest import formats
import airflow_provider_ingest.formats.csv, airflow_provider_ingest.formats.xlsx, airflow_provider_ingest.formats.ndjson
process = Path("/proc/self")
peak = lambda: int((process / "status").read_text().split("VmHWM:")[1].split()[0]) // 1024
read = lambda: int((process / "io").read_text().split("rchar:")[1].split()[0]) >> 20
at_first = peak()
for line in sys.stdin:
    worked = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(worked) + 40, resource.RLIM_INFINITY))
    pyarrow.default_memory_pool().release_unused()  # what the file before left behind is not this one's
    (process / "clear_refs").write_text("5")  # the peak is what comes from now on
    begun, error, rows = read(), None, None
    with tempfile.TemporaryDirectory() as scratch:
        try:
            plan = formats.plan_file(Path(line.strip()), options={}, chunk_rows=250_000, scratch=Path(scratch))
            rows = sum(batch.rows for chunk in plan.chunks for batch in formats.read_chunk(plan.reader, chunk))
        except Exception as caught:  # the test looks at which error it was
            error = f"{type(caught).__name__}: {caught}"
    print(json.dumps({"error": error, "rows": rows, "extra": peak() - at_first, "read": read() - begun}), flush=True)
"""


@pytest.fixture(scope="module")
def measure() -> Iterator[Callable[[Path], dict[str, Any]]]:
    """Plan and read a file in the measuring process; its memory counts from before the first one."""
    processes: list[subprocess.Popen[str]] = []

    def run(path: Path) -> dict[str, Any]:
        if not processes or processes[-1].poll() is not None:
            command = [sys.executable, "-c", MEASURE]
            pipe = subprocess.PIPE
            processes.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT))
        process = processes[-1]
        assert process.stdin is not None
        assert process.stdout is not None
        print(path, file=process.stdin, flush=True)
        answer = process.stdout.readline()
        assert answer, f"the process ended with {process.wait()}"
        result: dict[str, Any] = json.loads(answer)
        assert result["extra"] < EXTRA_MEMORY, result
        return result

    yield run
    for process in processes:
        process.communicate()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (hostile.gzip_bomb, "more than 300 times its size"),
        (hostile.zstd_bomb, "more than 300 times its size"),
        (hostile.zip_bomb, "more than 300 times its size"),
        (hostile.lying_zip_bomb, "more than 300 times its size"),
        (hostile.xlsx_bomb, "more than 300 times its size"),
        (hostile.xlsx_rectangle, "spans 1,048,576 rows × 16,384 columns"),
        (hostile.shared_strings_bomb, "more than 300 times its size"),
        (hostile.entity_bomb, "declares XML entities"),
        (hostile.repeated_string, "more than 300 times its size"),
        (hostile.long_page, "more than 300 times its size"),
        (hostile.lying_page, "more than 300 times its size"),
        (hostile.arrow_bomb, "more than 300 times its size"),
        (hostile.arrow_file_bomb, "more than 1,024 MiB in memory"),
        (hostile.arrow_nulls, "more than 100,000,000 values"),
        (hostile.many_sheets, "more than 10,000 sheets"),
        (hostile.many_relations, "more than 10,000 parts"),
        (hostile.deep_sheet, "nested too deeply"),
        (hostile.long_tag, "larger than 16 MiB"),
        (hostile.long_shared_string, "larger than 16 MiB"),
        (hostile.gzip_of_gzip, "holds another compressed file"),
        (hostile.deep_array, "nested too deeply"),
        (hostile.open_brackets, "more than 1,000,000 arrays and objects"),
        (hostile.many_brackets, "more than 1,000,000 arrays and objects"),
        (hostile.long_line, "Line 2 is larger than 16 MiB"),
        (hostile.long_element, "Element 2 of the array is larger than 16 MiB"),
        (hostile.tiny_lists, "Element 2 of the array holds more than 1,000,000 arrays and objects"),
        (hostile.tiny_lists_in_a_line, "Line 2 holds more than 1,000,000 arrays and objects"),
        (hostile.many_keys, "more than 10,000 different columns"),
        (hostile.long_keys, "longer than 10,000 characters"),
        (hostile.many_columns, "more than 10,000 columns"),
        (hostile.only_commas, "more than 10,000 columns"),
        (hostile.wide_rows, "more than 10,000 columns"),
        (hostile.many_entries, "more than 10,000 entries"),
    ],
)
def test_a_hostile_file_is_refused_in_bounded_memory(measure, make, error, tmp_path):
    path = tmp_path / "upload"
    make(path)
    result = measure(path)
    assert result["error"] is not None
    assert result["error"].startswith(("FormatError: ", "InflatesTooFar: "))
    assert error in result["error"]


def test_a_csv_field_of_a_gigabyte_is_refused_before_the_file_is_read_to_its_end(measure, tmp_path):
    path = tmp_path / "upload"
    hostile.long_field(path)
    result = measure(path)
    assert "FormatError: Line 2 is longer than 64 MiB" in result["error"]
    assert result["read"] < 150


@pytest.mark.parametrize(("make", "rows"), [(hostile.long_text_field, 2), (hostile.long_stray_quotes, 3)])
def test_a_csv_record_that_is_too_long_or_hopeless_fails_alone(measure, make, rows, tmp_path):
    path = tmp_path / "upload"
    make(path)
    result = measure(path)
    assert (result["error"], result["rows"]) == (None, rows)


@pytest.mark.parametrize("make", [hostile.arrow_shared_text, hostile.repeated_value])
def test_a_long_text_that_thousands_of_rows_share_is_read_in_bounded_memory(measure, make, tmp_path):
    path = tmp_path / "upload"
    make(path)
    assert measure(path)["rows"] == 2_000


def test_thousands_of_sparse_columns_are_read_in_bounded_memory(measure, tmp_path):
    path = tmp_path / "upload"
    path.write_bytes(b"".join(b'{"k%d":1}\n' % (at % 2000) for at in range(6_000)))
    assert measure(path)["rows"] == 6_000


def test_a_sheet_with_each_value_in_another_column_is_read_in_bounded_memory(measure, tmp_path):
    path = tmp_path / "upload"
    cells = ((line, get_column_letter(line % 4000 + 1).encode(), line) for line in range(1, 12_001))
    rows = [b'<row r="%d"><c r="%b%d"><v>1</v></c></row>' % cell for cell in cells]
    hostile.workbook_with(path, [hostile.HEAD, *rows, hostile.TAIL])
    assert measure(path)["rows"] == 11_999


def test_a_sheet_of_errors_alone_is_searched_for_a_header_in_bounded_time(measure, tmp_path):
    path = tmp_path / "upload"
    hostile.workbook_with(path, [hostile.HEAD, b'<row><c t="e"><v>#N/A</v></c></row>' * 500_000, hostile.TAIL])
    assert "is empty" in (measure(path)["error"] or "")


def test_a_large_array_is_read_in_bounded_memory(measure, tmp_path):
    path = tmp_path / "upload"
    row = json.dumps({"id": 1234567, "name": "x" * 200, "price": 12.5, "tags": ["a", "b"], "note": None}).encode()
    with path.open("wb") as file:
        file.write(b"[")
        for _ in range(15):
            file.write(b",".join([row] * 10_000) + b",\n")
        file.write(row + b"]")
    assert measure(path)["rows"] == 150_001


def test_a_tiny_zstd_frame_of_a_vast_window_is_refused(measure, tmp_path):
    path = tmp_path / "upload"
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=30, enable_ldm=True)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(writer.compress(b"a,b\n1,2\n") + writer.flush())
    assert "damaged" in (measure(path)["error"] or "")


def test_a_deflate_stream_without_end_is_refused(measure, tmp_path):
    path = tmp_path / "upload"
    squeeze = zlib.compressobj(wbits=31)
    path.write_bytes(squeeze.compress(b"a,b\n" * 100_000) + squeeze.flush(zlib.Z_SYNC_FLUSH))
    assert "cut off" in (measure(path)["error"] or "")
