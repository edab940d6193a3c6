"""Duplicate keys give what working the file row by row would give, whatever the order in which chunks end."""

from __future__ import annotations

import csv
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest import DuplicateStrategy, IngestConfig, SourceType
from airflow_provider_ingest.engine.plan import compile_plan
from airflow_provider_ingest.engine.work import work_chunk
from airflow_provider_ingest.formats import plan_file
from airflow_provider_ingest.operators.contested import batches_of, is_contested, needs_order, set_contested_apart
from airflow_provider_ingest.runs.records import NewRun
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.runs.summary import event_of
from airflow_provider_ingest.storage.files import Staging
from airflow_provider_ingest.targets import open_target
from airflow_provider_ingest.testing.memory_store import MemoryStore

ROWS = st.lists(
    st.tuples(st.sampled_from([" a", "a", "b", "c", "d", ""]), st.sampled_from(["1", "2", "3", "x"])),
    min_size=1,
    max_size=14,
)


def importer(strategy: DuplicateStrategy, chunk_rows: int) -> IngestConfig:
    return (
        IngestConfig.for_("stock", conn_id="shop")
        .from_source(SourceType.UPLOAD)
        .map_and_transform("sku", "sku", lambda value: value.strip() or None)
        .map("amount", "amount")
        .keyed_by("sku", on_duplicate=strategy)
        .chunk_size(chunk_rows)
    )


def work(
    folder: Path, config: IngestConfig, rows: list[tuple[str, str]], backwards: bool, column: str = "TEXT"
) -> tuple:
    """Plan and work a file as the tasks do; gives the counts, the failed rows and the table."""
    folder.mkdir()
    with (folder / "stock.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("sku", "amount"), *rows])
    database = folder / "shop.db"
    with sqlite3.connect(database) as shop:
        shop.execute(f"CREATE TABLE stock (sku {column} NOT NULL UNIQUE, amount INTEGER)")
    target, store, staging = (
        open_target(f"sqlite:///{database}", config),
        MemoryStore(),
        Staging(str(folder / "staging")),
    )
    run = store.create_run(NewRun(key="key", importer="stock", dag_id="ingest_stock", dag_run_id="one"))
    store.change_status(run.id, RunStatus.PROCESSING)
    plan = plan_file(folder / "stock.csv", options={}, chunk_rows=config.chunk_rows, scratch=folder)
    chunks = plan.chunks
    if needs_order(config, chunks):
        compiled = compile_plan(config, target.shape())
        chunks = set_contested_apart(config, compiled, plan, staging, staging.temp(run.key, "keys"))
    assert sum(chunk.rows for chunk in chunks) == plan.rows
    store.record_plan(run.id, chunks)
    ordered = [chunk for chunk in chunks if not is_contested(chunk)]
    last = [chunk for chunk in chunks if is_contested(chunk)]
    for chunk in [*(reversed(ordered) if backwards else ordered), *last]:
        work_chunk(
            config=config,
            run=event_of(run),
            run_key=run.key,
            chunk=chunk,
            batches=batches_of(plan.reader, chunk, staging),
            store=store,
            target=target,
        )
    failed = {row.row_number: row.errors["code"] for batch in store.failed_rows(run.id) for row in batch}
    with sqlite3.connect(database) as shop:
        table = shop.execute("SELECT sku, amount FROM stock ORDER BY sku").fetchall()
    return store.get_run(run.id).counts, failed, table


@pytest.mark.parametrize(
    "strategy", [DuplicateStrategy.UPDATE, DuplicateStrategy.SKIP, DuplicateStrategy.FAIL], ids=str
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, chunk_rows=st.integers(1, 6))
def test_chunks_in_reverse_order_give_what_one_chunk_gives(tmp_path_factory, strategy, rows, chunk_rows):
    folder = tmp_path_factory.mktemp("runs")
    whole = work(folder / "whole", importer(strategy, len(rows)), rows, backwards=False)
    chunked = work(folder / "chunked", importer(strategy, chunk_rows), rows, backwards=True)
    assert chunked == whole


def test_whoever_promises_unique_keys_is_spared_the_search(tmp_path):
    config = importer(DuplicateStrategy.UPDATE, 1)
    (tmp_path / "stock.csv").write_text("sku,amount\na,1\na,2\n")
    plan = plan_file(tmp_path / "stock.csv", options={}, chunk_rows=1, scratch=tmp_path)
    assert needs_order(config, plan.chunks)
    assert not needs_order(replace(config, key=replace(config.key, assume_unique=True)), plan.chunks)


@pytest.mark.parametrize("strategy", list(DuplicateStrategy)[:3])
def test_keys_that_the_column_calls_equal_are_worked_in_order_too(tmp_path, strategy):
    config = importer(strategy, 2)
    rows = [("Ab", "1"), ("ü", "2"), ("aB", "3"), ("d", "4")]
    ends = [work(tmp_path / str(way), config, rows, bool(way), "TEXT COLLATE NOCASE") for way in range(2)]
    assert ends[0] == ends[1]
    assert ("Ab", 3 if strategy is DuplicateStrategy.UPDATE else 1) in ends[0][-1]
