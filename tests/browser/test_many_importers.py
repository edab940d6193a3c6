"""Sixty importers, of which one is looked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages, violations
from tests.e2e.airflow_server import AirflowServer
from tests.e2e.waiting import wait_until

SUPPLIERS = 60

DAG_FILE = f"""
from shop_tables import Customer

from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag

config = IngestConfig.for_(Customer, conn_id="demo_db").from_source(SourceType.UPLOAD).map("email", "email")
config = config.map("name", "full_name").map("country", "country").keyed_by("email")
told = {{"dag_display_name": "Häusler & Söhne", "description": "Gardeners, each Monday"}}
for number in range(1, {SUPPLIERS} + 1):
    slug = f"supplier_{{number:02}}"
    globals()[slug] = ingest_dag(slug, config, **(told if number == 42 else {{}}))
"""


@pytest.fixture(scope="module")
def suppliers(airflow: AirflowServer, chromium: str) -> Iterator[int]:
    """Sixty more importers; gives how many there are with them."""
    file = airflow.home / "dags" / "suppliers.py"

    def listed() -> list[str]:
        return [one["slug"] for one in airflow.get(f"{API}/importers").json()["data"]]

    def all_are_there() -> bool:
        return sum(slug.startswith("supplier_") for slug in listed()) == SUPPLIERS

    file.write_text(DAG_FILE)
    wait_until(all_are_there, name="the suppliers", is_well=airflow.is_healthy, evidence=airflow.log_tail)
    yield len(listed())
    file.unlink()


def test_an_importer_is_found_by_slug_title_and_description_as_one_types(pages: Pages, suppliers: int) -> None:
    page = pages.open("/plugin/ingest/importers")
    rows = page.get_by_role("table", name="Importers").locator("tbody tr")
    found = page.get_by_role("search").get_by_role("status")
    expect(found).to_have_text(f"{suppliers} importers")
    search = page.get_by_label("Search")
    for text, wanted in (("ER_42", "supplier_42"), ("häusler", "Häusler & Söhne"), ("monday supplier", "Gardeners")):
        search.fill(text)
        expect(rows).to_have_count(1, timeout=PATIENCE)
        expect(rows).to_contain_text(wanted)
        expect(found).to_have_text(f"1 of {suppliers} importers")
    assert violations(page) == []


def test_a_search_is_in_the_address_and_is_left_by_the_keyboard(pages: Pages, suppliers: int) -> None:
    page = pages.open("/plugin/ingest/importers?search=supplier_4")
    rows = page.get_by_role("table", name="Importers").locator("tbody tr")
    expect(rows).to_have_count(10, timeout=PATIENCE)
    search = page.get_by_label("Search")
    expect(search).to_have_value("supplier_4")
    search.press("End")
    page.keyboard.type("x")
    expect(page.get_by_text("No importer matches this search.")).to_be_visible(timeout=PATIENCE)
    assert page.url.endswith("?search=supplier_4x")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(25, timeout=PATIENCE)
    expect(search).to_have_value("")
    assert page.url.endswith("/importers")


def test_the_pages_of_importers_add_up_and_begin_anew_with_another_search(pages: Pages, suppliers: int) -> None:
    page = pages.open("/plugin/ingest/importers?search=supplier")
    rows = page.get_by_role("table", name="Importers").locator("tbody tr")
    seen: list[str] = []
    for number, lines in ((1, 25), (2, 25), (3, 10)):
        expect(page.get_by_text(f"Page {number} of 3")).to_be_visible(timeout=PATIENCE)
        expect(rows).to_have_count(lines)
        seen += rows.get_by_role("link").filter(has_text="supplier_").all_inner_texts()
        if number < 3:
            page.get_by_role("button", name="Next").click()
    assert seen == [f"supplier_{number:02}" for number in range(1, SUPPLIERS + 1)]
    assert "page=3" in page.url
    page.get_by_label("Search").fill("supplier_1")
    expect(rows.first).to_contain_text("supplier_10", timeout=PATIENCE)
    assert page.url.endswith("?search=supplier_1")
    pages.go(page, "/plugin/ingest/importers?search=supplier&page=9")
    page.get_by_role("button", name="To the last page").click()
    expect(page.get_by_text("Page 3 of 3")).to_be_visible(timeout=PATIENCE)
