"""This engine on the orders: plan a file and work its chunks, as the tasks do; one measurement in a process of its own.

``python -m tests.benchmarks.orders_work <way> <dsn> <rows>`` prints JSON. Nothing heavy is imported at the top, so that
a measurement that begins with the imports has them all.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import uuid4

from airflow_provider_ingest.engine.threads import keep_to_own_threads
from tests.benchmarks.dataset import FOLDER, Dataset, make_dataset
from tests.benchmarks.rounds import peak_megabytes

IMPORT, DRY_RUN = "import", "dry run"
COLD = "import in a new process, its imports included"
TWO = "import in two chunks at a time, in two processes"
UPSERT = "upsert, half of the rows there"
CHUNKS = "import in chunks of 1,000,000"
PLAN = "plan"
WARM_UP_ROWS = 2_000
CHUNK_ROWS = 1_000_000


def store_in(folder: Path, *, is_new: bool = False) -> Any:
    """A store of runs and row logs in an SQLite file, as a fresh Airflow has it."""
    import sqlalchemy as sa

    from airflow_provider_ingest.models import metadata
    from airflow_provider_ingest.storage.sql_store import SqlStore

    engine = sa.create_engine(f"sqlite:///{folder}/ingest.db", connect_args={"timeout": 30})
    if is_new:
        metadata.create_all(engine)
    return SqlStore.on_engine(engine)


def work_one(dsn: str, folder: Path, run_id: int, reader: Mapping[str, Any], index: int, is_keyed: bool) -> float:
    """What the task of one chunk does; CPU seconds."""
    from airflow_provider_ingest.engine.work import work_chunk
    from airflow_provider_ingest.formats import read_chunk
    from airflow_provider_ingest.runs.summary import event_of
    from airflow_provider_ingest.targets import open_target
    from tests.benchmarks.orders_importer import orders_importer

    used = time.process_time()
    config, store = orders_importer(), store_in(folder)
    if is_keyed:
        config = config.keyed_by("order_id")
    run, chunk = store.get_run(run_id), store.chunk(run_id, index)
    work_chunk(
        config=config, run=event_of(run), run_key=run.key, chunk=chunk, batches=read_chunk(reader, chunk),
        store=store, target=open_target(dsn, config),
    )  # fmt: skip
    return time.process_time() - used


def work(
    dsn: str, data: Dataset, chunk_rows: int, *, dry_run: bool = False, is_keyed: bool = False,
    pool: Executor | None = None,
) -> dict[str, float]:  # fmt: skip
    """Plan the file and work its chunks, with run and row log in an SQLite database; wall and CPU seconds."""
    from airflow_provider_ingest.formats import plan_file
    from airflow_provider_ingest.runs.records import NewRun
    from airflow_provider_ingest.runs.status import RunStatus

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        store, key = store_in(folder, is_new=True), str(uuid4())
        new = NewRun(key=key, importer="orders", dag_id="ingest_orders", dag_run_id=key, is_dry_run=dry_run)
        run = store.create_run(new)
        store.change_status(run.id, RunStatus.PROCESSING)
        started, used, elsewhere = time.perf_counter(), time.process_time(), 0.0
        plan = plan_file(data.raw, options={}, chunk_rows=chunk_rows, scratch=folder)
        store.record_plan(run.id, plan.chunks)
        if pool is None:
            for chunk in plan.chunks:
                work_one(dsn, folder, run.id, plan.reader, chunk.index, is_keyed)
        else:
            reader = dict(plan.reader)
            works = [pool.submit(work_one, dsn, folder, run.id, reader, one.index, is_keyed) for one in plan.chunks]
            elsewhere = sum(one.result() for one in works)
        took = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used + elsewhere}
        counts = store.get_run(run.id).counts
    if (counts.created + counts.updated, counts.failed) != (data.rows - data.bad, data.bad):
        raise SystemExit(f"The run is wrong: {counts}, expected {data.bad} failed rows.")
    return took


def plan_alone(data: Dataset) -> dict[str, float]:
    """Planning a file, and nothing else."""
    from airflow_provider_ingest.formats import plan_file

    with tempfile.TemporaryDirectory() as scratch:
        started, used = time.perf_counter(), time.process_time()
        plan_file(data.raw, options={}, chunk_rows=CHUNK_ROWS, scratch=Path(scratch))
        return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used}


def warm_up(dsn: str, *, is_keyed: bool = False) -> None:
    """Imports, and what a process does once."""
    work(dsn, make_dataset(FOLDER, WARM_UP_ROWS), WARM_UP_ROWS, dry_run=True, is_keyed=is_keyed)


def measure(way: str, dsn: str, rows: int) -> dict[str, float]:
    """One way, in this process."""
    keep_to_own_threads()
    data = make_dataset(FOLDER, rows)
    megabytes = 0.0
    if way == TWO:
        with ProcessPoolExecutor(2, get_context("spawn"), warm_up, (dsn,)) as pool:
            for waiting in [pool.submit(time.sleep, 1) for _ in range(2)]:
                waiting.result()
            warm_up(dsn)  # the process that plans is as warm as the one that does all of an import
            took = work(dsn, data, -(-rows // 2), pool=pool)
            megabytes = max(one.result() for one in [pool.submit(peak_megabytes) for _ in range(2)])
    elif way == COLD:
        started = time.perf_counter()
        work(dsn, data, rows)
        took = {"seconds": time.perf_counter() - started, "cpu": time.process_time()}
    elif way == PLAN:
        took = plan_alone(data)
    else:
        warm_up(dsn, is_keyed=way == UPSERT)
        chunk_rows = CHUNK_ROWS if way == CHUNKS else rows
        took = work(dsn, data, chunk_rows, dry_run=way == DRY_RUN, is_keyed=way == UPSERT)
    return {**took, "megabytes": megabytes or peak_megabytes(), "rows": rows, "bad": data.bad}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
