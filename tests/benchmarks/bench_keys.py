"""What it costs to find rows whose keys stand in several chunks, beside planning the file alone.

``python -m tests.benchmarks.bench_keys [rows] [rounds]``. ``assume_unique_keys()`` spares the second part.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.engine.key_order import contested_rows, store_keys
from airflow_provider_ingest.engine.plan import Plan, compile_plan
from airflow_provider_ingest.formats import plan_file, read_chunk
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape, TableShape
from airflow_provider_ingest.runs.frames import ROW_NUMBER
from tests.benchmarks.dataset import FOLDER, Dataset, make_dataset
from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import Results, alternate, sizes, summary, timed, times

CHUNKS = 4
KEY = ColumnShape(name="order_id", kind=ColumnKind.INTEGER, sql_type="integer", minimum=-(2**31), maximum=2**31 - 1)
PLAN, FIND = "planning alone", "planning, and finding keys that chunks share"


def plan_alone(data: Dataset) -> None:
    """Without looking at keys."""
    with tempfile.TemporaryDirectory() as folder:
        plan_file(data.raw, options={}, chunk_rows=-(-data.rows // CHUNKS), scratch=Path(folder))


def plan_and_find(data: Dataset, compiled: Plan) -> None:
    """As the planning task does where an importer has a key and a file more than one chunk."""
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_file(data.raw, options={}, chunk_rows=-(-data.rows // CHUNKS), scratch=Path(folder))
        stored = []
        for chunk in plan.chunks:
            batches = read_chunk(plan.reader, chunk)
            keys = (compiled.process(batch).records.records.select(ROW_NUMBER, "order_id") for batch in batches)
            stored.append(store_keys(chunk.index, keys, Path(folder)))
        if contested_rows(stored):
            raise SystemExit("Every key of the file is there once.")


def measure(rows: int, rounds: int) -> Results:
    """Both in turn."""
    data = make_dataset(FOLDER, rows)
    config = IngestConfig.for_("orders", conn_id="x").from_source(SourceType.UPLOAD).map("order", "order_id")
    compiled = compile_plan(config.keyed_by("order_id"), TableShape(name="orders", columns=(KEY,)))
    works = {PLAN: partial(plan_alone, data), FIND: partial(plan_and_find, data, compiled)}
    return alternate({name: partial(timed, work, rows) for name, work in works.items()}, rounds)


def figures_of(results: Results) -> tuple[Figures, Figures]:
    """Finding keys, with the ratio to planning alone, and planning."""
    found = {**summary(results[FIND]), "ratio": times(results[FIND], results[PLAN], "seconds")}
    return {FIND: found}, {PLAN: summary(results[PLAN])}


def table(ours: Figures, rivals: Figures) -> str:
    """As Markdown."""
    lines = ["| | seconds | CPU s | × planning |", "|---|---|---|---|"]
    for name, one in {**rivals, **ours}.items():
        lines.append(f"| {name} | {one['seconds']:.2f} | {one['cpu']:.2f} | {one.get('ratio', 1):.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    rows, rounds = sizes()
    ours, rivals = figures_of(measure(rows, rounds))
    print(table(ours, rivals))
    print(f"kept in {record('keys', {'rows': rows, 'rounds': rounds}, ours, rivals)}")


if __name__ == "__main__":
    main()
