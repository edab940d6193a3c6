"""CSV, JSON, NDJSON, XLSX and Parquet beside the fastest library alone: ``python -m tests.benchmarks.bench_formats``.

Each line is a process of its own: wall and CPU seconds, rows for each second of both, and the memory above what imports
take; medians of alternating runs. "Alone" is the library that parses, holding what it gives and doing nothing with it;
ours is everything from the plan up to reading all chunks in batches of text columns.
"""

from __future__ import annotations

import csv
import datetime
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROWS = 200_000
CSV_TIMES = 5

MEASURE = """
import json, sys, tempfile, time
from pathlib import Path
import numpy, orjson, polars, pyarrow.csv, pyarrow.parquet, python_calamine, ijson
from airflow_provider_ingest import formats
import airflow_provider_ingest.formats.csv, airflow_provider_ingest.formats.xlsx
import airflow_provider_ingest.formats.ndjson, airflow_provider_ingest.formats.json_array
path = Path(sys.argv[1])

def ours():
    with tempfile.TemporaryDirectory() as scratch:
        plan = formats.plan_file(path, options={}, chunk_rows=250_000, scratch=Path(scratch))
        return sum(batch.rows for chunk in plan.chunks for batch in formats.read_chunk(plan.reader, chunk))

def our_plan():
    with tempfile.TemporaryDirectory() as scratch:
        return formats.plan_file(path, options={}, chunk_rows=250_000, scratch=Path(scratch)).rows

def pyarrow_text():
    names = path.open().readline().strip().split(",")
    types = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string()))
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    return pyarrow.csv.read_csv(path, convert_options=types, parse_options=parse).num_rows

def polars_text():
    return polars.read_csv(path, infer_schema=False).height

def orjson_alone():
    return len(orjson.loads(path.read_bytes()))

def ijson_alone():
    with path.open("rb") as file:
        return sum(1 for _ in ijson.items(file, "item"))

def polars_lines():
    return polars.read_ndjson(path).height

def calamine_alone():
    return len(list(python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows())) - 1

def pyarrow_alone():
    return pyarrow.parquet.read_table(path).num_rows

peak = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
before, wall, cpu = peak(), time.perf_counter(), time.process_time()
rows = globals()[sys.argv[2]]()
print(json.dumps([rows, time.perf_counter() - wall, time.process_time() - cpu, peak() - before]))
"""


def record(number: int, chance: random.Random) -> dict[str, Any]:
    return {
        "id": number,
        "sku": f"SKU-{number:08}",
        "name": f"Product number {number}",
        "email": f"user{number}@example.org",
        "price": round(chance.random() * 1000, 2),
        "quantity": chance.randrange(1000),
        "is_active": number % 2 == 0,
        "created": "2024-03-05",
        "country": "DE",
        "category": "Books",
        "rating": chance.random(),
        "note": None if number % 3 else "some longer text, with commas",
    }


def write_files(directory: Path, rows: int) -> dict[str, Path]:
    """The same rows in every format; in the CSV file several times, for it is read so much faster."""
    import polars as pl
    import xlsxwriter

    files = {name: directory / f"rows.{name}" for name in ("csv", "json", "ndjson", "xlsx", "parquet")}
    chance = random.Random(1)
    records = [record(number, chance) for number in range(rows)]
    with files["json"].open("w") as array, files["ndjson"].open("w") as lines:
        for number, row in enumerate(records):
            text = json.dumps(row)
            array.write(("[" if number == 0 else ",\n") + text)
            lines.write(text + "\n")
        array.write("]\n")
    with files["csv"].open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(records[0])
        for _ in range(CSV_TIMES):
            writer.writerows(row.values() for row in records)
    with xlsxwriter.Workbook(files["xlsx"], {"default_date_format": "yyyy-mm-dd"}) as book:
        sheet = book.add_worksheet("rows")
        sheet.write_row(0, 0, list(records[0]))
        for line, row in enumerate(records, 1):
            sheet.write_row(line, 0, list({**row, "created": datetime.date(2024, 3, 5)}.values()))
    pl.read_ndjson(files["ndjson"]).write_parquet(files["parquet"])
    return files


def measure(path: Path, what: str) -> list[Any]:
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path), what], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def main(rows: int = ROWS, times: int = 3) -> None:
    """Print the table; medians of ``times`` alternating runs."""
    pairs = {
        "csv": ("ours", "our_plan", "pyarrow_text", "polars_text"),
        "json": ("ours", "orjson_alone", "ijson_alone"),
        "ndjson": ("ours", "polars_lines"),
        "xlsx": ("ours", "calamine_alone"),
        "parquet": ("ours", "pyarrow_alone"),
    }
    with tempfile.TemporaryDirectory() as directory:
        files = write_files(Path(directory), rows)
        print("| format | reader | MB | wall s | CPU s | rows/s | rows/CPU s | MiB above imports |")
        print("|---|---|---|---|---|---|---|---|")
        for name, subjects in pairs.items():
            size = files[name].stat().st_size / 1e6
            results: dict[str, list[list[Any]]] = {subject: [] for subject in subjects}
            for _ in range(times):
                for subject in subjects:
                    results[subject].append(measure(files[name], subject))
            for subject, found in results.items():
                count = found[0][0]
                wall, cpu, memory = (statistics.median(one[at] for one in found) for at in (1, 2, 3))
                print(
                    f"| {name} | {subject} | {size:.0f} | {wall:.2f} | {cpu:.2f} | {count / wall:,.0f} | "
                    f"{count / cpu:,.0f} | {memory:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
