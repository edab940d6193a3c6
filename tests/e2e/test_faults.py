"""Faults in a whole Airflow: killed tasks and servers, and writers in between; afterwards every number is true."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from tests.e2e.airflow_server import AirflowServer
from tests.e2e.broken_uploads import send_half_an_upload, uploaded
from tests.e2e.lost_dag_runs import lose_dag_run
from tests.e2e.recorded_runs import diary, ended, recorded, start
from tests.e2e.second_server import second_api_server
from tests.e2e.waiting import wait_until

pytestmark = pytest.mark.usefixtures("fresh_products")


def skus(airflow: AirflowServer, like: str) -> list[str]:
    return [sku for (sku,) in airflow.rows(f"SELECT sku FROM products WHERE sku LIKE '{like}' ORDER BY sku")]


def staged(airflow: AirflowServer) -> list[str]:
    tables = airflow.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in tables if name.startswith("_ingest_")]


def told(airflow: AirflowServer, run: RunRecord) -> dict[str, Any]:
    notes: list[dict[str, Any]] = []

    def is_told() -> bool:
        path = airflow.home / "told.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        notes[:] = [note for note in map(json.loads, lines) if note["id"] == run.id]
        return bool(notes)

    wait_until(is_told)
    assert len(notes) == 1
    return notes[0]


def events(airflow: AirflowServer, run: RunRecord) -> list[dict[str, Any]]:
    found = airflow.get("/api/v2/assets/events", params={"limit": 100, "order_by": "-timestamp"}).json()
    return [event for event in found["asset_events"] if event["extra"].get("ingest_run_id") == run.id]


def insert(airflow: AirflowServer, sku: str) -> None:
    columns = "sku, name, category, price, stock, is_active"
    airflow.change(f"INSERT INTO products ({columns}) VALUES ('{sku}', 'meanwhile', 'x', 1, 0, 1)")


def adds_up(run: RunRecord) -> bool:
    summary = run.summary
    ends = ("created", "updated", "skipped", "failed", "unprocessed")
    return bool(sum(summary[end] for end in ends) == summary["total"] == run.total)


def test_an_atomic_run_shows_at_once_and_counts_what_was_published(airflow: AirflowServer, file) -> None:
    path = file("whole.csv", "W-1,whole,Gate,1", "W-2,b,Toys,1", "bad,c,Toys,1", "W-4,d,Toys,1")
    dag_run_id = start(airflow, "whole", payload=path)
    wait_until(lambda: recorded(airflow, "whole", dag_run_id).chunks_done == 1)
    assert recorded(airflow, "whole", dag_run_id).counts == Counts(created=3, failed=1)
    assert (skus(airflow, "W-%"), len(staged(airflow))) == ([], 1)
    insert(airflow, "W-2")
    (airflow.home / "gate-whole").touch()
    run = ended(airflow, "whole", dag_run_id)
    assert (run.status, run.counts) == (
        RunStatus.COMPLETED_WITH_ERRORS,
        Counts(created=2, updated=1, failed=1),
    )
    assert adds_up(run)
    assert (skus(airflow, "W-%"), staged(airflow)) == (["W-1", "W-2", "W-4"], [])
    note = told(airflow, run)
    assert (note["text"], note["updated"], note["failed"]) == ("whole: 2 new", 1, 1)


def test_openlineage_hears_of_file_table_and_rows(airflow: AirflowServer) -> None:
    found: list[dict[str, Any]] = []

    def is_heard() -> bool:
        path = airflow.home / "lineage.jsonl"
        lines = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
        found[:] = [
            event
            for event in lines
            if event["eventType"] == "COMPLETE" and event["job"]["name"] == "ingest_whole.finish"
        ]
        return bool(found)

    wait_until(is_heard)
    (source,), (table,) = found[-1]["inputs"], found[-1]["outputs"]
    assert (source["namespace"], source["name"]) == ("file", "demo_files/whole.csv")
    assert source["inputFacets"]["inputStatistics"]["rowCount"] == 4
    assert (table["namespace"], table["name"]) == ("sqlite", f"{airflow.home / 'shop.db'}.products")
    assert table["outputFacets"]["outputStatistics"]["rowCount"] == 3
    (made_of,) = table["facets"]["columnLineage"]["fields"]["sku"]["inputFields"]
    assert made_of["field"] == "sku"


def test_an_atomic_run_that_conflicts_leaves_nothing_and_counts_nothing(airflow: AirflowServer, file) -> None:
    dag_run_id = start(airflow, "whole_new", payload=file("new.csv", "N-1,new,Gate,1", "N-2,b,Toys,1", "bad,c,Toys,1"))
    wait_until(lambda: recorded(airflow, "whole_new", dag_run_id).chunks_done == 1)
    insert(airflow, "N-2")
    (airflow.home / "gate-new").touch()
    run = ended(airflow, "whole_new", dag_run_id)
    assert (run.status, run.summary["error"]["code"]) == (RunStatus.FAILED, "publish_refused")
    assert (run.counts, run.summary["unprocessed"]) == (Counts(failed=1), 2)
    assert adds_up(run)
    assert (skus(airflow, "N-%"), staged(airflow)) == (["N-2"], [])
    note = told(airflow, run)
    assert note["text"] == "whole_new is failed"
    assert "row 2" in note["error"]


def test_a_killed_chunk_writes_its_rows_once_while_a_waiting_run_is_cancelled(airflow: AirflowServer, file) -> None:
    rows = [f"I-{n},{'gate-kill' if n == 3 else 'x'},Toys,1" for n in range(1, 7)]
    dag_run_id = start(airflow, "inserts", payload=file("inserts.csv", *rows))
    pid = airflow.home / "pid-gate-kill"
    wait_until(lambda: pid.exists() and pid.read_text())
    waiting = start(airflow, "inserts", payload=file("waiting.csv", "I-9,x,Toys,1"))
    cancelled = recorded(airflow, "inserts", waiting)
    assert airflow.post(f"/api/v1/ingest/{cancelled.id}/cancel").json()["message"].endswith("is cancelled.")
    os.kill(int(pid.read_text()), signal.SIGKILL)
    (airflow.home / "gate-kill").touch()
    run = ended(airflow, "inserts", dag_run_id)
    assert (run.status, run.counts) == (RunStatus.COMPLETED, Counts(created=6))
    assert skus(airflow, "I-%") == [f"I-{n}" for n in range(1, 7)]
    cancelled = ended(airflow, "inserts", waiting)
    assert (cancelled.status, cancelled.total) == (RunStatus.CANCELLED, 0)
    assert diary(airflow, cancelled) == ["after cancelled 0 0 0"]


def test_a_finish_killed_after_the_last_status_still_tells_others_once(airflow: AirflowServer, file) -> None:
    (airflow.home / "kill-finish").touch()
    dag_run_id = start(airflow, "inserts", payload=file("told.csv", "T-1,x,Toys,1"))
    run = ended(airflow, "inserts", dag_run_id)
    assert not (airflow.home / "kill-finish").exists()
    assert run.status is RunStatus.COMPLETED
    task = f"/api/v2/dags/ingest_inserts/dagRuns/{dag_run_id}/taskInstances/finish"
    assert airflow.get(task).json()["try_number"] == 2
    assert [event["extra"]["created"] for event in events(airflow, run)] == [1]
    assert diary(airflow, run) == ["before processing", "after completed 1 0 0"]
    body = {"dry_run": False, "dag_run_id": dag_run_id, "task_ids": ["finish"], "only_failed": False}
    assert airflow.post("/api/v2/dags/ingest_inserts/clearTaskInstances", json=body).status_code == 200
    wait_until(lambda: airflow.get(task).json()["try_number"] == 3)
    assert ended(airflow, "inserts", dag_run_id) == run
    assert len(events(airflow, run)) == 1


def test_an_api_server_ends_lost_runs_when_it_starts_and_leaves_nothing_when_it_is_killed(
    airflow: AirflowServer, file, tmp_path: Path
) -> None:
    lost = start(airflow, "inserts", payload=file("lost.csv", "L-1,gate-lost,Toys,1"))
    wait_until((airflow.home / "pid-gate-lost").exists)
    lose_dag_run(airflow, lost)
    with second_api_server(airflow, tmp_path) as server:
        wait_until(lambda: recorded(airflow, "inserts", lost).status is RunStatus.FAILED)
        assert recorded(airflow, "inserts", lost).summary["error"]["code"] == "dag_run_lost"
        assert "was lost; it is failed now" in server.log_tail()
        (airflow.home / "gate-lost").touch()
        before, uploads = run_count(airflow), uploaded(airflow)
        with send_half_an_upload(server, "products"):
            wait_until(lambda: uploaded(airflow) > uploads)
            assert server.process is not None
            os.killpg(server.process.pid, signal.SIGKILL)
            server.process.wait(30)
    assert run_count(airflow) == before
    conf = {"hours": 0}
    answer = airflow.post("/api/v2/dags/ingest_prune/dagRuns", json={"logical_date": None, "conf": conf})
    assert airflow.wait_for_dag_run("ingest_prune", answer.json()["dag_run_id"]) == "success"
    assert uploaded(airflow) == set()


def run_count(airflow: AirflowServer) -> int:
    with closing(sqlite3.connect(airflow.home / "airflow.db", timeout=60)) as database:
        return int(database.execute("SELECT count(*) FROM ingest_runs").fetchone()[0])
