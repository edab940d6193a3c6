"""The row log in the SQL store: appending in bulk, paging, streaming, pruning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, delete, func, select, update

from airflow_provider_ingest.runs.records import Page, RowRecord
from airflow_provider_ingest.storage.row_copy import write_rows
from airflow_provider_ingest.storage.row_documents import named, with_names
from airflow_provider_ingest.storage.row_groups import FAILED, UNPROCESSED, has_failed, in_group
from airflow_provider_ingest.storage.sql_store_base import CHUNKS, ROWS, RUNS, SqlBase
from airflow_provider_ingest.storage.sql_store_chunks import lock_chunk

if TYPE_CHECKING:
    import polars as pl
    from sqlalchemy.orm import Session

BATCH_BYTES = 8_000_000
"""About how much of the log one batch of failed rows holds in memory."""

FIRST_BATCH, LARGEST_BATCH = 200, 5_000
LOGGED_AT_ONCE = 20_000
"""Rows that are logged in one transaction on SQLite."""

PRUNE_BATCH = 20_000
"""Rows per DELETE: a fraction of a second of locks."""

RECORD = (ROWS.c.row_number, ROWS.c.line_number, ROWS.c.status, ROWS.c.data, ROWS.c.errors, ROWS.c.trace)
"""What a row's record is made of, in the order in which :func:`_records` takes it."""


