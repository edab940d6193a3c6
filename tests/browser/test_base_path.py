"""The pages below a path, as behind a proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PATIENCE, Pages
from tests.e2e.airflow_server import AirflowServer
from tests.e2e.second_server import second_api_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def behind(
    browser: Browser, airflow: AirflowServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AirflowServer]:
    home = tmp_path_factory.mktemp("behind")
    settings = {"AIRFLOW__INGEST__URL_PREFIX": "/imports/v1"}
    with second_api_server(airflow, home, base_path="/airflow", **settings) as server:
        yield server


def test_pages_links_and_downloads_stay_below_the_base_path(
    browser: Browser, behind: AirflowServer, failed_run: dict[str, Any]
) -> None:
    pages = Pages(browser, behind)
    page = pages.open("/plugin/ingest?importer=products")
    page.get_by_role("link", name=f"#{failed_run['id']}", exact=True).click()
    page.wait_for_url(f"**/airflow/plugin/ingest/runs/{failed_run['id']}")
    download = page.get_by_role("link", name="Download failed rows")
    expect(download).to_have_attribute(
        "href", f"/airflow/imports/v1/{failed_run['id']}/failed-rows/download", timeout=PATIENCE
    )
    with page.expect_download() as downloaded:
        download.click()
    assert downloaded.value.suggested_filename == f"products-run-{failed_run['id']}-failed-rows.csv"
    page.get_by_role("navigation", name="Ingest").get_by_role("link", name="Importers").click()
    page.wait_for_url("**/airflow/plugin/ingest/importers")
    expect(page.get_by_role("link", name="products", exact=True)).to_be_visible(timeout=PATIENCE)
    assert pages.close() == []
