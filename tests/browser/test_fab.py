"""The pages under FAB's auth manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.pages import PATIENCE, Pages, violations
from tests.e2e.fab_server import fab_server

if TYPE_CHECKING:
    import pytest
    from playwright.sync_api import Browser


def test_the_pages_are_the_same_under_fab_and_its_status_tables_need_no_second_login(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with fab_server(tmp_path_factory.mktemp("fab")) as (server, runs):
        pages = Pages(browser, server)
        page = pages.open(f"/plugin/ingest/runs/{runs['products']}")
        expect(page.get_by_role("button", name="Retry failed rows")).to_be_enabled(timeout=PATIENCE)
        expect(page.get_by_role("region", name="Failed rows")).to_be_visible(timeout=PATIENCE)
        assert violations(page) == []
        pages.go(page, "/plugin/ingest")
        expect(page.get_by_role("link", name=f"#{runs['products']}", exact=True)).to_be_visible(timeout=PATIENCE)
        assert pages.close() == []

        tables = Pages(browser, server)
        page = tables.blank()
        page.goto(tables.url("/pluginsv2/ingest-runs/list/"))
        expect(page.get_by_role("cell", name="products.csv")).to_be_visible(timeout=PATIENCE)
        page.get_by_role("link", name=str(runs["products"]), exact=True).click()
        expect(page.get_by_role("heading", name="Logged rows")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("cell", name="The given data was invalid.").first).to_be_visible(timeout=PATIENCE)
        tables.close()  # not asked for complaints: FAB's own script misses moment.js on pages below /pluginsv2
