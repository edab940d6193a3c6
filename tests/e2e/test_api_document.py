"""The OpenAPI document is true: schemathesis asks a real server everything it says."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from tests.e2e.airflow_server import CHECKOUT, AirflowServer
from tests.e2e.rest import API, problem

DOCUMENT = json.loads((CHECKOUT / "docs" / "reference" / "openapi.json").read_text(encoding="utf-8"))
CONFIG = {
    # A well-formed request may still hold a file of no known format, or ask for a retry of nothing.
    "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", 400, 401, 403, 404, 409, 415, 429]}}
}
OPERATIONS = [(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods]


def ask(airflow: AirflowServer, method: str, path: str, user: str, examples: int) -> None:
    """Send generated requests, valid and not, and check status, headers and body against the document."""
    headers = {"Authorization": f"Bearer {airflow.token(user)}"}
    config = schemathesis.config.SchemathesisConfig.from_dict(CONFIG)
    schema = schemathesis.openapi.from_url(f"{airflow.url}{API}/openapi.json", headers=headers, config=config)
    strategy = schema[path][method].as_strategy()

    @given(case=strategy)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check(case: Any) -> None:
        case.call_and_validate(headers=headers)

    check()


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_is_one_that_the_document_promises(airflow: AirflowServer, method: str, path: str) -> None:
    ask(airflow, method, path, "admin", examples=30)


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_the_document_is_true_for_a_viewer_too(airflow: AirflowServer, method: str, path: str) -> None:
    ask(airflow, method, path, "viewer", examples=8)


def test_the_document_that_is_served_is_the_written_one(airflow: AirflowServer) -> None:
    assert airflow.get(f"{API}/openapi.json").json() == DOCUMENT
    problem(airflow.get(f"{API}/openapi.json", user=None), 401, "not_authenticated")
