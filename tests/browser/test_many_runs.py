"""Ten thousand runs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import OURS, PATIENCE, Pages, violations
from tests.e2e.airflow_server import AirflowServer

MANY = 10_000


@pytest.fixture
def crowd(airflow: AirflowServer, failed_run: dict[str, Any]) -> Iterator[str]:
    """Ten thousand copies of an ended run, started by a user of this name."""
    with closing(sqlite3.connect(airflow.home / "airflow.db", timeout=60)) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(ingest_runs)") if row[1] != "id"]
        values = {"key": "'crowd-' || n", "dag_run_id": "'crowd-' || n", "user_name": "'crowd'"}
        copied = ", ".join(values.get(column, f'"{column}"') for column in columns)
        names = ", ".join(f'"{column}"' for column in columns)
        with database:
            database.execute(
                f"WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY}) "
                f"INSERT INTO ingest_runs ({names}) SELECT {copied} FROM ingest_runs, numbers WHERE id = ?",
                (failed_run["id"],),
            )
        yield "crowd"
        with database:
            database.execute("DELETE FROM ingest_runs WHERE user_name = 'crowd'")


def test_ten_thousand_runs_are_paged(pages: Pages, crowd: str) -> None:
    page = pages.open(f"/plugin/ingest?user={crowd}")
    rows = page.get_by_role("table", name="Ingest runs").locator("tbody tr")
    expect(rows).to_have_count(25, timeout=PATIENCE)
    expect(page.get_by_text("Page 1 of 400")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Page 2 of 400")).to_be_visible(timeout=PATIENCE)
    assert "page=2" in page.url
    assert page.evaluate("document.activeElement.textContent") == "Next"
    assert violations(page) == []
    page.go_back()
    expect(page.get_by_text("Page 1 of 400")).to_be_visible(timeout=PATIENCE)
    pages.go(page, f"/plugin/ingest?user={crowd}&page=401")
    expect(page.get_by_text("There are fewer than 401 pages.")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="To the last page").click()
    expect(page.get_by_text("Page 400 of 400")).to_be_visible(timeout=PATIENCE)
    pages.go(page, f"/plugin/ingest?user={crowd}&page=400")
    expect(rows).to_have_count(25, timeout=PATIENCE)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    pages.go(page, "/")
    sums = re.compile(r"10,\d{3} runs · [\d,]+ rows? imported · [\d,]+ failed rows? left")
    expect(page.locator(OURS)).to_contain_text(sums, timeout=PATIENCE)
