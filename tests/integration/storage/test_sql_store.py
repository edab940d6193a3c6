"""The SQL store beside other users of its database."""

from __future__ import annotations

import multiprocessing
import re
import sqlite3
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_LOG, ROW_NUMBER
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import RunFilter
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.storage.sql_store import SqlStore
from tests.contract.factories import log_line, new_run, plan, planned_run, row_log


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    url = f"sqlite:///{tmp_path}/ingest.db"
    if request.param == "postgresql":
        url = make_url(request.getfixturevalue("postgres_url")).set(drivername="postgresql+psycopg2")  # type: ignore[assignment]
    engine = create_engine(url)
    metadata.create_all(engine)
    yield engine
    engine.dispose()


def many_rows(first: int, count: int) -> pl.DataFrame:
    """A log of failed rows of about 300 bytes each."""
    errors = '{"message":"The given data was invalid.","code":"email","stage":"validate","validation":{"email":["no"]}}'
    return pl.DataFrame(
        {
            ROW_NUMBER: range(first, first + count),
            LINE_NUMBER: range(first + 1, first + count + 1),
            "status": "failed",
            "message": "The given data was invalid.",
            "data": '{"sku":"AB-12345","name":"' + "x" * 120 + '","email":"nobody"}',
            "errors": errors,
            "trace": None,
        },
        schema=ROW_LOG,
    )


def test_a_store_in_a_session_commits_nothing(engine: Engine) -> None:
    with Session(engine) as session:
        store = SqlStore.in_session(session)
        run = store.create_run(new_run())
        store.change_status(run.id, RunStatus.PROCESSING)
        assert store.get_run(run.id).status is RunStatus.PROCESSING
        session.rollback()
    assert SqlStore.on_engine(engine).list_runs(RunFilter(), 1, 10).total == 0


def test_a_run_that_is_there_already_leaves_the_session_usable(engine: Engine) -> None:
    first = SqlStore.on_engine(engine).create_run(new_run(dag_run_id="manual__1"))
    with Session(engine) as session:
        store = SqlStore.in_session(session)
        assert store.create_run(new_run(dag_run_id="manual__1")).id == first.id
        second = store.create_run(new_run())
        session.commit()
    assert SqlStore.on_engine(engine).get_run(second.id).key == second.key


def test_a_change_that_another_transaction_made_shows_in_the_session(engine: Engine) -> None:
    mine = SqlStore.on_engine(engine)
    run = mine.create_run(new_run())
    with Session(engine) as session:
        store = SqlStore.in_session(session)
        assert store.get_run(run.id).status is RunStatus.PENDING
        session.commit()
        mine.change_status(run.id, RunStatus.PROCESSING)
        assert store.get_run(run.id).status is RunStatus.PROCESSING


def test_a_batch_of_rows_that_cannot_be_logged_leaves_none_of_it(engine: Engine) -> None:
    store = SqlStore.on_engine(engine)
    run = planned_run(store, 10)
    store.append_rows(run.id, 0, row_log(log_line(5)))
    with pytest.raises(IntegrityError if engine.dialect.name == "sqlite" else Exception, match=r"(?i)unique"):
        store.append_rows(run.id, 0, row_log(log_line(4), log_line(5)))
    assert store.count_rows(run.id) == 1


