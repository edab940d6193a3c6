"""A record with more fields than there are columns: the grid has no cell for them, and shows the record as it stood."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import API, PATIENCE, Pages, loaded
from tests.e2e.airflow_server import AirflowServer

RUN = re.compile(r"/plugin/ingest/runs/\d+$")
HEADER = "sku,name,category,price,stock,active,released\n"
GOOD = "".join(f"SV-{n:05},Tool {n},Garden,9.50,3,yes,01.02.2024\n" for n in range(2, 8))


@pytest.fixture(scope="module")
def run(airflow: AirflowServer) -> dict[str, Any]:
    """A run of seven rows, the first of which has a comma too many."""
    wide = 'SV-00001,"Rake, long",Garden,9,50,3,yes,01.02.2024\n'
    airflow.change("DELETE FROM products WHERE sku = 'SV-00001'")
    answer = airflow.post(f"{API}/upload/products", files={"file": ("wide.csv", HEADER + wide + GOOD)})
    started: dict[str, Any] = answer.json()["data"]
    airflow.wait_for_dag_run(started["dag_id"], started["dag_run_id"])
    return started


def retried(page: Page) -> Page:
    """The run of a retry, ended."""
    page.get_by_role("button", name="Retry with these corrections").click()
    expect(page).to_have_url(RUN, timeout=PATIENCE)
    loaded(page)
    return page


def test_the_grid_shows_the_record_and_imports_it_only_when_it_was_corrected(
    pages: Pages, airflow: AirflowServer, run: dict[str, Any]
) -> None:
    page = pages.open(f"/plugin/ingest/runs/{run['id']}/fix")
    grid = page.get_by_role("region", name="Failed rows to correct")
    expect(grid).to_contain_text('SV-00001,"Rake, long",Garden,9,50,3,yes,01.02.2024', timeout=PATIENCE)
    expect(page.get_by_label("price of row 1")).to_have_value("9")
    retried(page)
    expect(page.get_by_text("1 failed")).to_be_visible(timeout=2 * PATIENCE)
    assert airflow.rows("SELECT sku FROM products WHERE sku = 'SV-00001'") == []

    page = pages.open(f"/plugin/ingest/runs/{run['id']}/fix")
    corrected = {"price": "9.50", "stock": "3", "active": "yes", "released": "01.02.2024"}
    for name, text in corrected.items():
        page.get_by_label(f"{name} of row 1").fill(text)
    expect(page.get_by_role("status")).to_have_text("4 cells changed in 1 row")
    retried(page)
    expect(page.get_by_text("1 created")).to_be_visible(timeout=2 * PATIENCE)
    of_itself = page.get_by_role("listitem").filter(has_text=f"retry of #{run['id']}").last
    expect(of_itself).to_contain_text(re.compile("completed.*0 of 1 row failed"))
    assert airflow.rows("SELECT name, price FROM products WHERE sku = 'SV-00001'") == [("Rake, long", 9.5)]
