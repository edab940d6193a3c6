"""DAG runs of importers treated as any others: marked, deleted, cleared and triggered with a configuration."""

from __future__ import annotations

import os
from typing import Any

import pytest

from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from tests.e2e.airflow_server import AirflowServer
from tests.e2e.recorded_runs import ended, recorded, start
from tests.e2e.waiting import wait_until

pytestmark = pytest.mark.usefixtures("fresh_products")


def trigger(airflow: AirflowServer, slug: str, conf: dict[str, Any], **body: Any) -> str:
    """A DAG run as Airflow's own form starts it; its id."""
    body |= {"logical_date": None, "conf": conf}
    answer = airflow.post(f"/api/v2/dags/ingest_{slug}/dagRuns", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["dag_run_id"])


def error(run: RunRecord) -> str:
    assert run.summary is not None
    return str(run.summary["error"]["message"])


def skus(airflow: AirflowServer, like: str) -> int:
    return int(airflow.rows(f"SELECT count(*) FROM products WHERE sku LIKE '{like}'")[0][0])


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_chunk_in_flight_writes_nothing_once_its_dag_run_was_failed_by_hand(airflow: AirflowServer, file):
    payload = file("failed.csv", "W-1,gate-failed,Toys,1", "W-2,x,Toys,1")
    dag_run_id = start(airflow, "gated", payload=payload)
    noted = airflow.home / "pid-gate-failed"
    wait_until(lambda: noted.exists() and noted.read_text())
    path = f"/api/v2/dags/ingest_gated/dagRuns/{dag_run_id}"
    wait_until(lambda: airflow.request("PATCH", path, json={"state": "failed"}).status_code == 200)
    (airflow.home / "gate-failed").touch()
    wait_until(lambda: not is_there(int(noted.read_text())))
    run = recorded(airflow, "gated", dag_run_id)
    assert run.summary is not None
    assert (run.summary["created"], run.counts.created, skus(airflow, "W-%")) == (0, 0, 0)
    assert (run.summary["unprocessed"], run.progress.unprocessed) == (2, 2)
    assert error(run) == "Its DAG run was marked as 'failed' by hand before it was finished."


def test_a_run_that_took_longer_than_its_dag_run_may_says_so(airflow: AirflowServer, file):
    dag_run_id = start(airflow, "hurried", payload=file("late.csv", "L-1,gate-late,Toys,1"))
    run = ended(airflow, "hurried", dag_run_id)
    (airflow.home / "gate-late").touch()
    assert run.status is RunStatus.FAILED
    assert "'dagrun_timeout'" in error(run)


def test_a_configuration_that_almost_names_a_parameter_imports_nothing(airflow: AirflowServer, file):
    payload = file("almost.csv", "Y-1,x,Toys,1")
    run = ended(airflow, "strict", trigger(airflow, "strict", {"payload": payload, "dryRun": True}))
    assert error(run) == "The configuration has 'dryRun', which is no parameter; is 'dry_run' meant?"
    assert (run.status, skus(airflow, "Y-%")) == (RunStatus.FAILED, 0)
    run = ended(airflow, "strict", trigger(airflow, "strict", {"payload": payload, "ticket": "OPS-7"}))
    assert (run.status, skus(airflow, "Y-%")) == (RunStatus.COMPLETED, 1)


def test_a_configuration_that_names_a_run_is_refused_where_people_look(airflow: AirflowServer):
    dag_run_id = trigger(airflow, "gated", {"ingest_run_id": 1})
    run = ended(airflow, "gated", dag_run_id)
    assert error(run).startswith(f"Ingest run 1 does not belong to the DAG run '{dag_run_id}'")


