"""Airflow on many machines, on one: CeleryExecutor, workers, PostgreSQL, staging in S3."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
from cluster_services import BUCKET, REGION, Component, ServerFailed, free_ports, object_store, postgres, redis

CHECKOUT = Path(__file__).resolve().parents[1]
USER = "admin"
START_SECONDS = 600
CONCURRENCY = 2
"""Tasks that a worker runs at once."""

GRANTS = """
CREATE ROLE ingest_tasks LOGIN PASSWORD 'tasks';
GRANT USAGE ON SCHEMA public TO ingest_tasks;
GRANT SELECT, INSERT, UPDATE, DELETE ON ingest_runs, ingest_chunks, ingest_error_counts, ingest_rows TO ingest_tasks;
GRANT USAGE, SELECT ON SEQUENCE ingest_runs_id_seq, ingest_error_counts_id_seq TO ingest_tasks;
"""
"""What tasks may do in the metadata database: the same as docs/how-to/deploy.md tells."""


class Cluster:
    """An API server, a scheduler, a DAG processor and Celery workers, each a process of its own.

    >>> with Cluster(Path(".cluster"), workers=2, chunk_rows=8_000) as cluster:  # doctest: +SKIP
    ...     cluster.workers[0].kill()
    """

    def __init__(self, home: Path, *, workers: int, chunk_rows: int) -> None:
        self.home = home.resolve()
        self.password = secrets.token_urlsafe(9)
        self.workers: list[Component] = []
        self._count, self._chunk_rows = workers, chunk_rows
        self._stack = ExitStack()
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self._port = port

    def __enter__(self) -> Cluster:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        own = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
        server = self._stack.enter_context(postgres(self.home / "pg"))
        broker = self._stack.enter_context(redis(self.home, own))
        store = self._stack.enter_context(object_store(self.home, own))
        self._socket = server.partition("host=")[2]
        with psycopg.connect(server, autocommit=True) as connection:
            for name in ("airflow", "shop"):
                connection.execute(f"CREATE DATABASE {name}")
        self.environment = self._environment(own, broker, store)
        self._run("airflow", "db", "migrate")
        with psycopg.connect(self._database("airflow"), autocommit=True) as connection:
            connection.execute(GRANTS)
        code = "import sys; from shop_tables import Shop; from sqlalchemy import create_engine as engine; "
        code += "Shop.metadata.create_all(engine(sys.argv[1]))"
        self._run(sys.executable, "-c", code, self._database("shop").replace("://", "+psycopg://"))
        parts = [self._component(name, name) for name in ("api-server", "scheduler", "dag-processor")]
        self.workers = [
            self._component(
                f"worker-{number}",
                *("celery", "worker", "--skip-serve-logs", "--concurrency", str(CONCURRENCY)),
                *("--celery-hostname", f"worker-{number}@%h", "--pid", str(self.home / f"worker-{number}.pid")),
            )
            for number in range(1, self._count + 1)
        ]
        for part in (*parts, *self.workers):
            self._stack.callback(part.stop)
            part.start()
        self._wait([*parts, *self.workers])

    def _database(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self._socket}"

    def _component(self, name: str, *command: str) -> Component:
        log = self.home / f"{name}.log"
        environment = self.environment | {"CLUSTER_HOST": name}
        return Component(name, [sys.executable, "-m", "airflow", *command], environment, log)

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, env=self.environment, cwd=self.home, capture_output=True, text=True)
        if done.returncode:
            raise ServerFailed(f"{' '.join(command[:3])} failed:\n{done.stderr[-2000:]}")

    def _wait(self, parts: list[Component]) -> None:
        """Until all components are healthy and each worker has registered with the broker."""
        deadline = time.monotonic() + START_SECONDS
        with httpx.Client(base_url=self.url, timeout=10) as http:
            while not (self._is_healthy(http) and all(" ready." in one.log.read_text() for one in self.workers)):
                for part in parts:
                    part.check()
                if time.monotonic() > deadline:
                    raise ServerFailed(f"The cluster did not start within {START_SECONDS} s; its logs are {self.home}")
                time.sleep(0.3)

    def _is_healthy(self, http: httpx.Client) -> bool:
        try:
            health = http.get("/api/v2/monitor/health").json()
        except (httpx.TransportError, ValueError):
            return False
        return all(health[part]["status"] == "healthy" for part in ("metadatabase", "scheduler", "dag_processor"))

    def products(self) -> int:
        """How many products the target holds."""
        with psycopg.connect(self._database("shop")) as connection:
            found = connection.execute("SELECT count(*) FROM products").fetchone()
        return int(found[0]) if found else 0

    def chunks_at_work(self, worker: Component) -> int:
        """How many chunks this worker works at the moment."""
        query = "SELECT count(*) FROM task_instance WHERE task_id = 'chunk' AND state = 'running' AND hostname = %s"
        with psycopg.connect(self._database("airflow")) as connection:
            found = connection.execute(query, (worker.name,)).fetchone()
        return int(found[0]) if found else 0

    def tries(self) -> int:
        """How often chunks were begun beyond the first time."""
        with psycopg.connect(self._database("airflow")) as connection:
            found = connection.execute(
                "SELECT sum(try_number - 1) FROM task_instance WHERE task_id = 'chunk'"
            ).fetchone()
        return int(found[0] or 0) if found else 0

    def _environment(self, own: dict[str, str], broker: str, store: str) -> dict[str, str]:
        passwords = self.home / "passwords.json"
        passwords.touch(mode=0o600)
        passwords.write_text(json.dumps({USER: self.password}))
        metadata = self._database("airflow")
        postgres_role = {"conn_type": "postgres", "host": self._socket}
        s3 = {"endpoint_url": store, "region_name": REGION}
        return own | {
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW_CONN_DEMO_DB": json.dumps(postgres_role | {"login": "postgres", "schema": "shop"}),
            "AIRFLOW_CONN_DEMO_FILES": json.dumps(
                {"conn_type": "fs", "extra": {"path": str(CHECKOUT / "dags" / "data")}}
            ),
            "AIRFLOW_CONN_INGEST_DB": json.dumps(
                postgres_role | {"login": "ingest_tasks", "password": "tasks", "schema": "airflow"}
            ),
            "AIRFLOW_CONN_INGEST_S3": json.dumps(
                {"conn_type": "aws", "login": "key", "password": "secret", "extra": s3}
            ),
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(self._port),
            "AIRFLOW__API__SECRET_KEY": secrets.token_hex(32),
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
            "AIRFLOW__CELERY__BROKER_URL": broker,
            "AIRFLOW__CELERY__RESULT_BACKEND": "db+" + metadata.replace("://", "+psycopg2://"),
            "AIRFLOW__CELERY__WORKER_CONCURRENCY": str(CONCURRENCY),
            "AIRFLOW__CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.url}/execution/",
            "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
            "AIRFLOW__CORE__HOSTNAME_CALLABLE": "cluster_host.name",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": metadata.replace("://", "+psycopg2://"),
            "AIRFLOW__INGEST__CHUNK_SIZE": str(self._chunk_rows),
            "AIRFLOW__INGEST__RETRIES": "5",
            "AIRFLOW__INGEST__RETRY_DELAY": "1",
            "AIRFLOW__INGEST__STORAGE_PATH": f"s3://ingest_s3@{BUCKET}/staging",
            "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
            # a worker that is gone is noticed after so many seconds; the defaults are 300 and 600
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "20",
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
            "AIRFLOW__SCHEDULER__TASK_QUEUED_TIMEOUT": "60",
            "AIRFLOW__SCHEDULER__TASK_QUEUED_TIMEOUT_CHECK_INTERVAL": "5",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL": "1",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "CLUSTER_HOST": "control",
            "PYTHONPATH": os.pathsep.join(str(CHECKOUT / folder) for folder in (".", "dags", "scripts")),
        }
