"""Starting runs of the tests' importers, and the runs as the ingest tables have them."""

from __future__ import annotations

from typing import Any

from airflow_provider_ingest.runs.records import RunRecord
from tests.e2e.airflow_server import AirflowServer


def start(airflow: AirflowServer, slug: str, **body: Any) -> str:
    """Trigger the importer; the id of its DAG run."""
    answer = airflow.post(f"/api/v1/ingest/trigger/{slug}", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["data"]["dag_run_id"])


def recorded(airflow: AirflowServer, slug: str, dag_run_id: str) -> RunRecord:
    """The run of a DAG run, as it is now."""
    return airflow.recorded_run(f"ingest_{slug}", dag_run_id)["run"]


def ended(airflow: AirflowServer, slug: str, dag_run_id: str) -> RunRecord:
    """The run of a DAG run, once both have ended."""
    return airflow.wait_for_run(f"ingest_{slug}", dag_run_id)["run"]


def diary(airflow: AirflowServer, run: RunRecord) -> list[str]:
    """What the importers' handlers wrote down of a run."""
    lines = (airflow.home / "diary.txt").read_text().splitlines()
    return [line.split(" ", 1)[1] for line in lines if line.split(" ", 1)[0] == str(run.id)]
