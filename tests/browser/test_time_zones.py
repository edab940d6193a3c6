"""Times and days are those of the zone chosen in Airflow's own menu, written as Airflow writes them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PATIENCE, Pages

CHOOSE = """zone => {
  localStorage.setItem("timezone", JSON.stringify(zone));
  dispatchEvent(new StorageEvent("local-storage", { key: "timezone" }));
}"""
"""What Airflow's menu does."""


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/St_Johns"])
def test_a_moment_follows_the_chosen_zone_at_once(pages: Pages, failed_run: dict[str, Any], zone: str) -> None:
    page = pages.open(f"/plugin/ingest/runs/{failed_run['id']}")
    page.evaluate(CHOOSE, zone)
    started = datetime.fromisoformat(failed_run["started_at"]).astimezone(ZoneInfo(zone))
    shown = page.locator(f"time[datetime='{failed_run['started_at']}']").first
    expect(shown).to_have_text(f"{started:%Y-%m-%d %H:%M:%S}", timeout=PATIENCE)


@pytest.mark.parametrize(
    ("zone", "begins", "ends"),
    [
        ("Asia/Tokyo", "2026-02-27T15:00:00.000Z", "2026-02-28T15:00:00.000Z"),
        ("America/St_Johns", "2026-02-28T03:30:00.000Z", "2026-03-01T03:30:00.000Z"),
        ("UTC", "2026-02-28T00:00:00.000Z", "2026-03-01T00:00:00.000Z"),
    ],
)
def test_a_day_of_the_filters_is_one_of_the_chosen_zone(pages: Pages, zone: str, begins: str, ends: str) -> None:
    page = pages.open("/plugin/ingest")
    page.evaluate(CHOOSE, zone)
    with page.expect_request(lambda request: "started_after" in request.url) as asked:
        pages.go(page, "/plugin/ingest?after=2026-02-28&before=2026-02-28")
    url = asked.value.url.replace("%3A", ":")
    assert f"started_after={begins}" in url, url
    assert f"started_before={ends}" in url, url


def test_a_day_on_which_the_clock_changes_is_as_long_as_it_is(pages: Pages) -> None:
    page = pages.open("/plugin/ingest")
    page.evaluate(CHOOSE, "Europe/Berlin")
    with page.expect_request(lambda request: "started_after" in request.url) as asked:
        pages.go(page, "/plugin/ingest?after=2026-03-29&before=2026-03-29")
    url = asked.value.url.replace("%3A", ":")
    assert "started_after=2026-03-28T23:00:00.000Z" in url, url
    assert "started_before=2026-03-29T22:00:00.000Z" in url, url
