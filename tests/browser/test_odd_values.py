"""Values of several lines, files of very many columns and right-to-left writing, on the pages of a run."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages
from tests.e2e.airflow_server import AirflowServer

WIDTH = 200
LINES = "first line\nsecond line"


@pytest.fixture(scope="module")
def odd_run(chromium: str, airflow: AirflowServer) -> dict[str, Any]:
    """An ended run of three failed rows with two hundred columns, of which the last one is wrong."""
    more = [f"more_{n}" for n in range(WIDTH - 7)]
    names = ["sku", "name", "category", "stock", "active", "released", *more, "price"]
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(names)
    for number, name in enumerate((LINES, "\u202egnp.exe", "plain"), 1):
        sku = f"OD-0000{number}" if number != 2 else name
        rows.writerow([sku, name, "Garden", "1", "yes", "", *["m"] * (WIDTH - 7), "x" if number != 2 else "1"])
    answer = airflow.post(f"{API}/upload/products", files={"file": ("odd.csv", text.getvalue().encode())})
    assert answer.status_code == 202, answer.text
    run: dict[str, Any] = answer.json()["data"]
    airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    ended: dict[str, Any] = airflow.get(f"{API}/{run['id']}").json()["data"]
    assert ended["progress"]["failed"] == 3, json.dumps(ended["progress"])
    return ended


def test_columns_with_errors_are_shown_however_many_there_are(pages: Pages, odd_run: dict[str, Any]) -> None:
    page = pages.open(f"/plugin/ingest/runs/{odd_run['id']}")
    table = page.get_by_role("region", name="Failed rows")
    expect(table.get_by_role("columnheader", name="price")).to_be_attached(timeout=PATIENCE)
    assert table.get_by_role("columnheader").count() == 2 + 40
    expect(page.get_by_text(f"40 of {WIDTH} columns are shown")).to_be_visible()


def test_a_value_from_right_to_left_leaves_its_message_as_it_is(pages: Pages, odd_run: dict[str, Any]) -> None:
    page = pages.open(f"/plugin/ingest/runs/{odd_run['id']}")
    message = page.locator("[data-row='2'] td").nth(1)
    expect(message).to_contain_text("An SKU looks like AB-12345.", timeout=PATIENCE)
    expect(message.locator("bdi", has_text="gnp.exe")).to_have_text("\u202egnp.exe")


def test_a_value_of_several_lines_keeps_them_when_it_is_corrected(
    pages: Pages, airflow: AirflowServer, odd_run: dict[str, Any]
) -> None:
    page = pages.open(f"/plugin/ingest/runs/{odd_run['id']}/fix")
    name = page.get_by_label("name of row 1", exact=True)
    expect(name).to_have_value(LINES, timeout=PATIENCE)
    name.press("Control+End")
    name.press_sequentially("!")
    page.get_by_role("button", name="Try as dry run").click()
    page.wait_for_url(lambda url: not url.endswith("/fix"))
    path = f"{API}/{page.url.rsplit('/', 1)[-1]}"
    run = airflow.get(path).json()["data"]
    airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    first, *_ = airflow.get(path, params={"rows_status": "failed"}).json()["data"]["rows"]
    assert first["data"]["name"] == f"{LINES}!"
