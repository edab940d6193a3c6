"""Every action is reached with the keyboard alone, and shows that it is."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.pages import OURS, PATIENCE, Pages

FOCUSED = """() => {
  const node = document.activeElement;
  return node.closest('[data-testid=ingest]')
    ? (node.getAttribute('aria-label') || node.labels?.[0]?.textContent || node.textContent).trim()
    : null;
}"""


def tour(page: Page, steps: int) -> list[str]:
    """What gets the focus in our part of the page, tab by tab from its beginning."""
    page.locator(OURS).get_by_role("navigation", name="Ingest").get_by_role("link").first.focus()
    names = []
    for _ in range(steps):
        names.append(page.evaluate(FOCUSED))
        page.keyboard.press("Tab")
    return [name for name in names if name]


def test_all_filters_of_the_runs_are_reached(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open("/plugin/ingest")
    expect(page.get_by_role("table", name="Ingest runs")).to_be_visible(timeout=PATIENCE)
    names = tour(page, 25)
    for name in ("Runs", "Importers", "Upload", "Importer", "Status", "User", "From", "To", "Ingest runs"):
        assert name in names, names


def test_all_actions_of_a_run_are_reached(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open(f"/plugin/ingest/runs/{failed_run['id']}")
    expect(page.get_by_role("region", name="Failed rows")).to_be_visible(timeout=PATIENCE)
    names = tour(page, 30)
    for name in (
        "Retry failed rows",
        "Retry as dry run",
        "Fix in place",
        "Upload corrected rows",
        "Download failed rows",
        "Failed rows",
    ):
        assert name in names, names


def test_a_file_is_chosen_and_sent_without_a_mouse(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/upload")
    expect(page.get_by_label("Importer", exact=True)).to_be_visible(timeout=PATIENCE)
    names = tour(page, 8)
    for name in ("Importer", "File", "Dry run: check everything, keep nothing"):
        assert name in names, names
