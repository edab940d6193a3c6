"""The connections of sources in Airflow's own form."""

from __future__ import annotations

from tests.e2e.airflow_server import AirflowServer


def test_the_connection_types_of_all_sources_are_in_the_form(airflow: AirflowServer) -> None:
    answer = airflow.get("/ui/connections/hook_meta")
    assert answer.status_code == 200, answer.text
    known = {kind["connection_type"] for kind in answer.json()}
    assert {"fs", "http", "ftp", "sftp", "ssh", "aws"} <= known
