"""URLs in a real Airflow: a run tells why its file did not come."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import API, ended, problem
from tests.integration.hooks.http_server import Server, serving


@pytest.fixture(scope="module")
def files(airflow: AirflowServer) -> Iterator[Server]:
    with serving(port=urlsplit(airflow.environment["FETCHED_FROM"]).port or 0) as server:
        yield server


def test_a_transfer_that_is_cut_off_fails_the_run_and_nothing_of_it_counts(
    airflow: AirflowServer, files: Server
) -> None:
    started = airflow.post(f"{API}/trigger/cut_off")
    assert started.status_code == 202, started.text
    run = ended(airflow, started.json()["data"]["id"])
    error = run["summary"]["error"]
    assert (run["status"], error["code"]) == ("failed", "source_error")
    assert "broke off after 100,000 bytes" in error["message"]
    assert "cannot be resumed" in error["message"]
    assert run["progress"]["total"] == 0
    assert files.hits["/cut"] > 1


def test_a_redirect_to_the_metadata_of_a_cloud_is_refused_and_told(airflow: AirflowServer, files: Server) -> None:
    files.elsewhere = "http://169.254.169.254/latest/meta-data/"
    started = airflow.post(f"{API}/trigger/sent_away")
    assert started.status_code == 202, started.text
    run = ended(airflow, started.json()["data"]["id"])
    error = run["summary"]["error"]
    assert (run["status"], error["code"]) == ("failed", "source_error")
    assert error["message"] == "The host '169.254.169.254' is not in [ingest] allowed_url_hosts."
    assert files.hits["/away"] == 1


def test_a_pattern_of_files_is_refused_before_a_run_is_made(airflow: AirflowServer) -> None:
    answer = airflow.post(f"{API}/trigger/customers", json={"payload": "in/*.csv"})
    body = problem(answer, 422, "invalid_parameter")
    assert body["errors"][0]["field"] == "payload"
    assert "one run per file" in body["errors"][0]["message"]
