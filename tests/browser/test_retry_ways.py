"""Which ways to a retry a run offers: those that lead there, and why the others do not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages
from tests.e2e.airflow_server import AirflowServer


@pytest.fixture(scope="module")
def pruned_run(chromium: str, airflow: AirflowServer) -> dict[str, Any]:
    """An ended run whose failed row is not logged any more."""
    content = "sku,name,category,price,stock,active,released\nnonsense,Rake,Garden,1,1,yes,\n"
    run: dict[str, Any] = airflow.post(f"{API}/upload/products", files={"file": ("rake.csv", content)}).json()["data"]
    airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    with closing(sqlite3.connect(airflow.home / "airflow.db", timeout=60)) as database, database:
        database.execute("DELETE FROM ingest_rows WHERE run_id = ?", (run["id"],))
    return run


def test_rows_that_are_not_logged_are_not_retried_at_all(pages: Pages, pruned_run: dict[str, Any]) -> None:
    page = pages.open(f"/plugin/ingest/runs/{pruned_run['id']}")
    reason = page.get_by_text("are not (or no longer) logged; import them as a file of their own.")
    expect(reason).to_be_visible(timeout=PATIENCE)
    assert page.get_by_role("group", name="Actions").count() == 0
    pages.go(page, f"/plugin/ingest/runs/{pruned_run['id']}/fix")
    expect(reason).to_be_visible()
