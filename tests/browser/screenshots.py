"""Takes the pictures of the documentation: ``python -m tests.browser.screenshots`` writes them to ``docs/images``.

Starts an Airflow, imports two files and looks at the pages. ``INGEST_TEST_AIRFLOW`` names the home of an Airflow that
runs already.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import CATALOGUE, find_chromium
from tests.browser.pages import API, PATIENCE, Pages, launch
from tests.e2e.airflow_server import CHECKOUT, AirflowServer, running

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = CHECKOUT / "docs" / "images"


@contextmanager
def server() -> Iterator[AirflowServer]:
    """A running Airflow."""
    if home := os.environ.get("INGEST_TEST_AIRFLOW"):
        yield AirflowServer.attach(Path(home))
        return
    with tempfile.TemporaryDirectory(prefix="ingest-screenshots-") as place:
        yield from running(Path(place))


def seed(airflow: AirflowServer) -> dict[str, Any]:
    """Import the demo's products, then a catalogue with mistakes; returns the second run."""
    products = (CHECKOUT / "dags" / "data" / "products.csv").read_text()
    for name, content in (("products.csv", products), ("spring catalogue.csv", CATALOGUE)):
        run: dict[str, Any] = airflow.post(f"{API}/upload/products", files={"file": (name, content)}).json()["data"]
        airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    return run


def choose_file(page: Page) -> None:
    """Choose a file whose header has a slip."""
    content = CATALOGUE.replace("category", "categori", 1).encode()
    page.get_by_label("File").set_input_files({"name": "summer.csv", "mimeType": "text/csv", "buffer": content})
    expect(page.get_by_role("region", name="First rows")).to_be_visible(timeout=PATIENCE)


def show_rows(page: Page) -> None:
    """Wait for the rows of a run."""
    expect(page.get_by_role("region", name="Failed rows")).to_be_visible(timeout=PATIENCE)


def mend(page: Page) -> None:
    """Correct one cell."""
    page.get_by_label("sku of row 3", exact=True).fill("BR-00003")


def look(page: Page) -> None:
    """Wait for a table."""
    expect(page.locator("table").first).to_be_visible(timeout=PATIENCE)


SHOTS: dict[str, tuple[str, Callable[[Page], None], str, int]] = {
    "runs": ("/plugin/ingest", look, "light", 520),
    "run": ("/plugin/ingest/runs/{id}", show_rows, "light", 860),
    "fix": ("/plugin/ingest/runs/{id}/fix", mend, "light", 620),
    "upload": ("/plugin/ingest/upload/products", choose_file, "light", 860),
    "importer": ("/plugin/ingest/importers/orders", look, "dark", 860),
}
"""Name of the picture: path, what is done there, colours, height."""


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with server() as airflow, sync_playwright() as playwright:
        run = seed(airflow)
        browser = launch(playwright, find_chromium())
        pages = Pages(browser, airflow)
        for name, (path, act, scheme, height) in SHOTS.items():
            page = pages.open(path.format(**run), scheme=scheme)
            page.set_viewport_size({"width": 1280, "height": height})
            act(page)
            page.wait_for_timeout(500)  # transitions of the shell
            page.screenshot(path=IMAGES / f"{name}.png")
            print(IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
