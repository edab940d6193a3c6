"""Requests to the REST API, and what its answers have to be."""

from __future__ import annotations

import time
from typing import Any

from tests.e2e.airflow_server import AirflowServer

API = "/api/v1/ingest"
HEADER = "sku,name,category,price,stock,active,released\n"
GOOD = "AB-10001,Hammer,Garden,9.50,3,yes,01.02.2024\n"
BAD = "nonsense,=Saw,Garden,9.50,3,yes,01.02.2024\n"


def upload(airflow: AirflowServer, content: str | bytes, name: str = "products.csv", **options: Any) -> dict[str, Any]:
    """Upload a file of products; the run that was started."""
    data = options.pop("data", {})
    answer = airflow.post(f"{API}/upload/products", files={"file": (name, content)}, data=data, **options)
    assert answer.status_code == 202, answer.text
    return answer.json()["data"]


def ended(airflow: AirflowServer, run_id: int, seconds: float = 280) -> dict[str, Any]:
    """The run, once it has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        run = airflow.get(f"{API}/{run_id}").json()["data"]
        if run["completed_at"]:
            return run
        time.sleep(0.3)
    raise AssertionError(f"run {run_id} does not end:\n{airflow.log_tail()}")


def problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    """The problem document of an answer, which has to have this status and code."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (body["status"], body["code"]) == (status, code)
    assert {"type", "title", "detail"} <= set(body)
    return body
