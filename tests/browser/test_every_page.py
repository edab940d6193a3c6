"""Every page in light and dark, wide and narrow: readable, reachable, inside its window."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PATIENCE, Pages, loaded, outside, overflow, violations

PAGES = {
    "runs": "/plugin/ingest",
    "run": "/plugin/ingest/runs/{id}",
    "fix": "/plugin/ingest/runs/{id}/fix",
    "importers": "/plugin/ingest/importers",
    "importer": "/plugin/ingest/importers/orders",
    "upload": "/plugin/ingest/upload",
    "DAG": "/dags/ingest_products/plugin/ingest-dag",
    "DAG run": "/dags/ingest_products/runs/{dag_run_id}/plugin/ingest-run",
    "dashboard": "/",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_in_light_and_dark_and_fits_a_narrow_window(
    pages: Pages, failed_run: dict[str, Any], name: str
) -> None:
    page = pages.open(PAGES[name].format(**failed_run))
    assert violations(page) == []
    assert overflow(page) <= 0
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_class("dark", timeout=PATIENCE)
    assert violations(page) == []
    page.set_viewport_size({"width": 800, "height": 900})
    loaded(page)
    assert overflow(page) <= 0


@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"DAG", "DAG run"}))
def test_a_page_keeps_within_the_window_of_a_telephone(pages: Pages, failed_run: dict[str, Any], name: str) -> None:
    page = pages.blank(width=400)
    pages.go(page, PAGES[name].format(**failed_run))
    page.wait_for_load_state("networkidle")
    assert outside(page) == []


LIGHTNESS = """(body, name) => {
  const box = [...body.querySelectorAll("p")].find(one => one.textContent.endsWith(` ${name}`)).previousElementSibling;
  const page = document.createElement("div");
  page.style.color = "var(--chakra-colors-bg)";
  body.append(page);
  const look = getComputedStyle(box);
  const edge = look.outlineStyle === "none" ? look.backgroundColor : look.outlineColor;
  return [edge, getComputedStyle(page).color].map(shade => {
    const pixel = document.createElement("canvas").getContext("2d");
    pixel.fillStyle = shade;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3).reduce((sum, part) => sum + part) / 3;
  });
}"""
"""How light the edge of a count's colour and the page are, from 0 to 255."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_key_of_the_counts_stands_out_from_the_page(pages: Pages, failed_run: dict[str, Any], scheme: str) -> None:
    page = pages.open(PAGES["run"].format(**failed_run), scheme=scheme)
    expect(page.get_by_text("0 unprocessed")).to_be_visible(timeout=PATIENCE)
    box, behind = page.locator("body").evaluate(LIGHTNESS, "unprocessed")
    assert abs(box - behind) > 60


def test_the_tab_of_a_dag_shows_its_importer_and_runs(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open(PAGES["DAG"])
    expect(page.get_by_role("heading", name="products", exact=True).last).to_be_visible()
    expect(page.get_by_role("link", name=f"#{failed_run['id']}", exact=True)).to_be_visible(timeout=PATIENCE)


def test_the_tab_of_a_dag_run_shows_its_run(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open(PAGES["DAG run"].format(**failed_run))
    expect(page.get_by_role("heading", name=f"Run #{failed_run['id']}")).to_be_visible(timeout=PATIENCE)


def test_a_page_names_itself_in_the_browser(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open("/plugin/ingest")
    expect(page).to_have_title("Runs - Airflow")
    page.get_by_role("link", name=f"#{failed_run['id']}", exact=True).click()
    expect(page).to_have_title(f"Run #{failed_run['id']} - Airflow")
    page.get_by_role("navigation", name="Ingest").get_by_role("link", name="Importers").click()
    expect(page).to_have_title("Importers - Airflow")
    page.get_by_test_id("nav-home-link").click()
    expect(page).to_have_title("Home - Airflow")
    page.get_by_role("link", name="Ingest", exact=True).click()
    expect(page).to_have_title("Runs - Airflow")


@pytest.mark.parametrize("dag_id", ["starts_numbers", "ingest_prune"])
def test_dags_without_an_importer_have_a_quiet_tab(pages: Pages, dag_id: str) -> None:
    page = pages.open(f"/dags/{dag_id}/plugin/ingest-dag")
    expect(page.get_by_text("This DAG has no importer.")).to_be_visible(timeout=PATIENCE)
    assert page.get_by_role("alert").count() == 0


def test_an_unknown_run_and_an_unknown_page_say_so(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/runs/999999999")
    expect(page.get_by_role("alert")).to_contain_text("999999999", timeout=PATIENCE)
    pages.go(page, "/plugin/ingest/nowhere")
    expect(page.get_by_text("There is no such page.")).to_be_visible(timeout=PATIENCE)


def test_a_message_shows_its_rows_only(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open(PAGES["run"].format(**failed_run))
    table = page.get_by_role("region", name="Failed rows")
    expect(table.locator("[data-row]")).to_have_count(25, timeout=PATIENCE)
    bar = page.get_by_role("group", name="By field").get_by_role("button", name="price")
    bar.focus()
    page.keyboard.press("Enter")
    expect(bar).to_have_attribute("aria-pressed", "true")
    expect(table.locator("[data-row]")).to_have_count(12, timeout=PATIENCE)
    page.get_by_role("button", name="Show all").click()
    expect(table.locator("[data-row]")).to_have_count(25, timeout=PATIENCE)


def test_filters_are_in_the_address_and_can_be_cleared(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open("/plugin/ingest?importer=products&status=completed_with_errors")
    expect(page.get_by_label("Importer", exact=True)).to_have_value("products")
    expect(page.get_by_role("link", name=f"#{failed_run['id']}", exact=True)).to_be_visible(timeout=PATIENCE)
    page.get_by_role("search").get_by_label("User").fill("nobody")
    expect(page.get_by_text("No run matches these filters.")).to_be_visible(timeout=PATIENCE)
    assert "user=nobody" in page.url
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_role("link", name=f"#{failed_run['id']}", exact=True)).to_be_visible(timeout=PATIENCE)
