from __future__ import annotations

import csv
import io

import pytest

from airflow_provider_ingest.service import RowPaging
from airflow_provider_ingest.service.resources import importer_resource, run_resource
from tests.unit.service.world import INVALID, World


@pytest.fixture
def world() -> World:
    return World()


def test_the_error_summary_counts_general_and_validation_messages(world: World) -> None:
    assert world.service.error_summary(world.ended(failed=2).id).to_dict() == {
        "total_failed_rows": 2,
        "error_summary": [{"message": INVALID, "count": 2}],
        "validation_summary": [{"message": "sku: is required", "count": 2}],
    }


def test_a_run_that_logs_no_rows_has_none_to_show(world: World) -> None:
    world.catalog.known["products"]["row_log"] = "none"
    run = world.ended(log=False)
    assert world.service.rows(run, RowPaging()) is None


def test_rows_are_paged(world: World) -> None:
    page = world.service.rows(world.ended(failed=5), RowPaging(page=2, per_page=2, status="failed"))
    assert page is not None
    assert [row.row_number for row in page.items] == [3, 4]
    assert page.total == 5


def test_a_run_resource_has_times_in_utc_with_microseconds_and_hides_the_storage(world: World) -> None:
    run = world.started()
    world.store.record_file(
        run.id, {"name": "a.csv", "size": 3, "reference": "ingest-uploads/x/a.csv", "encoding": "utf-8"}
    )
    resource = run_resource(world.service.run(run.id))
    assert resource["started_at"] == "2026-01-31T12:00:00.000000Z"
    assert resource["completed_at"] is None
    assert resource["file"]["facts"] == {"encoding": "utf-8"}
    assert "ingest-uploads" not in str(resource)


def test_an_importer_resource_says_what_a_start_may_name(world: World) -> None:
    resource = importer_resource(world.service.importer("orders"), None)
    assert (resource["source"]["takes_path"], resource["source"]["default_path"]) == (True, "in/orders.csv")
    assert (resource["is_paused"], resource["last_run"]) == (False, None)


def test_a_template_has_the_fields_in_order_and_an_example(world: World) -> None:
    header, example = csv.reader(io.StringIO(world.service.template("products").decode()))
    assert header == ["sku", "price"]
    assert len(example) == 2


def test_an_open_run_tells_why_nobody_works_on_it(world: World) -> None:
    ended, run = world.ended(), world.started()
    assert world.service.standstill(run) is None
    world.launcher.obstacles[run.id] = world.launcher.obstacles[ended.id] = "Its tasks wait for a pool without slots."
    assert world.service.standstill(run) == "Its tasks wait for a pool without slots."
    world.catalog.known["products"]["dag"]["is_paused"] = True
    assert world.service.standstill(run) == "The DAG 'ingest_products' is paused; the run goes on when it is unpaused."
    assert world.service.standstill(ended) is None
    del world.catalog.known["products"]
    assert str(world.service.standstill(run)).startswith("The DAG 'ingest_products' is not there: it was removed, or")
