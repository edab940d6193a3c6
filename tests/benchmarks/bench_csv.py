"""CSV planning and reading beside PyArrow and Polars alone: ``python -m tests.benchmarks.bench_csv [rows] [rounds]``.

Three files: clean, with a quoted field in each tenth row, and with a field too many in each hundredth as well. The
ratio is to PyArrow reading text columns in one thread, in the same run.
"""

from __future__ import annotations

import random
import tempfile
from functools import partial
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv

from airflow_provider_ingest.formats.csv import plan_csv, read_csv_chunk
from tests.benchmarks.dataset import FOLDER
from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import Results, alternate, sizes, summary, timed, times

COLUMNS = ["id", "sku", "name", "email", "price", "qty", "active", "created", "country", "category", "score", "note"]
CHUNK_ROWS = 1_000_000
SHAPES = {"clean": (0, 0), "a tenth quoted": (10, 0), "a tenth quoted, 1 % ragged": (10, 100)}
"""Every how many rows have a quoted field, and every how many a field too many; 0 is never."""
ONE_THREAD, ALL_THREADS, POLARS = "PyArrow alone, one thread", "PyArrow alone, all threads", "Polars alone, all threads"
PLAN, READ = "plan", "plan and read"


def make_file(rows: int, shape: str) -> Path:
    """Twelve columns; written once."""
    quoted, ragged = SHAPES[shape]
    path = FOLDER / f"csv-{rows}-{quoted}-{ragged}.csv"
    if path.exists():
        return path
    chance = random.Random(7)
    FOLDER.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n")
        for n in range(rows):
            note = '"soft, warm"' if quoted and n % quoted == 0 else "soft"
            extra = ",over" if ragged and n % ragged == 1 else ""
            file.write(
                f"{n},SKU-{n:08d},Product {n % 977},user{n}@example.com,{chance.random() * 1000:.2f},{n % 50},"
                f"{'yes' if n % 3 else 'no'},2024-0{n % 9 + 1}-1{n % 9},{'DE' if n % 2 else 'FR'},cat{n % 17},"
                f"{chance.random():.4f},{note}{extra}\n"
            )
    return part.rename(path)


def read_pyarrow(path: Path, *, threads: bool) -> None:
    """Into text columns of Polars; ragged rows are skipped."""
    table = pacsv.read_csv(
        path,
        read_options=pacsv.ReadOptions(use_threads=threads),
        parse_options=pacsv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda _: "skip"),
        convert_options=pacsv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.large_string())),
    )
    pl.from_arrow(table)


def plan_ours(path: Path, scratch: Path) -> None:
    """What the planning task does."""
    plan_csv(path, options={}, chunk_rows=CHUNK_ROWS, scratch=scratch)


def read_ours(path: Path, scratch: Path) -> None:
    """And what the tasks of the chunks do first."""
    plan = plan_csv(path, options={}, chunk_rows=CHUNK_ROWS, scratch=scratch)
    rows = sum(batch.rows for chunk in plan.chunks for batch in read_csv_chunk(plan.reader, chunk))
    if rows != plan.rows:
        raise SystemExit(f"{plan.rows} rows were planned, {rows} read.")


def measure(rows: int, rounds: int) -> Results:
    """All readers in turn, ``rounds`` times."""
    ways = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for shape in SHAPES:
            path = make_file(rows, shape)
            works = {
                ONE_THREAD: partial(read_pyarrow, path, threads=False),
                ALL_THREADS: partial(read_pyarrow, path, threads=True),
                POLARS: partial(pl.read_csv, path, infer_schema=False),
                PLAN: partial(plan_ours, path, scratch),
                READ: partial(read_ours, path, scratch),
            }
            if "ragged" in shape:
                del works[POLARS]  # which fails
            ways |= {f"{shape}: {reader}": partial(timed, work, rows) for reader, work in works.items()}
        return alternate(ways, rounds)


def figures_of(results: Results) -> tuple[Figures, Figures]:
    """Ours, with the ratio to PyArrow in one thread, and the others."""
    both = {}
    for name, runs in results.items():
        alone = results[f"{name.partition(': ')[0]}: {ONE_THREAD}"]
        ratios = {"ratio": times(runs, alone, "seconds"), "cpu_ratio": times(runs, alone, "cpu")}
        both[name] = {**summary(runs), **ratios}
    ours = {name: one for name, one in both.items() if name.endswith((f": {PLAN}", f": {READ}"))}
    return ours, {name: one for name, one in both.items() if name not in ours}


def table(ours: Figures, others: Figures) -> str:
    """As Markdown."""
    lines = [
        f"| file | reader | seconds | CPU s | rows/s | × {ONE_THREAD} | CPU × |",
        "|---|---|---|---|---|---|---|",
    ]
    everything = {**others, **ours}
    for name in sorted(everything, key=lambda name: list(SHAPES).index(name.partition(": ")[0])):
        one, (shape, _, reader) = everything[name], name.partition(": ")
        lines.append(
            f"| {shape} | {reader} | {one['seconds']:.2f} | {one['cpu']:.2f} | {one['rows'] / one['seconds']:,.0f} | "
            f"{one['ratio']:.2f} | {one['cpu_ratio']:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    rows, rounds = sizes()
    ours, others = figures_of(measure(rows, rounds))
    print(table(ours, others))
    print(f"kept in {record('csv', {'rows': rows, 'rounds': rounds}, ours, others)}")


if __name__ == "__main__":
    main()
