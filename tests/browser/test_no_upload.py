"""The upload page of an importer that nothing can be uploaded to."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PATIENCE, Pages, outside, violations

SENTENCES = {
    "orders": "The importer orders takes no uploads: it reads the file orders.csv on the disk demo_files.",
    "gated": "The importer gated takes no uploads: it reads a file that each run names on the disk demo_files.",
    "numbers": "The importer numbers takes no uploads: it reads from a source of its own.",
}


@pytest.mark.parametrize("slug", SENTENCES)
def test_it_says_what_the_importer_reads_and_leads_to_a_start(pages: Pages, slug: str) -> None:
    page = pages.open(f"/plugin/ingest/upload/{slug}", width=400)
    expect(page.get_by_text(SENTENCES[slug])).to_be_visible(timeout=PATIENCE)
    assert violations(page) == []
    assert outside(page) == []
    page.get_by_role("link", name="Start a run on its page").click()
    expect(page.get_by_role("button", name="Dry run")).to_be_visible(timeout=PATIENCE)
    assert page.url.endswith(f"/importers/{slug}")


def test_an_address_of_that_importer_still_leads_to_another(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/upload/orders")
    page.get_by_role("link", name="Upload to another importer").click()
    expect(page.get_by_label("Importer", exact=True)).to_be_visible(timeout=PATIENCE)


def test_an_unknown_importer_is_named(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/upload/nothing")
    expect(page.get_by_text("There is no importer nothing that you may see.")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("link", name="All importers").click()
    expect(page.get_by_role("table", name="Importers")).to_be_visible(timeout=PATIENCE)


def test_who_may_not_start_runs_is_told_so(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/upload/products", "viewer")
    expect(page.get_by_text("You may not start runs of the importer products.")).to_be_visible(timeout=PATIENCE)
    assert page.get_by_role("link", name="Start a run").count() == 0
    page.get_by_role("link", name="To its page").click()
    expect(page.get_by_role("heading", name="products", exact=True)).to_be_visible(timeout=PATIENCE)