def test_a_dag_run_under_the_id_of_a_deleted_one_imports_its_own_file(airflow: AirflowServer, file):
    conf = {"payload": file("before.csv", "U-1,x,Toys,1")}
    first = ended(airflow, "strict", trigger(airflow, "strict", conf, dag_run_id="nightly"))
    assert airflow.request("DELETE", "/api/v2/dags/ingest_strict/dagRuns/nightly").status_code == 204
    conf = {"payload": file("after.csv", "U-2,x,Toys,1", "U-3,x,Toys,1")}
    second = ended(airflow, "strict", trigger(airflow, "strict", conf, dag_run_id="nightly"))
    assert (second.status, second.original_filename, second.counts.created) == (RunStatus.COMPLETED, "after.csv", 2)
    assert skus(airflow, "U-%") == 3
    kept = airflow.get(f"/api/v1/ingest/{first.id}").json()["data"]
    assert (kept["dag_run_id"], kept["progress"]["created"]) == (f"nightly__deleted_{first.id}", 1)


def test_a_chunk_that_stands_still_in_python_of_its_user_ends_when_its_time_is_over(airflow: AirflowServer, file):
    dag_run_id = start(airflow, "impatient", payload=file("stuck.csv", "T-1,gate-never,Toys,1", "T-2,x,Toys,1"))
    run = ended(airflow, "impatient", dag_run_id)
    assert (run.status, skus(airflow, "T-%")) == (RunStatus.FAILED, 0)
    assert not is_there(int((airflow.home / "pid-gate-never").read_text()))


def test_clearing_a_run_that_failed_says_that_a_new_one_is_needed(airflow: AirflowServer, file):
    dag_run_id = trigger(airflow, "strict", {"payload": "to-come.csv"})
    before = ended(airflow, "strict", dag_run_id)
    file("to-come.csv", "Q-1,x,Toys,1")
    path = f"/api/v2/dags/ingest_strict/dagRuns/{dag_run_id}"
    assert airflow.post(f"{path}/clear", json={"dry_run": False}).status_code == 200
    assert ended(airflow, "strict", dag_run_id) == before
    for task in ("stage", "finish"):
        log = airflow.get(f"{path}/taskInstances/{task}/logs/2").text
        assert "to import again, start a new run" in log
    assert skus(airflow, "Q-%") == 0


def test_clearing_a_completed_run_is_no_green_import_without_a_row(airflow: AirflowServer, file):
    dag_run_id = trigger(airflow, "strict", {"payload": file("once.csv", "E-1,x,Toys,1")})
    before = ended(airflow, "strict", dag_run_id)
    path = f"/api/v2/dags/ingest_strict/dagRuns/{dag_run_id}"
    wait_until(lambda: airflow.get(path).json()["state"] == "success")
    assert airflow.get(path).json()["note"] is None
    assert airflow.post(f"{path}/clear", json={"dry_run": False}).status_code == 200
    wait_until(lambda: airflow.get(path).json()["note"])
    note = f"Ingest run {before.id} had ended as completed before its DAG run was cleared."
    assert airflow.get(path).json()["note"].startswith(note)
    assert airflow.get(f"{path}/taskInstances/finish").json()["state"] == "skipped"
    assert ended(airflow, "strict", dag_run_id) == before
    assert skus(airflow, "E-%") == 1


def test_an_importer_that_is_changed_between_the_chunks_of_a_run_says_so(airflow: AirflowServer, file):
    importer = airflow.home / "dags" / "edited.py"
    definition = """
from gates import product

from airflow_provider_ingest import SourceType, ingest_dag

source = product(SourceType.FILESYSTEM, disk="demo_files").chunk_size(1)
edited = ingest_dag("edited", source{more}, max_active_tis_per_dagrun=1)
"""
    importer.write_text(definition.format(more=""))
    try:
        wait_until(lambda: airflow.get("/api/v1/ingest/importers/edited").status_code == 200)
        payload = file("edited.csv", "V-1,gate-edited,Toys,1", "V-2,x,Toys,1")
        dag_run_id = start(airflow, "edited", payload=payload)
        wait_until((airflow.home / "pid-gate-edited").exists)
        importer.write_text(definition.format(more='.log_rows("all")'))
        (airflow.home / "gate-edited").touch()
        run = ended(airflow, "edited", dag_run_id)
    finally:
        importer.unlink()
    assert (run.status, skus(airflow, "V-%")) == (RunStatus.COMPLETED, 2)
    assert run.summary is not None
    assert [text for text in run.summary["warnings"] if "was changed while this run was worked" in text]
