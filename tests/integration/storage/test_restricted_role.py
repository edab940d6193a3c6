"""The run store as tasks have it on PostgreSQL: a role with the rights that the setup message grants, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import ProgrammingError

from airflow_provider_ingest.bootstrap import NO_CONNECTION
from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.storage.sql_store import SqlStore
from tests.contract.factories import log_line, new_run, plan, row_log


@pytest.fixture
def store(postgres_url: str) -> Iterator[SqlStore]:
    owner = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))
    metadata.create_all(owner)
    statements = re.findall(r"^\s+((?:CREATE ROLE|GRANT) .*;)$", NO_CONNECTION, re.MULTILINE)
    assert len(statements) == 4
    with owner.begin() as connection:
        connection.execute(text("CREATE TABLE connection (id INTEGER)"))
        for statement in statements:
            connection.execute(text(statement.replace("'...'", "'secret'")))
    limited = create_engine(
        make_url(postgres_url).set(drivername="postgresql+psycopg", username="ingest_tasks", password="secret")
    )
    yield SqlStore.on_engine(limited)
    limited.dispose()
    with owner.begin() as connection:
        connection.execute(text("DROP OWNED BY ingest_tasks"))
        connection.execute(text("DROP ROLE ingest_tasks"))
    owner.dispose()


def test_the_granted_rights_suffice_for_the_whole_life_of_a_run(store: SqlStore) -> None:
    run = store.create_run(new_run())
    store.change_status(run.id, RunStatus.PROCESSING)
    store.record_file(run.id, {"name": "a.csv", "sha256": "0" * 64})
    store.record_plan(run.id, plan(2), ["a warning"])
    store.start_chunk(run.id, 0)
    store.append_rows(run.id, 0, row_log(log_line(1), log_line(2)))
    store.report_progress(run.id, 0, Counts(failed=1))
    errors = (ErrorCount(message="The given data was invalid.", count=2),)
    store.finish_chunk(run.id, 0, ChunkOutcome(counts=Counts(failed=2), errors=errors))
    store.settle_counts(run.id, {0: Counts(failed=2)})
    store.add_warning(run.id, "another")
    store.change_status(run.id, RunStatus.COMPLETED_WITH_ERRORS, summary={"total": 2})
    assert [row.row_number for batch in store.failed_rows(run.id) for row in batch] == [1, 2]
    assert store.error_counts(run.id) == errors
    assert store.open_runs() == ()
    assert store.prune_rows(datetime.now(UTC)) == 2


def test_nothing_else_of_the_metadata_database_can_be_read(store: SqlStore) -> None:
    with (
        store._transaction() as session,
        pytest.raises(ProgrammingError, match="permission denied for table connection"),
    ):
        session.execute(text("SELECT * FROM connection"))
