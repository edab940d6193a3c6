"""A run that was given up shows its failed rows, although it counts none of them, and promises no numbers."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages
from tests.e2e.airflow_server import AirflowServer


def test_a_run_that_was_given_up_shows_what_was_wrong(pages: Pages, airflow: AirflowServer) -> None:
    (airflow.home / "files" / "given-up.csv").write_text("sku,name,category,price\nbad,a,Toys,1\nworse,b,Toys,1\n")
    run = airflow.post(f"{API}/trigger/strict", json={"payload": "given-up.csv"}).json()["data"]
    airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    page = pages.open(f"/plugin/ingest/runs/{run['id']}")
    expect(page.get_by_role("alert")).to_contain_text("2 rows failed; the importer allows 1.", timeout=PATIENCE)
    expect(page.get_by_text("2 unprocessed")).to_be_visible()
    given_up = page.get_by_role("region", name="Rows of chunks that did not finish")
    expect(given_up.locator("[data-offending]")).to_have_text(["bad", "worse"], timeout=PATIENCE)
    assert page.get_by_role("heading", name="Errors").count() == 0
    assert page.get_by_role("group", name="Actions").count() == 0


def test_a_dry_run_that_was_given_up_foretells_nothing(pages: Pages, airflow: AirflowServer) -> None:
    (airflow.home / "files" / "given-up-dry.csv").write_text("sku,name,category,price\nbad,a,Toys,1\nworse,b,Toys,1\n")
    told = {}
    for importer in ("strict", "gated"):
        (airflow.home / "gate-open").touch()
        body = {"payload": "given-up-dry.csv", "dry_run": True}
        run = airflow.post(f"{API}/trigger/{importer}", json=body).json()["data"]
        airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
        page = pages.open(f"/plugin/ingest/runs/{run['id']}")
        expect(page.get_by_text("A dry run: nothing is kept.")).to_be_visible(timeout=PATIENCE)
        told[importer] = page.get_by_text("what a real run of this file would have given").count()
    assert told == {"strict": 0, "gated": 1}
