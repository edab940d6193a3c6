"""A file of any format through the engine into a table of a real database, as the tasks of a run take it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from airflow_provider_ingest.engine.work import work_chunk
from airflow_provider_ingest.formats import plan_file
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.operators.contested import batches_of
from airflow_provider_ingest.runs.records import NewRun
from airflow_provider_ingest.runs.summary import event_of
from airflow_provider_ingest.storage.files import Staging
from airflow_provider_ingest.targets import open_target
from airflow_provider_ingest.testing.memory_store import MemoryStore

NO_FAILURES: dict[int, dict[str, Any]] = {}


class Imported(NamedTuple):
    """Rows written, and what each failed row says: messages by field."""

    written: int
    failed: dict[int, dict[str, Any]]


def execute(url: str, statement: str) -> list[tuple[Any, ...]]:
    """The rows that a statement gives, committed."""
    engine = sa.create_engine(
        url.partition("?local_infile")[0].replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool
    )
    with engine.begin() as connection:
        result = connection.exec_driver_sql(statement)
        return [tuple(row) for row in result] if result.returns_rows else []


def import_file(url: str, config: IngestConfig, file: Path, folder: Path) -> Imported:
    """Import a file, in one chunk."""
    target, store, staging = open_target(url, config), MemoryStore(), Staging(str(folder / "staging"))
    run = store.create_run(NewRun(key=str(uuid4()), importer="things", dag_id="ingest_things", dag_run_id=str(file)))
    plan = plan_file(file, options={}, chunk_rows=1_000, scratch=folder)
    store.record_plan(run.id, plan.chunks)
    for chunk in plan.chunks:
        batches = batches_of(plan.reader, chunk, staging)
        work_chunk(
            config=config, run=event_of(run), run_key=run.key, chunk=chunk, batches=batches, store=store, target=target
        )
    failed = {row.row_number: row.errors for batch in store.failed_rows(run.id) for row in batch if row.errors}
    counts = store.get_run(run.id).counts
    return Imported(
        counts.created + counts.updated + counts.skipped,
        {number: one["validation"] or one["message"] for number, one in failed.items()},
    )
