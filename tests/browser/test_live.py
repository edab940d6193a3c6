"""A run at work, and its cancellation, in sight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages, loaded, violations
from tests.e2e.airflow_server import AirflowServer


@pytest.fixture
def gate(airflow: AirflowServer) -> Iterator[Path]:
    """Rows wait until this file is there."""
    gate = airflow.home / "gate-browser"
    (airflow.home / "files" / "gate-browser.csv").write_text(
        "sku,name,category,price\nZ-1,first,Garden,1\nZ-2,gate-browser,Garden,1\nZ-3,last,Garden,1\n"
    )
    yield gate
    gate.touch()


def test_a_run_is_watched_and_cancelled(pages: Pages, airflow: AirflowServer, gate: Path) -> None:
    page = pages.open("/plugin/ingest/importers/gated")
    page.get_by_label("Path of the file").fill("gate-browser.csv")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*")
    loaded(page)
    expect(page.get_by_text("1 of 3 done")).to_be_visible(timeout=2 * PATIENCE)
    working = page.get_by_role("link", name="Chunk 1: 1 row from row 2, working")
    expect(working).to_be_visible(timeout=2 * PATIENCE)
    assert violations(page) == []
    run_id = page.url.rsplit("/", 1)[-1]

    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Let it run").click()
    page.get_by_role("button", name="Cancel").click()
    assert violations(page) == []
    assert airflow.get(f"{API}/{run_id}").json()["data"]["status"] == "processing", "nothing was cancelled yet"
    page.get_by_role("button", name="Cancel this run").click()
    expect(page.locator("[data-status=cancelling]").first).to_be_visible(timeout=PATIENCE)
    gate.touch()
    expect(page.locator("[data-status=cancelled]").first).to_be_visible(timeout=2 * PATIENCE)
    assert page.get_by_role("button", name="Cancel").count() == 0
    run = airflow.get(f"{API}/{run_id}").json()["data"]
    assert run["progress"]["unprocessed"] == 1
