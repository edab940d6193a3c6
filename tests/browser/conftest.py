"""Airflow's UI in a Chromium, with the pages in it, against a real API server and scheduler."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.pages import API, Pages, launch
from tests.e2e.airflow_server import AirflowServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")

CATALOGUE = "sku,name,category,price,stock,active,released\n" + "".join(
    f"{'nonsense' if n % 3 == 0 else f'BR-{n:05}'},Tool {n},{'Gardening' if n % 4 == 0 else 'Garden'},"
    f"{'=1+1' if n % 5 == 0 else '9.50'},3,yes,01.02.2024\n"
    for n in range(1, 61)
)
"""Sixty products of which 36 fail: by their SKU, category or price, or several of these."""


def find_chromium() -> str:
    """Path of a Chromium, empty if there is none; ``INGEST_TEST_CHROMIUM`` names one."""
    return os.environ.get("INGEST_TEST_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs a Chromium and a whole Airflow."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium; the tests are skipped where there is none."""
    found = find_chromium()
    if not found:
        pytest.skip(f"There is none of {', '.join(CHROMIUMS)} here; on Debian: apt-get install chromium.")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser for the tests of a module; each page has a context of its own.

    Not for the whole session: Playwright keeps an event loop running in this thread, and other tests need their own.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launch(playwright, chromium)
        yield browser
        browser.close()


@pytest.fixture
def pages(chromium: str, browser: Browser, airflow: AirflowServer) -> Iterator[Pages]:
    """Opens pages as a user; at the end no page may have complained."""
    opened = Pages(browser, airflow)
    yield opened
    complaints = opened.close()
    assert not complaints, complaints


@pytest.fixture(scope="session")
def failed_run(chromium: str, airflow: AirflowServer) -> dict[str, Any]:
    """An ended run of :data:`CATALOGUE`."""
    answer = airflow.post(f"{API}/upload/products", files={"file": ("catalogue.csv", CATALOGUE)})
    assert answer.status_code == 202, answer.text
    run = answer.json()["data"]
    airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    ended: dict[str, Any] = airflow.get(f"{API}/{run['id']}").json()["data"]
    assert ended["progress"]["failed"] == 36, json.dumps(ended["progress"])
    return ended
