"""Opening the pages as somebody, and looking at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.airflow_server import AirflowServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright

API = "/api/v1/ingest"
OURS = "[data-testid=ingest]"
WIDTHS = (1280, 800)
PATIENCE = 120_000
"""Milliseconds that a page may take on a busy machine before its test fails."""

SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

EXPECTED = "Failed to load resource"
"""What Chromium itself writes for every answer above 399: not a complaint of the pages."""


def launch(playwright: Playwright, executable: str) -> Browser:
    """A Chromium that talks to nobody but the pages' server."""
    return playwright.chromium.launch(executable_path=executable, args=SWITCHES)


class Pages:
    """The pages that a test has open."""

    def __init__(self, browser: Browser, airflow: AirflowServer) -> None:
        self._browser = browser
        self._airflow = airflow
        self._contexts: list[BrowserContext] = []
        self._complaints: list[str] = []

    def blank(self, user: str = "admin", *, scheme: str = "light", width: int = 1280) -> Page:
        """A page that is logged in and shows nothing yet."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            locale="en-GB",
            timezone_id="Europe/Lisbon",
        )
        self._contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": "_token", "value": self._airflow.token(user), "url": self._airflow.url}])
        page = context.new_page()
        page.on("pageerror", lambda error: self._complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                self._complaints.append(message.text)
                if message.type == "error" and EXPECTED not in message.text
                else None
            ),
        )
        return page

    def open(self, path: str, user: str = "admin", *, scheme: str = "light", width: int = 1280) -> Page:
        """A page of ours, shown and loaded."""
        page = self.blank(user, scheme=scheme, width=width)
        self.go(page, path)
        return page

    def url(self, path: str) -> str:
        """The whole address of a path of Airflow."""
        return self._airflow.url + path

    def go(self, page: Page, path: str) -> Locator:
        """Go to a path of Airflow, and give our part of it when nothing in it is loading any more."""
        page.goto(self.url(path), wait_until="commit")
        return loaded(page)

    def close(self) -> list[str]:
        """Close all; returns what was written to their consoles as an error."""
        for context in self._contexts:
            context.close()
        return self._complaints


def loaded(page: Page) -> Locator:
    """Our part of the page, when nothing in it is loading any more."""
    ours = page.locator(OURS).first
    ours.wait_for()
    page.wait_for_function(f"!document.querySelector('{OURS}')?.textContent.includes('Loading…')")
    return ours


def violations(page: Page) -> list[str]:
    """What axe finds in our part of the page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=OURS).response["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


def overflow(page: Page) -> int:
    """How many pixels the document is wider than its window: what has to be wide scrolls by itself."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width


OUTSIDE = """ours => [...document.querySelectorAll(`${ours} *`)].filter(node => {
  if (node.getBoundingClientRect().right <= innerWidth) return false;
  for (let box = node.parentElement; box && !box.matches(ours); box = box.parentElement)
    if (getComputedStyle(box).overflowX !== "visible") return false;
  return true;
}).map(node => node.outerHTML.slice(0, 150))"""


def outside(page: Page) -> list[str]:
    """What of our part of the page stands beyond the right edge of the window, and cannot be scrolled to by itself."""
    found: list[str] = page.evaluate(OUTSIDE, OURS)
    return found
