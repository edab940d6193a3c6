"""Chunks in the SQL store: the plan, and what came of each chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, delete, func, insert, select, update
from sqlalchemy.orm import Session

from airflow_provider_ingest.exceptions import Conflict, IngestError
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount, merge_errors
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan, ChunkRecord
from airflow_provider_ingest.storage.sql_store_base import (
    CHUNKS,
    ERRORS,
    ROWS,
    RUNS,
    SqlBase,
    each_once,
    lock_run,
    missing_run,
    now,
)


class ChunkTable(SqlBase):
    """The part of the store that keeps chunks and error counts."""

    def record_plan(self, run_id: int, chunks: Sequence[ChunkPlan], warnings: Sequence[str] = ()) -> None:
        """Record chunks and total; planning again replaces what no chunk has started yet.

        Raises :class:`Conflict` (``already_planned``) once a chunk has started.
        """
        with self._transaction() as session:
            run = lock_run(session, run_id)
            ours = CHUNKS.c.run_id == run_id
            started = session.scalar(select(func.count(CHUNKS.c.started_at)).where(ours))
            if started:
                raise Conflict(f"Run {run_id} is being worked: its chunks cannot be planned again.", "already_planned")
            session.execute(delete(CHUNKS).where(ours))
            if chunks:
                session.execute(insert(CHUNKS), [_planned(run_id, chunk) for chunk in chunks])
            values = {
                "total": sum(chunk.rows for chunk in chunks),
                "warnings": list(each_once([*run["warnings"], *warnings])),
            }
            session.execute(update(RUNS).where(RUNS.c.id == run_id).values(values))

    def chunk(self, run_id: int, index: int) -> ChunkRecord:
        """One chunk; raises :class:`RunNotFound`, or :class:`IngestError` where the run has no such chunk."""
        with self._transaction() as session:
            found = self._chunks(session, run_id, index)
            if not found:
                raise _missing_chunk(session, run_id, index)
        return found[0]

    def chunks(self, run_id: int) -> Sequence[ChunkRecord]:
        """All chunks in order."""
        with self._transaction() as session:
            return self._chunks(session, run_id)

    def start_chunk(self, run_id: int, index: int) -> None:
        """Note the start; forget counts and row log of an earlier attempt that did not finish."""
        with self._transaction() as session:
            earlier = lock_chunk(session, run_id, index)
            if earlier["finished_at"] is not None:
                return
            if earlier["started_at"] is not None:
                # By the chunk's number, not by its range of rows: in a retry the numbers have gaps.
                session.execute(delete(ROWS).where(ROWS.c.run_id == run_id, ROWS.c.chunk_index == index))
            _update(session, run_id, index, Counts().to_dict() | {"started_at": now()})

    def report_progress(self, run_id: int, index: int, counts: Counts) -> None:
        """Show how far a working chunk is; has no effect once its outcome is recorded or the run has ended."""
        is_open = select(RUNS.c.id).where(RUNS.c.id == run_id, RUNS.c.completed_at.is_(None)).exists()
        with self._transaction() as session:
            _update(session, run_id, index, counts.to_dict(), is_open)

    def finish_chunk(self, run_id: int, index: int, outcome: ChunkOutcome) -> None:
        """Record the outcome, once: a second report changes nothing."""
        with self._transaction() as session:
            chunk = lock_chunk(session, run_id, index)
            if chunk["finished_at"] is not None:
                return
            at = now()
            values: dict[str, Any] = {
                **outcome.counts.to_dict(),
                "warnings": list(outcome.warnings),
                "duration": outcome.duration,
                "started_at": chunk["started_at"] or at,
                "finished_at": at,
            }
            _update(session, run_id, index, values)
            if outcome.errors:
                place = {"run_id": run_id, "chunk_index": index}
                errors = [
                    {**place, "field": error.field, "message": error.message, "count": error.count}
                    for error in outcome.errors
                ]
                session.execute(insert(ERRORS), errors)

    def settle_counts(self, run_id: int, counts: Mapping[int, Counts] | None = None) -> None:
        """Make the counts final: unfinished chunks count nothing, ``counts`` replaces those of finished ones."""
        ours = CHUNKS.c.run_id == run_id
        with self._transaction() as session:
            session.execute(update(CHUNKS).where(ours, CHUNKS.c.finished_at.is_(None)).values(Counts().to_dict()))
            for index, values in (counts or {}).items():
                one = (ours, CHUNKS.c.chunk_index == index, CHUNKS.c.finished_at.is_not(None))
                session.execute(update(CHUNKS).where(*one).values(values.to_dict()))

    def error_counts(self, run_id: int) -> Sequence[ErrorCount]:
        """General and validation messages of the whole run, most frequent first; added up by the database."""
        query = (
            select(ERRORS.c.field, ERRORS.c.message, func.sum(ERRORS.c.count))
            .where(ERRORS.c.run_id == run_id)
            .group_by(ERRORS.c.field, ERRORS.c.message)
        )
        with self._transaction() as session:
            found = session.execute(query).all()
        # merge_errors gives the order, which collations of databases would each see differently
        return merge_errors(ErrorCount(field=field, message=message, count=int(n)) for field, message, n in found)

    def _chunks(self, session: Session, run_id: int, index: int | None = None) -> tuple[ChunkRecord, ...]:
        lines = select(CHUNKS).where(CHUNKS.c.run_id == run_id).order_by(CHUNKS.c.chunk_index)
        counts = select(ERRORS).where(ERRORS.c.run_id == run_id).order_by(ERRORS.c.id)
        if index is not None:
            lines = lines.where(CHUNKS.c.chunk_index == index)
            counts = counts.where(ERRORS.c.chunk_index == index)
        errors: dict[int, list[ErrorCount]] = {}
        found = session.execute(lines).mappings().all()
        for row in session.execute(counts).mappings():
            error = ErrorCount(field=row["field"], message=row["message"], count=row["count"])
            errors.setdefault(row["chunk_index"], []).append(error)
        return tuple(_chunk(row, errors.get(row["chunk_index"], ())) for row in found)


def _planned(run_id: int, chunk: ChunkPlan) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "chunk_index": chunk.index,
        "first_row": chunk.first_row,
        "rows": chunk.rows,
        "location": dict(chunk.location),
    }


def _chunk(row: RowMapping, errors: Sequence[ErrorCount]) -> ChunkRecord:
    counts = Counts.from_dict(dict(row))
    outcome = None
    if row["finished_at"] is not None:
        outcome = ChunkOutcome(
            counts=counts, errors=tuple(errors), warnings=tuple(row["warnings"] or ()), duration=row["duration"] or 0.0
        )
    return ChunkRecord(
        index=row["chunk_index"],
        first_row=row["first_row"],
        rows=row["rows"],
        location=row["location"],
        counts=counts,
        outcome=outcome,
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )


def _update(
    session: Session, run_id: int, index: int, values: dict[str, Any], *conditions: ColumnElement[bool]
) -> None:
    """Change a chunk that has not finished."""
    guard = (CHUNKS.c.run_id == run_id, CHUNKS.c.chunk_index == index, CHUNKS.c.finished_at.is_(None), *conditions)
    session.execute(update(CHUNKS).where(*guard).values(values))


def lock_chunk(session: Session, run_id: int, index: int) -> RowMapping:
    """Hold the chunk against other writers until the transaction ends; beside it what is noted of the run's log."""
    ours = (CHUNKS.c.run_id == run_id, CHUNKS.c.chunk_index == index)
    session.execute(update(CHUNKS).where(*ours).values(rows=CHUNKS.c.rows))
    query = select(CHUNKS, RUNS.c.logs_good, RUNS.c.fields).join(RUNS, RUNS.c.id == CHUNKS.c.run_id)
    row = session.execute(query.where(*ours)).mappings().first()
    if row is None:
        raise _missing_chunk(session, run_id, index)
    return row


def _missing_chunk(session: Session, run_id: int, index: int) -> IngestError:
    if session.scalar(select(RUNS.c.id).where(RUNS.c.id == run_id)) is None:
        return missing_run(run_id)
    return IngestError(f"Run {run_id} has no chunk {index}: it was not planned, or planned again.")
