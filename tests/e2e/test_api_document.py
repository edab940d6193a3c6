"""The OpenAPI document is true: schemathesis asks the real server everything it says."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.test_api import API

EXAMPLES = 15


@pytest.fixture
def schema(airflow: AirflowServer) -> Any:
    headers = {"Authorization": f"Bearer {airflow.token()}"}
    return schemathesis.openapi.from_url(f"{airflow.url}{API}/openapi.json", headers=headers)


as_admin = schemathesis.pytest.from_fixture("schema")


@as_admin.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_the_one_that_the_document_promises(case: Any, airflow: AirflowServer) -> None:
    case.call_and_validate(headers={"Authorization": f"Bearer {airflow.token()}"})


as_viewer = schemathesis.pytest.from_fixture("schema")


@as_viewer.parametrize()
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_document_is_true_for_a_viewer(case: Any, airflow: AirflowServer) -> None:
    case.call_and_validate(headers={"Authorization": f"Bearer {airflow.token('viewer')}"})
