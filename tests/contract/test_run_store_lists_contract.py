"""What every run store keeps to: lists of runs, families and importers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import RunFilter, RunTotals
from airflow_provider_ingest.runs.status import OPEN, TERMINAL, RunStatus
from tests.contract.factories import ended_run, new_run, planned_run

DAY = timedelta(days=1)


def test_runs_are_listed_newest_first_in_pages(store: RunStore) -> None:
    ids = [store.create_run(new_run()).id for _ in range(5)]
    first, last = store.list_runs(RunFilter(), 1, 2), store.list_runs(RunFilter(), 3, 2)
    assert [run.id for run in first.items] == [ids[4], ids[3]]
    assert [run.id for run in last.items] == [ids[0]]
    assert (first.total, first.last, last.number, last.size) == (5, 3, 3, 2)
    assert store.list_runs(RunFilter(), 9, 2).items == ()


def test_runs_are_filtered(store: RunStore) -> None:
    products = store.create_run(new_run("products", user_name="ann"))
    orders = ended_run(store, importer="orders", user_name="bob")

    def listed(**values: Any) -> set[int]:
        return {run.id for run in store.list_runs(RunFilter(**values), 1, 50).items}

    assert listed(importer="orders") == {orders.id}
    assert listed(importers=frozenset({"products"})) == {products.id}
    assert listed(importers=frozenset()) == set()
    assert listed(importer="orders", importers=frozenset({"products"})) == set()
    assert listed(statuses=OPEN) == {products.id}
    assert listed(statuses=TERMINAL) == {orders.id}
    assert listed(user_name="ann") == {products.id}
    assert listed(dag_run_id=orders.dag_run_id) == {orders.id}
    assert listed(started_after=orders.started_at) == {orders.id}
    assert listed(started_before=orders.started_at) == {products.id}


def test_a_family_of_retries_is_listed_with_its_root(store: RunStore) -> None:
    root = ended_run(store, RunStatus.COMPLETED_WITH_ERRORS)
    retry = ended_run(store, RunStatus.COMPLETED_WITH_ERRORS, retry_of=root.id, root_run=root.id)
    last = store.create_run(new_run(retry_of=retry.id, root_run=root.id))
    store.create_run(new_run())
    listed = store.list_runs(RunFilter(root_run=root.id), 1, 50).items
    assert [run.id for run in listed] == [last.id, retry.id, root.id]


def test_each_row_counts_once_in_the_totals_however_often_it_was_tried(store: RunStore) -> None:
    def worked(counts: Counts, **values: Any) -> int:
        run = planned_run(store, counts.processed, **values)
        store.start_chunk(run.id, 0)
        store.finish_chunk(run.id, 0, ChunkOutcome(counts=counts))
        store.change_status(run.id, RunStatus.FAILED)
        return run.id

    worked(Counts(created=8, failed=2), is_dry_run=True)
    assert store.totals(RunFilter()) == RunTotals(runs=1, imported=0, failed=0)
    first = worked(Counts(created=5, skipped=1, failed=4))
    worked(Counts(created=4), retry_of=first, root_run=first, is_dry_run=True)
    assert store.totals(RunFilter()) == RunTotals(runs=3, imported=5, failed=4)
    second = worked(Counts(created=1, updated=1, skipped=1, failed=1), retry_of=first, root_run=first)
    assert store.totals(RunFilter()) == RunTotals(runs=4, imported=7, failed=1)
    worked(Counts(updated=1), retry_of=second, root_run=first)
    worked(Counts(updated=4), retry_of=first, root_run=first)
    worked(Counts(created=1, failed=1), importer="orders")
    assert store.totals(RunFilter()) == RunTotals(runs=7, imported=13, failed=1)
    assert store.totals(RunFilter(importer="orders")) == RunTotals(runs=1, imported=1, failed=1)
    assert store.totals(RunFilter(importers=frozenset())) == RunTotals(runs=0, imported=0, failed=0)


def test_importers_with_runs_are_known(store: RunStore) -> None:
    for slug in ("products", "customers", "products"):
        store.create_run(new_run(slug))
    assert tuple(store.importers()) == ("customers", "products")


def test_the_latest_run_of_each_importer_is_found(store: RunStore) -> None:
    store.create_run(new_run("products"))
    newest = store.create_run(new_run("products"))
    orders = store.create_run(new_run("orders"))
    assert store.latest_runs(["products", "orders", "customers"]) == {"products": newest, "orders": orders}
    assert store.latest_runs([]) == {}


def test_the_rejects_of_the_newest_runs_of_each_importer_are_found(store: RunStore) -> None:
    for importer in ("products", "products", "products", "orders"):
        planned_run(store, 4, 3, importer=importer)
    worked, other = planned_run(store, 4, 3), planned_run(store, 4, 3, importer="orders")
    for index, failed in enumerate((1, 2)):
        store.start_chunk(worked.id, index)
        store.finish_chunk(worked.id, index, ChunkOutcome(counts=Counts(created=3 - index, failed=failed)))
    found = store.recent_rejects(["products", "orders", "customers"], most=3)
    assert set(found) == {"orders", "products"}
    assert [(run.processed, run.failed, run.rate) for run in found["products"]] == [(8, 3, 0.375), *[(0, 0, None)] * 2]
    assert found["products"][0].run_id == worked.id
    assert found["orders"][0].run_id == other.id
    assert len(found["orders"]) == 2
    assert store.recent_rejects([]) == {}