class RowLog(SqlBase):
    """The part of the store that keeps rows."""

    def append_rows(self, run_id: int, index: int, rows: pl.DataFrame, fields: Sequence[str] | None = None) -> None:
        """Log rows of a chunk; ``rows`` has the schema ROW_LOG.

        Has no effect once the chunk's outcome is recorded: what comes then is from an attempt that was given up.

        :param fields: the names of the values where ``data`` is an array; the run keeps those of its first rows.
        """
        while not rows.is_empty():
            with self._transaction() as session:
                chunk = lock_chunk(session, run_id, index)
                if chunk["finished_at"] is not None:
                    return
                if chunk["logs_good"] is not None and (fields is None or chunk["fields"] is not None):
                    if fields is not None and list(fields) != chunk["fields"]:
                        rows, fields = with_names(rows, fields), None
                    # SQLite has one writer at a time: others shall not wait long for it.
                    most = LOGGED_AT_ONCE if session.get_bind().dialect.name == "sqlite" else rows.height
                    write_rows(session, run_id, index, rows.head(most), mark_failed=chunk["logs_good"])
                    rows = rows.slice(most)
                    continue
            self._note_kind(run_id, rows, fields)

    def rows(
        self, run_id: int, *, page: int, per_page: int, status: str | None = None, message: str | None = None
    ) -> Page[RowRecord]:
        """Logged rows by row number; ``message`` limits to a general or ``field: message`` group.

        Those ``unprocessed`` are what chunks of an ended run logged which did not finish; they are not ``failed``.
        """
        with self._transaction() as session:
            conditions = _conditions(session, run_id, status)
            if message is not None:
                conditions += in_group(session, run_id, message)
            total = session.scalar(select(func.count()).select_from(ROWS).where(*conditions)) or 0
            query = select(*RECORD).where(*conditions).order_by(ROWS.c.row_number)
            found = session.execute(query.limit(per_page).offset((page - 1) * per_page)).all()
            records = _records(session, run_id, found)
        return Page(items=records, number=page, size=per_page, total=total)

    def row(self, run_id: int, row_number: int) -> RowRecord | None:
        """One logged row."""
        query = select(*RECORD).where(ROWS.c.run_id == run_id, ROWS.c.row_number == row_number)
        with self._transaction() as session:
            records = _records(session, run_id, session.execute(query).all())
        return next(iter(records), None)

    def failed_rows(self, run_id: int) -> Iterator[Sequence[RowRecord]]:
        """The failed rows that the run counts, by row number, in batches, with flat memory.

        Each batch is a query of its own that goes on behind the last row number, so that no transaction and no
        cursor stays open while the caller writes; batches shrink where rows are large.
        """
        after, size = 0, FIRST_BATCH
        while True:
            batch, read = self._failed_after(run_id, after, size)
            if not batch:
                return
            yield batch
            after = batch[-1].row_number
            size = max(1, min(LARGEST_BATCH, BATCH_BYTES * len(batch) // max(read, 1)))

    def count_rows(self, run_id: int, status: str | None = None) -> int:
        """How many rows are logged."""
        with self._transaction() as session:
            query = select(func.count()).select_from(ROWS).where(*_conditions(session, run_id, status))
            return session.scalar(query) or 0

    def prune_rows(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete logged rows of ended runs that ended before, in batches; returns how many."""
        logged = select(ROWS.c.row_number).where(ROWS.c.run_id == RUNS.c.id).exists()
        query = select(RUNS.c.id).where(RUNS.c.completed_at < before, logged).order_by(RUNS.c.id)
        with self._transaction() as session:
            expired = session.scalars(query).all()
        if dry_run:
            return sum(self.count_rows(run_id) for run_id in expired)
        return sum(deleted for run_id in expired for deleted in self._delete_rows(run_id))

    def _note_kind(self, run_id: int, rows: pl.DataFrame, fields: Sequence[str] | None) -> None:
        """Note of the run's log what its first rows have: whether it holds good ones (all failed ones are marked then,
        or none), and the names of its fields.

        In a transaction of its own: chunks that begin together wait for that, and not for each other's rows.
        """
        has_good = bool((rows["status"] != FAILED).any())
        noted: dict[str, Any] = {"logs_good": has_good, "fields": None if fields is None else list(fields)}
        with self._transaction() as session:
            for name, value in noted.items():
                first = update(RUNS).where(RUNS.c.id == run_id, RUNS.c[name].is_(None))
                session.execute(first.values({name: value}))

    def _failed_after(self, run_id: int, after: int, size: int) -> tuple[Sequence[RowRecord], int]:
        """The next failed rows and about how many bytes they are."""
        size_of = func.length(ROWS.c.data) + func.coalesce(func.length(ROWS.c.errors), 0)
        query = select(*RECORD, size_of).where(ROWS.c.row_number > after).order_by(ROWS.c.row_number).limit(size)
        with self._transaction() as session:
            found = session.execute(query.where(*_conditions(session, run_id, FAILED))).all()
            records = _records(session, run_id, found)
        return records, sum(row[-1] for row in found)

    def _delete_rows(self, run_id: int) -> Iterator[int]:
        """Delete in the order of the primary key.

        Each batch goes on behind the last one: while a long query holds an old snapshot, deleted rows stay in the
        index, and from the beginning each batch would look through all of them again.
        """
        ours = ROWS.c.run_id == run_id
        while True:
            edge = select(ROWS.c.row_number).where(ours).order_by(ROWS.c.row_number).offset(PRUNE_BATCH - 1).limit(1)
            with self._transaction() as session:
                last = session.scalar(edge)
                batch = ours if last is None else ours & (ROWS.c.row_number <= last)
                result: Any = session.execute(delete(ROWS).where(batch))
            yield int(result.rowcount)
            if last is None:
                return
            ours = (ROWS.c.run_id == run_id) & (ROWS.c.row_number > last)


def _conditions(session: Session, run_id: int, status: str | None) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [ROWS.c.run_id == run_id]
    if status is None:
        return conditions
    if status not in (FAILED, UNPROCESSED):
        return [*conditions, ROWS.c.status == status]
    ended = select(RUNS.c.id).where(RUNS.c.id == run_id, RUNS.c.completed_at.is_not(None)).exists()
    unfinished = select(CHUNKS.c.chunk_index).where(CHUNKS.c.run_id == run_id, CHUNKS.c.finished_at.is_(None), ended)
    given_up = session.scalars(unfinished).all()
    if status == UNPROCESSED:
        return [*conditions, ROWS.c.chunk_index.in_(given_up)]
    conditions.append(has_failed(session, run_id))
    return [*conditions, ROWS.c.chunk_index.not_in(given_up)] if given_up else conditions


def _records(session: Session, run_id: int, found: Sequence[Sequence[Any]]) -> tuple[RowRecord, ...]:
    """The records of rows that were read as :data:`RECORD`, in the run's transaction."""
    fields = session.scalar(select(RUNS.c.fields).where(RUNS.c.id == run_id)) or ()
    return tuple(
        RowRecord(
            row_number=row[0],
            line_number=row[1],
            status=row[2],
            data=named(row[3], fields),
            errors=row[4],
            trace=row[5],
        )
        for row in found
    )
