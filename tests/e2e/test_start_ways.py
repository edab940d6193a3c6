"""However a run is started it is one run, with the same fields and exactly the expected failed rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import uuid4

import pytest

from airflow_provider_ingest.runs.status import RunStatus
from tests.e2e.airflow_server import AirflowServer

DAG_ID = "ingest_customers"

FAILED = {
    4: "email",
    5: "date",
    6: "required",
    7: "range",
    8: "required",
    10: "required",
    12: "numeric",
    14: "malformed_row",
}
"""Row number to code of the rows of ``customers.csv`` that cannot be imported."""


def by_rest(airflow: AirflowServer) -> str:
    answer = airflow.post("/api/v1/ingest/trigger/customers")
    assert answer.status_code == 202, answer.text
    return str(answer.json()["data"]["dag_run_id"])


def by_form(airflow: AirflowServer) -> str:
    """What the button of Airflow's own pages sends."""
    conf = {"payload": None, "dry_run": False, "force": False}
    answer = airflow.post(f"/api/v2/dags/{DAG_ID}/dagRuns", json={"logical_date": None, "conf": conf})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["dag_run_id"])


def by_airflow_command(airflow: AirflowServer) -> str:
    dag_run_id = f"by-command-{uuid4()}"
    airflow.run_cli("dags", "trigger", DAG_ID, "--run-id", dag_run_id)
    return dag_run_id


def by_airflow_command_with_conf(airflow: AirflowServer) -> str:
    dag_run_id = f"by-command-with-conf-{uuid4()}"
    conf = json.dumps({"payload": "customers.csv"})
    airflow.run_cli("dags", "trigger", DAG_ID, "--run-id", dag_run_id, "--conf", conf)
    return dag_run_id


def by_start_run(airflow: AirflowServer) -> str:
    code = "from airflow_provider_ingest import start_run; print(start_run('customers', user='admin').dag_run_id)"
    return airflow.python(code).splitlines()[-1]


WAYS = [by_rest, by_form, by_airflow_command, by_airflow_command_with_conf, by_start_run]


@pytest.fixture(scope="module")
def started(airflow: AirflowServer) -> dict[str, str]:
    """All started at once; each test then waits for its own."""
    airflow.change("DELETE FROM customers")
    return {way.__name__: way(airflow) for way in WAYS}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_each_way_gives_one_run_with_exactly_the_expected_failed_rows(
    airflow: AirflowServer, started: dict[str, str], way: Callable[[AirflowServer], str]
):
    ended = airflow.wait_for_run(DAG_ID, started[way.__name__])
    run, failed = ended["run"], ended["failed"]
    assert run.status is RunStatus.COMPLETED_WITH_ERRORS, run.summary
    assert {row.row_number: row.errors["code"] for row in failed} == FAILED
    assert (run.total, run.counts.successful, run.counts.failed) == (14, 6, 8)
    assert run.summary["unprocessed"] == 0
    assert run.summary["error"] is None
    assert (run.importer, run.original_filename, run.is_dry_run, run.retry_of) == (
        "customers",
        "customers.csv",
        False,
        None,
    )
    assert run.file["sha256"]
    assert run.fingerprint
    assert (run.chunks_total, run.chunks_done) == (1, 1)


def test_every_dag_run_has_one_run_and_the_rows_are_in_the_table_once(airflow: AirflowServer, started: dict[str, str]):
    ended = [airflow.wait_for_run(DAG_ID, dag_run_id)["run"] for dag_run_id in started.values()]
    assert len({run.id for run in ended}) == len(WAYS)
    assert sum(run.counts.created for run in ended) == 5
    assert airflow.rows("SELECT count(*) FROM customers") == [(5,)]


def test_the_starter_is_recorded_where_airflow_knows_them(airflow: AirflowServer, started: dict[str, str]):
    names = {way: airflow.wait_for_run(DAG_ID, dag_run_id)["run"].user_name for way, dag_run_id in started.items()}
    assert [names[way] for way in ("by_rest", "by_form", "by_start_run")] == ["admin"] * 3


def test_a_dry_run_from_the_form_reports_the_same_rows_and_keeps_nothing(
    airflow: AirflowServer, started: dict[str, str]
):
    for dag_run_id in started.values():
        airflow.wait_for_run(DAG_ID, dag_run_id)
    answer = airflow.post(f"/api/v2/dags/{DAG_ID}/dagRuns", json={"logical_date": None, "conf": {"dry_run": True}})
    ended = airflow.wait_for_run(DAG_ID, answer.json()["dag_run_id"])
    assert ended["run"].is_dry_run
    assert {row.row_number: row.errors["code"] for row in ended["failed"]} == FAILED
    assert airflow.rows("SELECT count(*) FROM customers") == [(5,)]


def test_a_file_that_is_not_there_fails_run_and_dag_run_with_the_reason(airflow: AirflowServer):
    answer = airflow.post(
        f"/api/v2/dags/{DAG_ID}/dagRuns", json={"logical_date": None, "conf": {"payload": "missing.csv"}}
    )
    dag_run_id = answer.json()["dag_run_id"]
    run = airflow.wait_for_run(DAG_ID, dag_run_id)["run"]
    assert run.status is RunStatus.FAILED
    assert run.summary["error"] == {"message": "'missing.csv' is not there.", "code": "source_error"}
    assert airflow.get(f"/api/v2/dags/{DAG_ID}/dagRuns/{dag_run_id}").json()["state"] == "failed"


def test_a_configuration_that_names_another_run_is_refused(airflow: AirflowServer):
    answer = airflow.post(f"/api/v2/dags/{DAG_ID}/dagRuns", json={"logical_date": None, "conf": {"ingest_run_id": 1}})
    dag_run_id = answer.json()["dag_run_id"]
    assert airflow.wait_for_dag_run(DAG_ID, dag_run_id) == "failed"


def test_temporary_files_are_gone_when_runs_have_ended(airflow: AirflowServer, started: dict[str, str]):
    for dag_run_id in started.values():
        airflow.wait_for_run(DAG_ID, dag_run_id)
        run = airflow.recorded_run(DAG_ID, dag_run_id)["run"]
        assert not (airflow.home / "ingest" / "ingest-temp" / run.key).exists()
