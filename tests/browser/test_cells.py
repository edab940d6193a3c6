"""The escaping of corrected cells in the browser is that of the server, character for character."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from airflow_provider_ingest.service.cells import escape_cell, unescape_cell
from tests.browser.pages import API, Pages

MODULE = f"{API}/static/any/cells.js"
ODD = st.lists(
    st.sampled_from(["'", "=", "+", "-", "@", "\t", "\r", "\n", ",", ".", "1", "٣", "e", "E", '"', "ä", "", " "]),
    max_size=8,
)
TEXT = st.one_of(ODD.map("".join), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))


@pytest.fixture
def page(pages: Pages) -> Page:
    page = pages.blank()
    page.goto(pages.url(f"{API}/openapi.json"), wait_until="commit")
    return page


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXT, min_size=50, max_size=200))
def test_the_browser_escapes_as_the_server_does(page: Page, texts: list[str]) -> None:
    code = f"async texts => {{ const {{ escapeCell }} = await import('{MODULE}'); return texts.map(escapeCell) }}"
    escaped = page.evaluate(code, texts)
    assert escaped == [escape_cell(text) for text in texts]
    assert [unescape_cell(text) for text in escaped] == texts


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=st.lists(TEXT, min_size=1, max_size=4, unique=True), data=st.data())
def test_the_corrected_file_holds_the_very_values(page: Page, columns: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(TEXT, min_size=len(columns), max_size=len(columns)), min_size=1, max_size=5))
    sent = [{"number": n, "values": dict(zip(columns, row, strict=True))} for n, row in enumerate(rows, 1)]
    code = f"async a => {{ const {{ correctedCsv }} = await import('{MODULE}'); return correctedCsv(a[0], a[1]) }}"
    header, *lines = csv.reader(io.StringIO(page.evaluate(code, [columns, sent]), newline=""))
    assert [unescape_cell(name) for name in header] == [*columns, "_row_number"]
    assert [[*map(unescape_cell, cells), int(number)] for *cells, number in lines] == [
        [*row, n] for n, row in enumerate(rows, 1)
    ]
