"""A definition that is changed while a run is worked by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.operators.definition import (
    CHANGED,
    DEFINITION,
    check_definition,
    definition_of,
    warn_of_another_target,
)
from airflow_provider_ingest.runs.records import NewRun, RunRecord
from airflow_provider_ingest.testing.memory_store import MemoryStore
from airflow_provider_ingest.validators import RequiredValidator

GOODS = IngestConfig.for_("goods", conn_id="shop_db").from_source(SourceType.UPLOAD).map("sku", "sku")


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def run(store: MemoryStore) -> RunRecord:
    """A run that was planned with ``GOODS``."""
    new = store.create_run(NewRun(key="k", importer="goods", dag_id="ingest_goods", dag_run_id="r"))
    store.record_file(new.id, {"name": "goods.csv", DEFINITION: definition_of(GOODS, new)})
    return store.get_run(new.id)


def test_the_same_definition_is_nothing_to_speak_of(store: MemoryStore, run: RunRecord) -> None:
    check_definition(GOODS, run, store)
    assert store.warnings(run.id) == ()


def test_another_definition_of_the_same_target_is_a_warning_once(store: MemoryStore, run: RunRecord) -> None:
    for _ in range(2):
        check_definition(GOODS.map_and_validate("name", "name", RequiredValidator), run, store)
    assert store.warnings(run.id) == (CHANGED,)


@pytest.mark.parametrize(
    ("table", "conn_id"), [("wares", "shop_db"), ("goods", "other_db")], ids=["another table", "another database"]
)
def test_rows_do_not_go_to_another_target_than_those_before(
    store: MemoryStore, run: RunRecord, table: str, conn_id: str
) -> None:
    moved = IngestConfig.for_(table, conn_id=conn_id).from_source(SourceType.UPLOAD).map("sku", "sku")
    with pytest.raises(
        RunFailed, match=rf"from 'goods' of the connection 'shop_db' to '{table}' of '{conn_id}': the rest"
    ):
        check_definition(moved, run, store)


def test_an_importer_does_not_become_atomic_in_the_middle_of_a_run(store: MemoryStore, run: RunRecord) -> None:
    with pytest.raises(RunFailed, match="would be written in two ways"):
        check_definition(GOODS.atomic(), run, store)


def test_a_run_that_was_planned_before_definitions_were_kept_goes_on(store: MemoryStore, run: RunRecord) -> None:
    check_definition(GOODS.atomic(), replace(run, file={"name": "goods.csv"}), store)
    assert store.warnings(run.id) == ()


def test_a_retry_whose_rows_go_elsewhere_than_those_of_its_run_says_so(store: MemoryStore, run: RunRecord) -> None:
    new = NewRun(key="l", importer="goods", dag_id="ingest_goods", dag_run_id="s", retry_of=run.id)
    retry = store.create_run(new)
    warn_of_another_target(GOODS.chunk_size(5), retry, store)
    assert store.warnings(retry.id) == ()
    moved = IngestConfig.for_("wares", conn_id="shop_db").from_source(SourceType.UPLOAD).map("sku", "sku")
    warn_of_another_target(moved, retry, store)
    assert store.warnings(retry.id) == (
        f"Run {run.id} wrote its rows to 'goods' of the connection 'shop_db'; this retry of it writes to 'wares' of "
        "'shop_db', as the importer does now.",
    )
