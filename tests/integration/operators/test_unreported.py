"""Chunks that committed and did not report, because they were killed in between."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path

import pytest

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.engine.work import work_chunk
from airflow_provider_ingest.formats import plan_file
from airflow_provider_ingest.operators.contested import batches_of
from airflow_provider_ingest.operators.unreported import report_committed_chunks
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.records import NewRun, RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.runs.summary import event_of
from airflow_provider_ingest.storage.files import Staging
from airflow_provider_ingest.targets import open_target
from airflow_provider_ingest.testing.memory_store import MemoryStore

GOODS = IngestConfig.for_("goods", conn_id="shop").from_source(SourceType.UPLOAD).map("sku", "sku").chunk_size(2)


class Killed(BaseException):
    """The end of a process."""


class MortalStore(MemoryStore):
    """A store whose caller is killed as it reports its second chunk, once."""

    is_mortal = True

    def finish_chunk(self, run_id: int, index: int, outcome: ChunkOutcome) -> None:
        if index == 1 and self.is_mortal:
            self.is_mortal = False
            raise Killed
        super().finish_chunk(run_id, index, outcome)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The target's database, known to Airflow as ``shop``."""
    database = tmp_path / "shop.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE goods (sku TEXT)")
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", f'{{"conn_type": "sqlite", "host": "{database}"}}')
    return database


def worked(shop: Path, store: MemoryStore, folder: Path, *chunks: int) -> RunRecord:
    """A run of six rows in three chunks, of which some were worked."""
    with (folder / "goods.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("sku",), *((f"A-{number}",) for number in range(6))])
    run = store.create_run(NewRun(key="key", importer="goods", dag_id="ingest_goods", dag_run_id="one"))
    store.change_status(run.id, RunStatus.PROCESSING)
    plan = plan_file(folder / "goods.csv", options={}, chunk_rows=2, scratch=folder)
    store.record_plan(run.id, plan.chunks)
    for index in chunks:
        work_chunk(
            config=GOODS,
            run=event_of(run),
            run_key=run.key,
            chunk=plan.chunks[index],
            batches=batches_of(plan.reader, plan.chunks[index], Staging(str(folder / "staging"))),
            store=store,
            target=open_target(f"sqlite:///{shop}", GOODS),
        )
    return store.get_run(run.id)


def test_a_chunk_that_was_killed_between_its_commit_and_its_report_is_counted(shop: Path, tmp_path: Path) -> None:
    store = MortalStore()
    with pytest.raises(Killed):
        worked(shop, store, tmp_path, 0, 1)
    run = store.get_run(1)
    assert (run.chunks_done, run.counts.created) == (1, 2)
    report_committed_chunks(GOODS, run, store)
    run = store.get_run(1)
    assert (run.chunks_done, run.counts.created, run.progress.unprocessed) == (2, 4, 2)
    with sqlite3.connect(shop) as connection:
        assert connection.execute("SELECT count(*) FROM goods").fetchone() == (4,)


def test_a_chunk_that_began_and_did_not_commit_stays_undone(shop: Path, tmp_path: Path) -> None:
    store = MemoryStore()
    run = worked(shop, store, tmp_path, 0)
    store.start_chunk(run.id, 1)
    report_committed_chunks(GOODS, run, store)
    assert [chunk.outcome is not None for chunk in store.chunks(run.id)] == [True, False, False]


def test_a_target_that_is_gone_does_not_keep_the_run_from_its_end(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    run = worked(shop, store, tmp_path, 0)
    store.start_chunk(run.id, 1)
    monkeypatch.delenv("AIRFLOW_CONN_SHOP")
    report_committed_chunks(GOODS, run, store)
    assert store.get_run(run.id).chunks_done == 1
