"""CSV, JSON, NDJSON, XLSX and Parquet beside the fastest library alone: ``python -m tests.benchmarks.bench_formats``.

Each line is a process of its own: wall and CPU seconds, rows for each second of both, and the memory above what imports
take; medians of alternating runs. "Alone" is the library that parses, holding what it gives and doing nothing with it;
ours is everything from the plan up to reading all chunks in batches of text columns.
"""

from __future__ import annotations

import sys
from functools import partial

from tests.benchmarks.dataset import FOLDER, make_dataset
from tests.benchmarks.dataset_files import make_json, make_ndjson, make_parquet, make_xlsx
from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import Results, alternate, in_new_process, sizes, summary, times

OURS = "ours"
READERS = {
    "csv": (OURS, "pyarrow_text", "our_plan", "polars_text"),
    "json": (OURS, "orjson_alone", "ijson_alone"),
    "ndjson": (OURS, "polars_lines"),
    "xlsx": (OURS, "calamine_alone"),
    "parquet": (OURS, "pyarrow_alone"),
}
"""By format; the second is the one that ours is compared with."""

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
took = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "megabytes": peak() - before}
print(json.dumps({**took, "rows": rows}))
"""


def measure(rows: int, rounds: int) -> Results:
    """All readers in turn, ``rounds`` times."""
    files = {
        "csv": make_dataset(FOLDER, rows).raw,
        "json": make_json(FOLDER, rows),
        "ndjson": make_ndjson(FOLDER, rows),
        "xlsx": make_xlsx(FOLDER, rows),
        "parquet": make_parquet(FOLDER, rows),
    }
    ways = {
        f"{name}: {reader}": partial(in_new_process, sys.executable, "-c", MEASURE, files[name], reader)
        for name, readers in READERS.items()
        for reader in readers
    }
    return alternate(ways, rounds)


def figures_of(results: Results) -> tuple[Figures, Figures]:
    """Ours, with the ratio to the library alone, and the others."""
    ours, others = {}, {}
    for name, (_, rival, *more) in READERS.items():
        runs, alone = results[f"{name}: {OURS}"], results[f"{name}: {rival}"]
        ratios = {"ratio": times(runs, alone, "seconds"), "cpu_ratio": times(runs, alone, "cpu")}
        ours[name] = {**summary(runs), **ratios}
        others |= {f"{name}: {reader}": summary(results[f"{name}: {reader}"]) for reader in (rival, *more)}
    return ours, others


def table(ours: Figures, others: Figures) -> str:
    """As Markdown."""
    lines = [
        "| format | reader | wall s | CPU s | rows/s | rows per CPU second | MB above imports | ours × it |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, (_, rival, *more) in READERS.items():
        for reader in (OURS, rival, *more):
            one = ours[name] if reader == OURS else others[f"{name}: {reader}"]
            wall, cpu = one["seconds"], one["cpu"]
            lines.append(
                f"| {name} | {reader} | {wall:.2f} | {cpu:.2f} | {one['rows'] / wall:,.0f} | "
                f"{one['rows'] / cpu:,.0f} | {one['megabytes']:,.0f} | "
                f"{format(ours[name]['ratio'], '.2f') if reader == rival else ''} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    rows, rounds = sizes()
    ours, others = figures_of(measure(rows, rounds))
    print(table(ours, others))
    print(f"kept in {record('formats', {'rows': rows, 'rounds': rounds}, ours, others)}")


if __name__ == "__main__":
    main()
