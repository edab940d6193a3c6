"""A viewer sees no button, and the server refuses what a button would have asked for."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages
from tests.e2e.airflow_server import AirflowServer


def test_a_viewer_of_a_run_can_download_and_nothing_else(
    pages: Pages, airflow: AirflowServer, failed_run: dict[str, Any]
) -> None:
    page = pages.open(f"/plugin/ingest/runs/{failed_run['id']}", "viewer")
    actions = page.get_by_role("group", name="Actions")
    expect(actions.get_by_role("link")).to_have_text(["Download failed rows"], timeout=PATIENCE)
    assert actions.get_by_role("button").count() == 0
    pages.go(page, f"/plugin/ingest/runs/{failed_run['id']}/fix")
    expect(page.get_by_text("You may not retry this run.")).to_be_visible(timeout=PATIENCE)
    for path in (f"{failed_run['id']}/retry", f"{failed_run['id']}/cancel", "trigger/customers", "upload/products"):
        answer = page.request.post(f"{airflow.url}{API}/{path}", headers={"Origin": airflow.url})
        assert answer.status == 403, path


def test_a_viewer_starts_nothing(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/importers/customers", "viewer")
    expect(page.get_by_role("link", name="Template")).to_be_visible(timeout=PATIENCE)
    assert page.get_by_role("button", name="Start").count() == 0
    pages.go(page, "/plugin/ingest/upload")
    expect(page.get_by_text("There is no importer that you may upload to.")).to_be_visible(timeout=PATIENCE)


def test_a_user_may_retry(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open(f"/plugin/ingest/runs/{failed_run['id']}", "user")
    expect(page.get_by_role("button", name="Retry failed rows")).to_be_enabled(timeout=PATIENCE)
    assert page.get_by_role("button", name="Cancel").count() == 0
