"""An API that is slow, fails, is gone, or wants a new login."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.pages import API, OURS, PATIENCE, Pages

LIST = re.compile(rf"{API}/\?")
RUN = "/plugin/ingest/runs/{id}"


@pytest.mark.usefixtures("failed_run")
def test_a_slow_answer_is_waited_for_in_sight(pages: Pages) -> None:
    page = pages.blank()
    held: list[Route] = []
    is_slow = True
    page.route(LIST, lambda route: held.append(route) if is_slow else route.continue_())
    page.goto(pages.url("/plugin/ingest"), wait_until="commit")
    expect(page.locator(OURS).get_by_role("status")).to_contain_text("Loading…", timeout=PATIENCE)
    is_slow = False
    for route in held:
        route.continue_()
    expect(page.get_by_role("table", name="Ingest runs")).to_be_visible(timeout=PATIENCE)


def test_a_server_that_is_gone_is_named_and_tried_again(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.blank()
    page.route(LIST, lambda route: route.abort())
    pages.go(page, "/plugin/ingest")
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.", timeout=PATIENCE)
    page.unroute(LIST)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("link", name=f"#{failed_run['id']}", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_totals_that_cannot_be_had_are_no_endless_loading_on_the_home_page(
    pages: Pages, failed_run: dict[str, Any]
) -> None:
    page = pages.blank()
    totals = re.compile(rf"{API}/totals")
    page.route(totals, lambda route: route.abort())
    pages.go(page, "/")
    expect(page.get_by_text("The server cannot be reached.")).to_be_visible(timeout=PATIENCE)
    page.unroute(totals)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text(re.compile(r"failed rows? left"))).to_be_visible(timeout=PATIENCE)


def test_what_was_shown_stays_when_the_server_fails(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open(RUN.format(**failed_run))
    summary = page.get_by_role("group", name="By field")
    expect(summary).to_be_visible(timeout=PATIENCE)
    page.route(
        re.compile(rf"{API}/\d+/retry"), lambda route: route.fulfill(status=502, body="<html>Bad gateway</html>")
    )
    page.get_by_role("button", name="Retry as dry run").click()
    expect(page.get_by_role("alert")).to_contain_text("The server answered 502.", timeout=PATIENCE)
    expect(summary).to_be_visible()
    expect(page.get_by_role("button", name="Retry as dry run")).to_be_enabled()


def test_a_refusal_is_shown_in_the_servers_words(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open(RUN.format(**failed_run))
    problem = {"title": "Conflict", "status": 409, "detail": "Run 7 is already retrying.", "code": "retry_running"}
    page.route(
        re.compile(rf"{API}/\d+/retry"),
        lambda route: route.fulfill(status=409, content_type="application/problem+json", body=json.dumps(problem)),
    )
    page.get_by_role("button", name="Retry failed rows").click()
    expect(page.get_by_role("alert")).to_contain_text("Run 7 is already retrying.", timeout=PATIENCE)


def test_an_upload_that_breaks_off_can_be_sent_again(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/upload/products")
    page.route(re.compile(f"{API}/upload/"), lambda route: route.abort())
    page.get_by_label("File").set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": b"sku\nx\n"})
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("The server cannot be reached.", timeout=PATIENCE)
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_enabled()


def test_an_answer_that_comes_late_does_not_overwrite_a_newer_page(pages: Pages, failed_run: dict[str, Any]) -> None:
    page = pages.open(RUN.format(**failed_run))
    held: list[Route] = []
    page.route(re.compile("rows_message=category"), lambda route: held.append(route))
    page.get_by_role("button", name="category").click()
    page.get_by_role("button", name="price").click()
    rows = page.get_by_role("region", name="Failed rows").locator("[data-row]")
    expect(rows).to_have_count(12, timeout=PATIENCE)
    for route in held:
        route.abort()
    expect(rows).to_have_count(12)


def test_who_is_logged_out_comes_to_the_login(pages: Pages) -> None:
    page = pages.open("/plugin/ingest")
    page.context.clear_cookies()
    page.get_by_role("search").get_by_label("User").fill("somebody")
    page.wait_for_url(re.compile("login"), wait_until="commit")
