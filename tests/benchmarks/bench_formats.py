"""JSON, NDJSON, XLSX and Parquet beside the fastest library alone: ``python -m tests.benchmarks.bench_formats [rows]``.

Each line is a process of its own: wall and CPU seconds, rows per CPU second, and the memory above what imports take.
"Alone" is the library that parses, holding what it gives and doing nothing with it; ours is everything up to chunk
files and reading them back in batches.
"""

from __future__ import annotations

import datetime
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROWS = 200_000

MEASURE = """
import json, resource, sys, tempfile, time
from pathlib import Path
import numpy, openpyxl, orjson, polars, pyarrow.parquet, python_calamine, ijson
from airflow_provider_ingest import formats
import airflow_provider_ingest.formats.xlsx, airflow_provider_ingest.formats.ndjson
path = Path(sys.argv[1])

def ours():
    with tempfile.TemporaryDirectory() as scratch:
        plan = formats.plan_file(path, options={}, chunk_rows=250_000, scratch=Path(scratch))
        return sum(batch.rows for chunk in plan.chunks for batch in formats.read_chunk(plan.reader, chunk))

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

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
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
    """The same rows in every format."""
    import openpyxl
    import polars as pl

    files = {name: directory / f"rows.{name}" for name in ("json", "ndjson", "xlsx", "parquet")}
    chance = random.Random(1)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("rows")
    sheet.append(list(record(0, chance)))
    with files["json"].open("w") as array, files["ndjson"].open("w") as lines:
        for number in range(rows):
            row = record(number, chance)
            text = json.dumps(row)
            array.write(("[" if number == 0 else ",\n") + text)
            lines.write(text + "\n")
            sheet.append(list({**row, "created": datetime.date(2024, 3, 5)}.values()))
        array.write("]\n")
    book.save(files["xlsx"])
    pl.read_ndjson(files["ndjson"]).write_parquet(files["parquet"])
    return files


def measure(path: Path, what: str) -> list[Any]:
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path), what], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def main(rows: int = ROWS, times: int = 3) -> None:
    """Print the table; the best of ``times`` alternating runs."""
    pairs = {
        "json": ("ours", "orjson_alone", "ijson_alone"),
        "ndjson": ("ours", "polars_lines"),
        "xlsx": ("ours", "calamine_alone"),
        "parquet": ("ours", "pyarrow_alone"),
    }
    with tempfile.TemporaryDirectory() as directory:
        files = write_files(Path(directory), rows)
        print(f"{'format':8} {'what':15} {'MB':>5} {'wall s':>7} {'CPU s':>6} {'rows/CPU s':>10} {'MiB':>5}")
        for name, subjects in pairs.items():
            size = files[name].stat().st_size / 1e6
            best: dict[str, list[Any]] = {}
            for _ in range(times):
                for subject in subjects:
                    result = measure(files[name], subject)
                    best[subject] = min(best.get(subject, result), result, key=lambda one: one[2])
            for subject, (count, wall, cpu, memory) in best.items():
                rate = count / cpu
                print(f"{name:8} {subject:15} {size:5.0f} {wall:7.2f} {cpu:6.2f} {rate:10,.0f} {memory:5}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
