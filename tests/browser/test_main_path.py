"""From a file with mistakes to rows that are right, in the browser alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PATIENCE, Pages, loaded, violations
from tests.e2e.airflow_server import AirflowServer

RUN = re.compile(r"/plugin/ingest/runs/\d+$")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_file_is_uploaded_its_rows_are_mended_and_retried(pages: Pages, airflow: AirflowServer, scheme: str) -> None:
    letter = scheme[0].upper()
    good, bad = f"{letter}G-00001", f"{letter}B-00001"
    rest = "3,yes,01.02.2024"
    file = (
        "sku,name,category,price,stock,active,released,colour\n"
        f"{good},Spade,Garden,9.50,{rest},red\nnonsense,Rake,Gardening,=1+1,{rest},blue\n"
    )
    page = pages.open("/plugin/ingest/upload/products", scheme=scheme)

    page.get_by_label("File").set_input_files({"name": "tools.csv", "mimeType": "text/csv", "buffer": file.encode()})
    expect(page.get_by_role("heading", name="Read as csv")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("[data-column=sku]")).to_have_attribute("data-used", "true")
    expect(page.locator("[data-column=colour]")).to_contain_text("not used")
    expect(page.get_by_role("region", name="First rows")).to_contain_text("Spade")
    assert violations(page) == []

    page.get_by_role("button", name="Upload", exact=True).click()
    page.wait_for_url(RUN)
    expect(page.locator("[data-status=completed_with_errors]").first).to_be_visible(timeout=2 * PATIENCE)
    expect(page.locator("[data-offending]")).to_have_text(["nonsense", "Gardening", "=1+1"], timeout=PATIENCE)
    assert violations(page) == []

    page.get_by_role("link", name="Fix in place").click()
    sku = page.get_by_label("sku of row 2")
    expect(sku).to_have_attribute("aria-invalid", "true", timeout=PATIENCE)
    sku.fill(bad)
    page.get_by_label("category of row 2").fill("Garden")
    page.get_by_label("price of row 2").fill("12.00")
    expect(page.get_by_role("status")).to_have_text("3 cells changed in 1 row")
    assert violations(page) == []

    page.get_by_role("button", name="Retry with these corrections").click()
    page.wait_for_url(RUN)
    loaded(page)
    expect(page.locator("[data-status=completed]").first).to_be_visible(timeout=2 * PATIENCE)
    expect(page.get_by_text("retry of").first).to_be_visible()
    assert airflow.rows(f"SELECT name, price FROM products WHERE sku = '{bad}'") == [("Rake", 12)]
    assert airflow.rows(f"SELECT name FROM products WHERE sku = '{good}'") == [("Spade",)]


def test_a_start_of_an_importer_with_a_path_leads_to_its_run(pages: Pages) -> None:
    page = pages.open("/plugin/ingest/importers/customers")
    expect(page.get_by_label("Path of the file")).to_have_attribute("placeholder", "customers.csv")
    page.get_by_label("Path of the file").fill("no such file.csv")
    page.get_by_role("button", name="Dry run").click()
    page.wait_for_url(RUN)
    expect(page.locator("[data-status=failed]").first).to_be_visible(timeout=2 * PATIENCE)
    expect(page.get_by_role("alert").first).to_contain_text("no such file.csv")
