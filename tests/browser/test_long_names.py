"""Names that are as long as they may be are cut, and push nothing out of the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages, loaded, outside, overflow
from tests.e2e.airflow_server import AirflowServer

SLUG = "long_" + "s" * 190
FIELD = "x" * 200
DAG_FILE = f"""
from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag
config = IngestConfig.for_("customers", conn_id="demo_db").from_source(SourceType.UPLOAD).map("{FIELD}", "email")
dag = ingest_dag("{SLUG}", config)
"""


@pytest.fixture(scope="module")
def run_id(airflow: AirflowServer) -> Iterator[int]:
    """A run of an importer whose slug and field have long names."""
    file = Path(airflow.environment["AIRFLOW__CORE__DAGS_FOLDER"]) / "long_named_importer.py"
    file.write_text(DAG_FILE)
    try:
        airflow.run_cli("dags", "reserialize")
        answer = airflow.post(f"{API}/upload/{SLUG}", files={"file": ("f" * 200 + ".csv", f"{FIELD}\na\n")})
        run = answer.json()["data"]
        airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
        yield run["id"]
    finally:
        file.unlink()
        airflow.run_cli("dags", "reserialize", check=False)


@pytest.mark.parametrize("width", [1280, 400])
def test_long_names_push_nothing_out_of_the_window(pages: Pages, run_id: int, width: int) -> None:
    page = pages.open(f"/plugin/ingest/runs/{run_id}", width=width)
    expect(page.get_by_text("Task logs")).to_be_visible(timeout=PATIENCE)
    assert (overflow(page), outside(page)) == (0, [])
    pages.go(page, f"/plugin/ingest/importers/{SLUG}")
    loaded(page)
    table = page.get_by_role("region", name="Mappings")
    expect(table.get_by_title(FIELD)).to_be_visible(timeout=PATIENCE)
    assert (overflow(page), outside(page)) == (0, [])
    assert table.get_by_title(FIELD).bounding_box()["width"] < 300  # type: ignore[index]
