"""A whole Airflow for tests: all components, with a home, ports and users of its own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.ports import free_ports
from tests.e2e.waiting import PATIENCE, wait_until

CHECKOUT = Path(__file__).resolve().parents[2]
USERS = ("admin", "user", "viewer")
"""Users, each named like its role; the password is the name."""

STATE = "server.json"
"""How to reach a running server, in its home."""


@dataclass
class AirflowServer:
    """A running Airflow.

    :param home: its AIRFLOW_HOME; DAG files lie in ``home/dags``, the shop's database is ``home/shop.db``, the disk
        ``demo_files`` is ``home/files``.
    """

    home: Path
    url: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    _tokens: dict[str, str] = field(default_factory=dict)

    @classmethod
    def prepare(cls, home: Path, **settings: str) -> AirflowServer:
        """Lay out the home: the demo's DAGs and those of the tests, data, users, configuration.

        :param settings: more environment variables.
        """
        port, worker_logs, trigger_logs, files = free_ports(4)
        (statsd,) = free_ports(1, socket.SOCK_DGRAM)
        for source in (CHECKOUT / "dags", CHECKOUT / "tests" / "e2e" / "dags"):
            shutil.copytree(source, home / "dags", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(CHECKOUT / "dags" / "data", home / "files", dirs_exist_ok=True)
        passwords = home / "passwords.json"
        passwords.write_text(json.dumps({user: user for user in USERS}))
        url = f"http://127.0.0.1:{port}"
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")},
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__API__BASE_URL": url,
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API__ENABLE_SWAGGER_UI": "False",
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
            "AIRFLOW__API__SECRET_KEY": secrets.token_hex(32),
            "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
            "AIRFLOW__CORE__FERNET_KEY": "",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__PARALLELISM": "4",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{user}:{user}" for user in USERS),
            "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "5",
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
            # SQLite's own 5 seconds are too few for a busy disk: a scheduler that meets a lock then ends for good
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}?timeout=120",
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(trigger_logs),
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(worker_logs),
            "AIRFLOW__METRICS__METRICS_ALLOW_LIST": "^ingest[.]",
            "AIRFLOW__METRICS__STATSD_INFLUXDB_ENABLED": "True",
            "AIRFLOW__METRICS__STATSD_ON": "True",
            "AIRFLOW__METRICS__STATSD_PORT": str(statsd),
            "AIRFLOW__OPENLINEAGE__SELECTIVE_ENABLE": "True",
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(
                {"type": "file", "log_file_path": str(home / "lineage.jsonl"), "append": True}
            ),
            "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL": "1",
            "AIRFLOW__INGEST__RETRY_DELAY": "1",
            "AIRFLOW__INGEST__ALLOW_PRIVATE_NETWORKS": "True",
            "AIRFLOW__INGEST__ALLOWED_URL_HOSTS": "127.0.0.1",
            "FETCHED_FROM": f"http://127.0.0.1:{files}",
            "AIRFLOW_CONN_DEMO_DB": json.dumps({"conn_type": "sqlite", "host": str(home / "shop.db")}),
            "AIRFLOW_CONN_DEMO_FILES": json.dumps({"conn_type": "fs", "extra": {"path": str(home / "files")}}),
            "PYTHONPATH": os.pathsep.join([str(CHECKOUT), str(home / "dags")]),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            **settings,
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each task would compile all that it imports
        return cls(home, url, environment)

    def start(self, timeout: float = 600) -> AirflowServer:
        """Make the shop's tables, start all components, wait until they are healthy and the DAGs are known."""
        self.python(
            "from sqlalchemy import create_engine; from shop_tables import Shop;"
            f"Shop.metadata.create_all(create_engine('sqlite:///{self.home / 'shop.db'}'))"
        )
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["airflow", "standalone"],
                env=self.environment,
                cwd=self.home,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + timeout
        while not (self.is_healthy() and self.knows_its_dags()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"Airflow does not start:\n{self.log_tail()}")
            time.sleep(0.3)
        (self.home / STATE).write_text(json.dumps({"url": self.url, "environment": self.environment}))
        return self

    @classmethod
    def attach(cls, home: Path) -> AirflowServer:
        """A server that runs already, started by ``python -m tests.e2e.airflow_server HOME``."""
        state = json.loads((home / STATE).read_text())
        return cls(home, state["url"], state["environment"])

    def stop(self) -> None:
        """End all components."""
        if self.process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + 15
            try:
                os.killpg(self.process.pid, number)
                while time.monotonic() < deadline:  # executor workers outlive the process that started them
                    self.process.poll()
                    os.killpg(self.process.pid, 0)
                    time.sleep(0.1)
            except ProcessLookupError:
                break
        self.process = None

    @property
    def log(self) -> Path:
        """What the components print."""
        return self.home / "standalone.log"

    def log_tail(self, lines: int = 80) -> str:
        """The end of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) if self.log.exists() else ""

    def is_healthy(self) -> bool:
        """Whether all components say so."""
        try:
            health = self.client.get("/api/v2/monitor/health").json()
        except (httpx.TransportError, ValueError):
            return False
        return all(health[name]["status"] == "healthy" for name in ("metadatabase", "scheduler", "dag_processor"))

    def knows_its_dags(self) -> bool:
        """Whether each DAG file was parsed."""
        errors = self.get("/api/v2/importErrors").json().get("import_errors")
        if errors:
            raise RuntimeError(f"A DAG file has errors:\n{errors[0]['filename']}\n{errors[0]['stack_trace']}")
        known = self.get("/api/v2/dags", params={"limit": 100}).json().get("dags", ())
        files = {path.name for path in (self.home / "dags").glob("*.py") if "dag(" in path.read_text().lower()}
        return files <= {Path(dag["fileloc"]).name for dag in known}

    @cached_property
    def client(self) -> httpx.Client:
        """An HTTP client without credentials, rooted at the server."""
        return httpx.Client(base_url=self.url, timeout=300)

    def token(self, user: str = "admin") -> str:
        """A bearer token of ``admin``, ``user`` or ``viewer``."""
        if user not in self._tokens:
            response = self.client.post("/auth/token", json={"username": user, "password": user})
            response.raise_for_status()
            self._tokens[user] = response.json()["access_token"]
        return self._tokens[user]

    def request(self, method: str, path: str, user: str | None = "admin", **options: Any) -> httpx.Response:
        """A request as this user; ``None`` is nobody."""
        headers = dict(options.pop("headers", None) or {})
        if user is not None:
            headers.setdefault("Authorization", f"Bearer {self.token(user)}")
        return self.client.request(method, path, headers=headers, **options)

    def get(self, path: str, user: str | None = "admin", **options: Any) -> httpx.Response:
        """GET as this user."""
        return self.request("GET", path, user, **options)

    def post(self, path: str, user: str | None = "admin", **options: Any) -> httpx.Response:
        """POST as this user."""
        return self.request("POST", path, user, **options)

    def run_cli(self, *arguments: str, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run ``airflow …`` in the server's environment."""
        done = subprocess.run(
            ["airflow", *arguments], env=self.environment, capture_output=True, text=True, cwd=self.home, **options
        )
        if check and done.returncode:
            raise AssertionError(f"airflow {' '.join(arguments)} gave {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done

    def python(self, code: str) -> str:
        """Run Python code in the server's environment; returns what it prints."""
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, cwd=self.home)
        if done.returncode:
            raise AssertionError(f"{done.stdout}\n{done.stderr}")
        return done.stdout

    def wait_for_run(self, dag_id: str, dag_run_id: str, timeout: float = PATIENCE) -> dict[str, Any]:
        """The ingest run of a DAG run and its failed rows, when both have ended."""
        self.wait_for_dag_run(dag_id, dag_run_id, timeout)
        return self.recorded_run(dag_id, dag_run_id)

    def wait_for_dag_run(self, dag_id: str, dag_run_id: str, timeout: float = PATIENCE) -> str:
        """The state in which a DAG run has ended."""
        state = ""

        def has_ended() -> bool:
            nonlocal state
            state = self.get(f"/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}").json()["state"]
            return state in ("success", "failed")

        wait_until(has_ended, timeout, name=dag_run_id, is_well=self.is_healthy, evidence=self.log_tail)
        return state

    def has_started(self, dag_id: str, dag_run_id: str, index: int) -> bool:
        """Whether a chunk of the run is being worked, or was."""
        statement = (
            "SELECT ingest_chunks.started_at FROM ingest_chunks JOIN ingest_runs ON id = run_id "
            "WHERE dag_id = ? AND dag_run_id = ? AND chunk_index = ?"
        )
        with closing(sqlite3.connect(self.home / "airflow.db", timeout=60)) as database:
            return any(started for (started,) in database.execute(statement, (dag_id, dag_run_id, index)))

    def change(self, statement: str) -> None:
        """Run a statement on the shop's database."""
        with closing(sqlite3.connect(self.home / "shop.db", timeout=60)) as database, database:
            database.execute(statement)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The result of a query on the shop's database."""
        with closing(sqlite3.connect(self.home / "shop.db")) as database:
            return database.execute(statement).fetchall()

    def recorded_run(self, dag_id: str, dag_run_id: str) -> dict[str, Any]:
        """The run as the ingest tables have it."""
        from sqlalchemy import create_engine

        from airflow_provider_ingest.storage.sql_store import SqlStore

        engine = create_engine(f"sqlite:///{self.home / 'airflow.db'}")
        try:
            store = SqlStore.on_engine(engine)
            run = store.find_run(dag_id, dag_run_id)
            assert run is not None, f"no run is recorded for {dag_run_id}"
            failed = [row for batch in store.failed_rows(run.id) for row in batch]
        finally:
            engine.dispose()
        return {"run": run, "failed": failed}


def running(home: Path, **settings: str) -> Iterator[AirflowServer]:
    """A server that is stopped at the end, whatever happens."""
    server = AirflowServer.prepare(home, **settings)
    try:
        yield server.start()
    finally:
        server.stop()


if __name__ == "__main__":
    place = Path(sys.argv[1]).absolute()
    place.mkdir(parents=True, exist_ok=True)
    for started in running(place):
        print(f"{started.url} (admin, admin). Tests use it with INGEST_TEST_AIRFLOW={place}. Ctrl-C ends it.")
        ends = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # else SIGTERM ends this process alone, and leaves Airflow
        signal.sigwait(ends)