def test_pruning_goes_in_short_transactions(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airflow_provider_ingest.storage.sql_store_log.PRUNE_BATCH", 1000)
    store = SqlStore.on_engine(engine)
    run = planned_run(store, 2500)
    store.append_rows(run.id, 0, many_rows(1, 2500))
    store.change_status(run.id, RunStatus.FAILED)
    deleted: list[tuple[int, str]] = []
    event.listen(
        engine,
        "after_execute",
        lambda *call: deleted.append((call[-1].rowcount, str(call[1]))) if call[1].is_delete else None,
    )
    assert store.prune_rows(datetime.now(UTC) + timedelta(days=1)) == 2500
    assert [count for count, _ in deleted] == [1000, 1000, 500]
    goes_on = ['"row_number" >' in statement for _, statement in deleted]
    assert goes_on == [False, True, True]  # not from the start again


def test_streaming_failed_rows_holds_a_batch_at_a_time(engine: Engine) -> None:
    store = SqlStore.on_engine(engine)
    run = planned_run(store, 60_000)
    for first in range(1, 60_001, 20_000):
        store.append_rows(run.id, 0, many_rows(first, 20_000))
    tracemalloc.start()
    try:
        total = sum(len(batch) for batch in store.failed_rows(run.id))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 60_000
    assert peak < 40_000_000  # all of them take above 100 MB


def test_the_summary_of_a_run_is_added_up_by_the_database(engine: Engine) -> None:
    store = SqlStore.on_engine(engine)
    run = store.create_run(new_run())
    store.record_plan(run.id, plan(*[1000] * 50))
    errors = tuple(ErrorCount(field=f"field {n}", message=f"is wrong {n}", count=n + 1) for n in range(40))
    for index in range(50):
        store.finish_chunk(run.id, index, ChunkOutcome(counts=Counts(failed=1000), errors=errors))
    fetched: list[int] = []
    event.listen(engine, "after_execute", lambda *call: fetched.append(1))
    found = store.error_counts(run.id)
    assert len(fetched) == 1
    assert [error.count for error in found] == [50 * (n + 1) for n in reversed(range(40))]


def test_the_lists_use_their_indexes(sqlite_url: str) -> None:
    engine = create_engine(sqlite_url)  # whose planner chooses by the indexes there are, not by how few rows there are
    metadata.create_all(engine)
    plans = {
        "SELECT * FROM ingest_rows WHERE run_id = 1 AND among_good = 1 AND row_number > 5 ORDER BY row_number": (
            "ix_ingest_rows_run_id_among_good_row_number"
        ),
        "SELECT * FROM ingest_rows WHERE run_id = 1 AND message = 'm' ORDER BY row_number": (
            "ix_ingest_rows_run_id_message_row_number"
        ),
        "SELECT * FROM ingest_rows WHERE run_id = 1 ORDER BY row_number": "sqlite_autoindex_ingest_rows_1",
        "SELECT * FROM ingest_runs WHERE importer = 'a' ORDER BY id DESC": "ix_ingest_runs_importer_id",
        "SELECT * FROM ingest_runs WHERE status = 'pending' ORDER BY id": "ix_ingest_runs_status_id",
        "SELECT * FROM ingest_runs WHERE user_name = 'a' AND started_at > '26'": "ix_ingest_runs_user_name_started_at",
        "SELECT * FROM ingest_runs WHERE dag_id = 'a' AND dag_run_id = 'b'": "ingest_runs",
    }
    with engine.connect() as connection:
        for query, index in plans.items():
            details = " ".join(row[3] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {query}")))
            assert index in details, details
            assert "TEMP B-TREE" not in details, details
            assert "SCAN" not in details, details


def test_failed_rows_among_good_ones_are_found_by_an_index_of_them_alone(engine: Engine) -> None:
    store = SqlStore.on_engine(engine)
    run = planned_run(store, 1)
    good = many_rows(1, 20_000).with_columns(status=pl.lit("success"), message=pl.lit(None, dtype=pl.String))
    store.append_rows(run.id, 0, good)
    store.append_rows(run.id, 0, many_rows(20_001, 10).with_columns(message=pl.lit("broken")))
    store.append_rows(run.id, 0, many_rows(20_011, 10))
    asked: list[tuple[str, Any]] = []
    with engine.connect() as connection:
        connection.execute(text("ANALYZE"))
        event.listen(engine, "before_cursor_execute", lambda *call: asked.append((call[2], call[3])))
        store.rows(run.id, page=1, per_page=5, status="failed")
        for message in ("broken", "The given data was invalid."):
            assert store.rows(run.id, page=1, per_page=5, message=message).total == 10
        assert len(next(iter(store.failed_rows(run.id)))) == 20
        explain = "EXPLAIN QUERY PLAN" if engine.dialect.name == "sqlite" else "EXPLAIN"
        queries = [(query, values) for query, values in asked if "ingest_rows" in query]
        plans = [str(connection.exec_driver_sql(f"{explain} {query}", values).all()) for query, values in queries]
    assert len(plans) == 8
    assert all(re.search("ix_ingest_rows_run_id_(among_good|message)_row_number", plan) for plan in plans), plans


def test_failed_rows_stand_in_that_index_where_good_rows_were_logged_first(engine: Engine) -> None:
    store = SqlStore.on_engine(engine)
    good, failed = log_line(1, "success"), log_line(2)
    marked = {}
    for name, batches in {"all": [[good, failed]], "failed": [[failed]], "turned": [[failed], [good]]}.items():
        run = planned_run(store, 2)
        for batch in batches:
            store.append_rows(run.id, 0, row_log(*batch))
        with engine.connect() as connection:
            query = text("SELECT count(*) FROM ingest_rows WHERE run_id = :id AND among_good IS NOT NULL")
            marked[name] = connection.scalar(query, {"id": run.id})
        assert store.count_rows(run.id, "failed") == 1
    assert marked == {"all": 1, "failed": 0, "turned": 0}


def test_the_names_of_fields_are_kept_once_and_shown_with_each_row(engine: Engine) -> None:
    store = SqlStore.on_engine(engine)
    run = planned_run(store, 10)
    pretty = '{"x":\n1}'
    store.append_rows(run.id, 0, row_log(log_line(1, data=["A1", None]), log_line(2, data={"_raw": "["})), ["sku", "ü"])
    store.append_rows(run.id, 0, row_log(log_line(3, data=["A3"])), ["sku"])
    texts = row_log(log_line(4), log_line(5)).with_columns(data=pl.Series([f'["A4",{pretty}]', pretty]))
    store.append_rows(run.id, 0, texts, ["sku", "ü"])
    with engine.connect() as connection:
        kept = connection.scalars(text("SELECT data FROM ingest_rows ORDER BY row_number")).all()
    assert kept == ['["A1", null]', '{"_raw": "["}', '{"sku":"A3"}', f'["A4",{pretty}]', pretty]
    shown = [{"sku": "A1", "ü": None}, {"_raw": "["}, {"sku": "A3"}, {"sku": "A4", "ü": {"x": 1}}, {"x": 1}]
    assert [row.data for row in store.rows(run.id, page=1, per_page=10).items] == shown


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_the_documented_query_finds_a_field_by_its_name(engine: Engine) -> None:
    store = SqlStore.on_engine(engine)
    run = planned_run(store, 10)
    store.append_rows(
        run.id, 0, row_log(log_line(1, data=["n", "A1"]), log_line(2, data={"_raw": "?"})), ["name", "sku"]
    )
    store.append_rows(run.id, 0, row_log(log_line(3, data=["A3"])), ["sku"])
    page = Path(__file__).parents[3] / "docs/reference/tables.md"
    query = page.read_text().partition("### Names and values in SQL")[2].partition("```sql\n")[2].partition("```")[0]
    with engine.connect() as connection:
        found = connection.exec_driver_sql(query.replace("run_id = 12", f"run_id = {run.id}").replace("%", "%%")).all()
    assert found == [(1, "A1"), (2, None), (3, "A3")]


def write_chunk(path: str, run_id: int, index: int) -> None:
    """What a task does with the store, in a process of its own."""
    store = SqlStore.on_engine(create_engine(f"sqlite:///{path}"))
    store.start_chunk(run_id, index)
    for batch in range(5):
        store.append_rows(run_id, index, many_rows(1 + 10_000 * index + 2_000 * batch, 2_000))
        store.report_progress(run_id, index, Counts(failed=2_000 * (batch + 1)))
    store.finish_chunk(run_id, index, ChunkOutcome(counts=Counts(failed=10_000)))


def test_eight_processes_write_one_sqlite_file(tmp_path: Path) -> None:
    path = str(tmp_path / "ingest.db")
    engine = create_engine(f"sqlite:///{path}")
    metadata.create_all(engine)
    store = SqlStore.on_engine(engine)
    run = planned_run(store, *[10_000] * 8)
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=write_chunk, args=(path, run.id, index)) for index in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 8
    done = store.get_run(run.id)
    assert (done.counts.failed, done.chunks_done, store.count_rows(run.id)) == (80_000, 8, 80_000)
    engine.dispose()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
