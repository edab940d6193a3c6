"""CSV planning and reading beside PyArrow and Polars alone: ``python -m tests.benchmarks.bench_csv [rows]``.

Prints seconds, rows per second and the ratio to PyArrow reading text columns in one thread, all in the same run; and
the memory that planning ten times as many rows takes.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv

from airflow_provider_ingest.formats.csv import plan_csv, read_csv_chunk

COLUMNS = ["id", "sku", "name", "email", "price", "qty", "active", "created", "country", "category", "score", "note"]


def write_file(path: Path, rows: int, *, quoted: int, dirty: int) -> None:
    """A file of twelve columns; every ``quoted``-th row has a quoted field, every ``dirty``-th a field too many."""
    random.seed(7)
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n")
        for n in range(rows):
            note = '"soft, warm"' if quoted and n % quoted == 0 else "soft"
            extra = ",over" if dirty and n % dirty == 1 else ""
            file.write(
                f"{n},SKU-{n:08d},Product {n % 977},user{n}@example.com,{random.random() * 1000:.2f},{n % 50},"
                f"{'yes' if n % 3 else 'no'},2024-0{n % 9 + 1}-1{n % 9},{'DE' if n % 2 else 'FR'},cat{n % 17},"
                f"{random.random():.4f},{note}{extra}\n"
            )


Taken = tuple[float, float]


def seconds(work: Callable[[], object], times: int = 3) -> Taken:
    """Wall and CPU time, each the best of some runs."""
    walls, cpus = [], []
    for _ in range(times):
        start, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - start)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def read_pyarrow(path: Path, *, threads: bool) -> None:
    types = dict.fromkeys(COLUMNS, pa.large_string())
    table = pacsv.read_csv(
        path,
        read_options=pacsv.ReadOptions(use_threads=threads),
        parse_options=pacsv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda _: "skip"),
        convert_options=pacsv.ConvertOptions(column_types=types),
    )
    pl.from_arrow(table)


def read_ours(path: Path, scratch: Path) -> None:
    plan = plan_csv(path, options={}, chunk_rows=1_000_000, scratch=scratch)
    rows = sum(batch.rows for chunk in plan.chunks for batch in read_csv_chunk(plan.reader, chunk))
    if rows != plan.rows:
        raise AssertionError("rows were lost")


def show(name: str, taken: Taken, rows: int, rival: Taken | None = None) -> None:
    wall, cpu = taken
    ratio = f"  {wall / rival[0]:5.2f} × wall {cpu / rival[1]:5.2f} × CPU" if rival else ""
    print(f"{name:40}{wall:7.3f} s wall {cpu:7.3f} s CPU {rows / wall / 1e6:6.2f} M rows/s{ratio}", flush=True)


def memory_of_planning(path: Path) -> None:
    code = (
        "import sys, time, resource, pathlib, tempfile\n"
        "from airflow_provider_ingest.formats.csv import plan_csv\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "start = time.perf_counter()\n"
        "plan = plan_csv(pathlib.Path(sys.argv[1]), options={}, chunk_rows=1_000_000, scratch=pathlib.Path('.'))\n"
        "taken = time.perf_counter() - start\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(f'plan {plan.rows:,} rows: {plan.rows / taken / 1e6:.2f} M rows/s, '\n"
        "      f'{(after - before) / 1024:.0f} MB above the imports, {after / 1024:.0f} MB in all')\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        path = scratch / "bench.csv"
        shapes = (("clean", 0, 0), ("a tenth quoted", 10, 0), ("a tenth quoted, 1 % ragged", 10, 100))
        for title, quoted, dirty in shapes:
            write_file(path, rows, quoted=quoted, dirty=dirty)
            print(f"{title}: {rows:,} rows × {len(COLUMNS)} columns, {path.stat().st_size / 1e6:.0f} MB")
            rival = seconds(lambda: read_pyarrow(path, threads=False))
            show("  PyArrow alone, one thread, to Polars", rival, rows)
            threaded = seconds(lambda: read_pyarrow(path, threads=True))
            show("  PyArrow alone, all threads, to Polars", threaded, rows, rival)
            if not dirty:
                polars = seconds(lambda: pl.read_csv(path, infer_schema=False))
                show("  Polars alone, text columns, all threads", polars, rows, rival)
            plan = seconds(lambda: plan_csv(path, options={}, chunk_rows=1_000_000, scratch=scratch))
            show("  plan", plan, rows, rival)
            show("  plan and read", seconds(lambda: read_ours(path, scratch)), rows, rival)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory of this process: {peak:.0f} MB (rivals included)")
        write_file(path, 10 * rows if rows <= 1_000_000 else rows, quoted=10, dirty=0)
        memory_of_planning(path)


if __name__ == "__main__":
    main()
