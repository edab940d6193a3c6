"""Names as long as they may be are cut, and push nothing out of the window; nor do the messages of very many fields."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.pages import API, PATIENCE, Pages, loaded, outside, overflow
from tests.e2e.airflow_server import AirflowServer

SLUG = "long_" + "s" * 190
FIELD = "x" * 200
FIELDS = [FIELD, *(f"field {n}" for n in range(1, 13))]
DAG_FILE = f"""
from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag
from airflow_provider_ingest.validators import RegexValidator
config = IngestConfig.for_("long_names", conn_id="demo_db").from_source(SourceType.UPLOAD)
for place, field in enumerate({FIELDS!r}):
    config = config.map_and_validate(field, f"c{{place}}", RegexValidator("^b$"))
dag = ingest_dag("{SLUG}", config)
"""


@pytest.fixture(scope="module")
def run_id(airflow: AirflowServer) -> Iterator[int]:
    """A run of an importer whose slug and field have long names."""
    file = Path(airflow.environment["AIRFLOW__CORE__DAGS_FOLDER"]) / "long_named_importer.py"
    file.write_text(DAG_FILE)
    airflow.change(f"CREATE TABLE long_names ({', '.join(f'c{n} TEXT' for n in range(len(FIELDS)))})")
    try:
        airflow.run_cli("dags", "reserialize")
        answer = airflow.post(
            f"{API}/upload/{SLUG}", files={"file": ("f" * 200 + ".csv", f"{','.join(FIELDS)}\n{'a,' * 12}a\n")}
        )
        run = answer.json()["data"]
        airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
        yield run["id"]
    finally:
        file.unlink()
        airflow.change("DROP TABLE long_names")
        airflow.run_cli("dags", "reserialize", check=False)


@pytest.mark.parametrize("width", [1280, 400])
def test_long_names_push_nothing_out_of_the_window(pages: Pages, run_id: int, width: int) -> None:
    page = pages.open(f"/plugin/ingest/runs/{run_id}", width=width)
    row = page.get_by_role("region", name="Failed rows").locator("[data-row]")
    expect(row).to_contain_text("and 3 more fields", timeout=PATIENCE)
    expect(row.locator("[data-offending]")).to_have_count(len(FIELDS))
    assert (overflow(page), outside(page)) == (0, [])
    pages.go(page, f"/plugin/ingest/importers/{SLUG}")
    loaded(page)
    table = page.get_by_role("region", name="Mappings")
    expect(table.get_by_title(FIELD)).to_be_visible(timeout=PATIENCE)
    assert (overflow(page), outside(page)) == (0, [])
    assert table.get_by_title(FIELD).bounding_box()["width"] < 300  # type: ignore[index]
