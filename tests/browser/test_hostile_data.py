"""Whatever a file holds is text on the pages: markup, turned writing, endless cells."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages, overflow, violations
from tests.e2e.airflow_server import AirflowServer

MARKUP = "<script>globalThis.owned = 1</script><img src=x onerror='globalThis.owned = 1'>"
TURNED = "\u202egnp.exe\u2066"
ENDLESS = "W" * 10_000
NAME = f"{TURNED}<img src=x onerror=owned=1>.csv"


@pytest.fixture(scope="module")
def hostile_run(chromium: str, airflow: AirflowServer) -> dict[str, Any]:
    """A run of a file that is hostile in its name, its header and its cells."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["sku", "name", "category", "price", "stock", "active", "released", MARKUP, TURNED, "x" * 2000])
    rows.writerow([MARKUP, TURNED, MARKUP, ENDLESS, TURNED, MARKUP, ENDLESS, ENDLESS, MARKUP, "=cmd|' /C calc'!A0"])
    answer = airflow.post(f"{API}/upload/products", files={"file": (NAME, text.getvalue())})
    assert answer.status_code == 202, answer.text
    run = answer.json()["data"]
    airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    ended: dict[str, Any] = airflow.get(f"{API}/{run['id']}").json()["data"]
    return ended


@pytest.mark.parametrize("path", ["", "/runs/{id}", "/runs/{id}/fix", "/importers/products"])
def test_hostile_text_is_shown_as_text(pages: Pages, hostile_run: dict[str, Any], path: str) -> None:
    page = pages.open(f"/plugin/ingest{path}".format(**hostile_run))
    if path.startswith("/runs"):
        expect(page.get_by_role("region", name="Failed rows")).to_be_visible(timeout=PATIENCE)
    assert page.evaluate("globalThis.owned") is None
    assert overflow(page) <= 0
    assert violations(page) == []
    page.set_viewport_size({"width": 800, "height": 900})
    assert overflow(page) <= 0


def test_a_hostile_file_is_previewed_as_text(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/upload/products")
    content = f"sku,{MARKUP.replace(',', '')},{TURNED}\n{MARKUP},{ENDLESS},{TURNED}\n"
    page.get_by_label("File").set_input_files({"name": NAME, "mimeType": "text/csv", "buffer": content.encode()})
    expect(page.get_by_role("region", name="First rows")).to_be_visible(timeout=PATIENCE)
    assert page.evaluate("globalThis.owned") is None
    assert overflow(page) <= 0
    assert violations(page) == []


def test_no_column_of_the_failed_rows_takes_the_window_for_itself(pages: Pages, hostile_run: dict[str, Any]) -> None:
    page = pages.open("/plugin/ingest/runs/{id}".format(**hostile_run))
    table = page.get_by_role("region", name="Failed rows")
    for name in ("sku", "name", "released"):
        header = table.get_by_role("columnheader", name=name, exact=True)
        expect(header).to_be_attached(timeout=PATIENCE)
        box = header.bounding_box()
        assert box is not None
        assert box["width"] < 200, name
