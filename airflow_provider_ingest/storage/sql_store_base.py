"""What the parts of the SQL store share: tables, transactions and the translation of a run's line into a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, Table, func, select, update
from sqlalchemy.orm import Session

from airflow_provider_ingest.exceptions import RunNotFound
from airflow_provider_ingest.models import IngestChunk, IngestErrorCount, IngestRow, IngestRun
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.runs.status import RunStatus

RUNS: Table = IngestRun.metadata.tables["ingest_runs"]
CHUNKS: Table = IngestChunk.metadata.tables["ingest_chunks"]
ERRORS: Table = IngestErrorCount.metadata.tables["ingest_error_counts"]
ROWS: Table = IngestRow.metadata.tables["ingest_rows"]

LINE = tuple(column for column in RUNS.c if column.name != "fields")
"""What is read of a run: all but the names of its logged fields, of which there may be thousands."""

COUNTS = ("created", "updated", "skipped", "failed")
PLAIN = (
    "id",
    "key",
    "importer",
    "dag_id",
    "dag_run_id",
    "payload",
    "original_filename",
    "is_dry_run",
    "user_id",
    "user_name",
    "retry_of",
    "root_run",
    "attempt",
    "idempotency_key",
    "request_fingerprint",
    "fingerprint",
    "options",
    "total",
    "file",
    "summary",
    "started_at",
    "completed_at",
    "cancel_requested_at",
)
"""Columns of a run that stand in its record as they are."""


def now() -> datetime:
    """The current time, aware and in UTC."""
    return datetime.now(UTC)


class SqlBase:
    """A store over a source of sessions.

    :param transaction: a context manager that gives a session and, if the transaction is the store's own,
        commits at its end.
    """

    def __init__(self, transaction: Callable[[], AbstractContextManager[Session]]) -> None:
        self._transaction = transaction

    def _records(self, session: Session, query: Select[Any]) -> tuple[RunRecord, ...]:
        """The runs that a query over :data:`RUNS` finds, in its order, with counts summed over their chunks."""
        found = session.execute(query).mappings().all()
        sums = _sums(session, [row["id"] for row in found])
        return tuple(_record(row, sums.get(row["id"])) for row in found)

    def _first(self, session: Session, *conditions: ColumnElement[bool]) -> RunRecord | None:
        """The newest run that meets the conditions."""
        records = self._records(session, select(*LINE).where(*conditions).order_by(RUNS.c.id.desc()).limit(1))
        return records[0] if records else None


def lock_run(session: Session, run_id: int) -> RowMapping:
    """Hold the run against other writers until the transaction ends; raises :class:`RunNotFound`.

    An UPDATE that changes nothing, because SQLite knows no SELECT … FOR UPDATE.
    """
    session.execute(update(RUNS).where(RUNS.c.id == run_id).values(total=RUNS.c.total))
    row = session.execute(select(*LINE).where(RUNS.c.id == run_id)).mappings().first()
    if row is None:
        raise missing_run(run_id)
    return row


def missing_run(run_id: int) -> RunNotFound:
    """The error for an id that no run has."""
    return RunNotFound(f"There is no run {run_id}.")


def _sums(session: Session, ids: Sequence[int]) -> dict[int, RowMapping]:
    if not ids:
        return {}
    columns = [func.sum(CHUNKS.c[name]).label(name) for name in COUNTS]
    query = (
        select(CHUNKS.c.run_id, *columns, func.count().label("chunks"), func.count(CHUNKS.c.finished_at).label("done"))
        .where(CHUNKS.c.run_id.in_(ids))
        .group_by(CHUNKS.c.run_id)
    )
    return {row["run_id"]: row for row in session.execute(query).mappings()}


def _record(row: RowMapping, sums: RowMapping | None) -> RunRecord:
    return RunRecord(
        **{name: row[name] for name in PLAIN},
        status=RunStatus(row["status"]),
        history=tuple(row["history"]),
        counts=Counts.from_dict(dict(sums)) if sums else Counts(),
        chunks_total=sums["chunks"] if sums else 0,
        chunks_done=sums["done"] if sums else 0,
    )


def each_once(warnings: Iterable[str]) -> tuple[str, ...]:
    """The warnings in order, without repetitions."""
    return tuple(dict.fromkeys(warnings))
