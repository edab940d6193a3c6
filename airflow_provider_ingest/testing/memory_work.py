"""The part of the memory store that keeps chunks and logged rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import Conflict, IngestError, RunNotFound
from airflow_provider_ingest.runs.failure import DETAIL_START
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount, merge_errors
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan, ChunkRecord, Page, RowRecord

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from datetime import datetime

    import polars as pl

    from airflow_provider_ingest.testing.memory_store import Ledger

BATCH = 1000


class MemoryWork:
    """Chunks and rows of :class:`~airflow_provider_ingest.testing.memory_store.MemoryStore`."""

    _clock: Callable[[], datetime]
    _lock: threading.RLock

    _ledgers: dict[int, Ledger]

    def _ledger(self, run_id: int) -> Ledger:
        if run_id not in self._ledgers:
            raise RunNotFound(f"There is no run {run_id}.")
        return self._ledgers[run_id]

    def record_plan(self, run_id: int, chunks: Sequence[ChunkPlan], warnings: Sequence[str] = ()) -> None:
        """Record chunks and total; refused with :class:`Conflict` once a chunk has started."""
        with self._lock:
            ledger = self._ledger(run_id)
            if any(chunk.started_at is not None for chunk in ledger.chunks.values()):
                raise Conflict(f"Run {run_id} is being worked: its chunks cannot be planned again.", "already_planned")
            ledger.chunks = {
                chunk.index: ChunkRecord(
                    index=chunk.index, first_row=chunk.first_row, rows=chunk.rows, location=dict(chunk.location)
                )
                for chunk in sorted(chunks, key=lambda chunk: chunk.index)
            }
            ledger.warnings = list(dict.fromkeys([*ledger.warnings, *warnings]))
            ledger.run = replace(ledger.run, total=sum(chunk.rows for chunk in chunks))

    def chunk(self, run_id: int, index: int) -> ChunkRecord:
        """One chunk."""
        with self._lock:
            return self._chunk(run_id, index)

    def chunks(self, run_id: int) -> Sequence[ChunkRecord]:
        """All chunks in order."""
        with self._lock:
            return tuple(self._ledgers[run_id].chunks.values()) if run_id in self._ledgers else ()

    def start_chunk(self, run_id: int, index: int) -> None:
        """Note the start; forget counts and row log of an earlier attempt that did not finish."""
        with self._lock:
            if self._change_chunk(run_id, index, counts=Counts(), started_at=self._clock()):
                ledger = self._ledger(run_id)
                ledger.rows = {number: row for number, row in ledger.rows.items() if row[0] != index}

    def report_progress(self, run_id: int, index: int, counts: Counts) -> None:
        """Show how far a working chunk is; has no effect once its outcome is recorded or the run has ended."""
        with self._lock:
            if self._ledger(run_id).run.completed_at is None:
                self._change_chunk(run_id, index, counts=counts)

    def finish_chunk(self, run_id: int, index: int, outcome: ChunkOutcome) -> None:
        """Record the outcome, once: a second report changes nothing."""
        with self._lock:
            at = self._clock()
            started = self._chunk(run_id, index).started_at or at
            self._change_chunk(
                run_id, index, counts=outcome.counts, outcome=outcome, started_at=started, finished_at=at
            )

    def settle_counts(self, run_id: int, counts: Mapping[int, Counts] | None = None) -> None:
        """Make the counts final: unfinished chunks count nothing, ``counts`` replaces those of finished ones."""
        with self._lock:
            chunks = self._ledger(run_id).chunks
            for index, chunk in chunks.items():
                if chunk.outcome is None:
                    chunks[index] = replace(chunk, counts=Counts())
                elif counts and index in counts:
                    final = counts[index]
                    chunks[index] = replace(chunk, counts=final, outcome=replace(chunk.outcome, counts=final))

    def append_rows(self, run_id: int, index: int, rows: pl.DataFrame, fields: Sequence[str] | None = None) -> None:
        """Log rows of a chunk that has not finished; ``rows`` has the schema ROW_LOG, ``fields`` name its values."""
        with self._lock:
            if self._chunk(run_id, index).finished_at is not None:
                return
            logged = {row[ROW_NUMBER]: (index, row["message"], _row(row, fields)) for row in rows.iter_rows(named=True)}
            ledger = self._ledger(run_id)
            if twice := logged.keys() & ledger.rows.keys():
                raise ValueError(f"Row {min(twice)} of run {run_id} is logged already.")
            ledger.rows = dict(sorted((ledger.rows | logged).items()))

    def rows(
        self, run_id: int, *, page: int, per_page: int, status: str | None = None, message: str | None = None
    ) -> Page[RowRecord]:
        """Logged rows by row number; ``message`` limits to a general or ``field: message`` group."""
        with self._lock:
            logged = self._logged(run_id, status)
        if message is not None:
            general = [row for row in logged if row[1] == message]
            logged = general or [row for row in logged if _in_group(row[2], message)]
        start = (page - 1) * per_page
        items = tuple(row[2] for row in logged[start : start + per_page])
        return Page(items=items, number=page, size=per_page, total=len(logged))

    def row(self, run_id: int, row_number: int) -> RowRecord | None:
        """One logged row."""
        with self._lock:
            return next((row[2] for row in self._logged(run_id) if row[2].row_number == row_number), None)

    def failed_rows(self, run_id: int) -> Iterator[Sequence[RowRecord]]:
        """The failed rows that the run counts, by row number, in batches."""
        with self._lock:
            failed = [row[2] for row in self._logged(run_id, "failed")]
        for start in range(0, len(failed), BATCH):
            yield failed[start : start + BATCH]

    def count_rows(self, run_id: int, status: str | None = None) -> int:
        """How many rows are logged."""
        with self._lock:
            return len(self._logged(run_id, status))

    def error_counts(self, run_id: int) -> Sequence[ErrorCount]:
        """General and validation messages of the whole run, most frequent first."""
        outcomes = [chunk.outcome for chunk in self.chunks(run_id) if chunk.outcome is not None]
        return merge_errors(error for outcome in outcomes for error in outcome.errors)

    def add_warning(self, run_id: int, warning: str) -> None:
        """Keep a warning for the run's summary; the same sentence once."""
        with self._lock:
            ledger = self._ledger(run_id)
            ledger.warnings = list(dict.fromkeys([*ledger.warnings, warning]))

    def warnings(self, run_id: int) -> Sequence[str]:
        """The warnings of run and chunks, each once."""
        with self._lock:
            own = self._ledger(run_id).warnings
            outcomes = [chunk.outcome for chunk in self._ledger(run_id).chunks.values()]
        later = (warning for outcome in outcomes if outcome is not None for warning in outcome.warnings)
        return tuple(dict.fromkeys([*own, *later]))

    def prune_rows(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete logged rows of ended runs that ended before; returns how many."""
        with self._lock:
            ended = [ledger for ledger in self._ledgers.values() if ledger.run.completed_at is not None]
            expired = [ledger for ledger in ended if ledger.run.completed_at and ledger.run.completed_at < before]
            count = sum(len(ledger.rows) for ledger in expired)
            for ledger in () if dry_run else expired:
                ledger.rows = {}
            return count

    def _logged(self, run_id: int, status: str | None = None) -> list[tuple[int, str | None, RowRecord]]:
        if run_id not in self._ledgers:
            return []
        ledger = self._ledgers[run_id]
        logged = list(ledger.rows.values())
        if status is None:
            return logged
        ended = ledger.run.completed_at is not None
        given_up = {index for index, chunk in ledger.chunks.items() if ended and chunk.outcome is None}
        if status == "unprocessed":
            return [row for row in logged if row[0] in given_up]
        return [row for row in logged if row[2].status == status and (status != "failed" or row[0] not in given_up)]

    def _chunk(self, run_id: int, index: int) -> ChunkRecord:
        ledger = self._ledger(run_id)
        if index not in ledger.chunks:
            raise IngestError(f"Run {run_id} has no chunk {index}: it was not planned, or planned again.")
        return ledger.chunks[index]

    def _change_chunk(self, run_id: int, index: int, **values: Any) -> bool:
        chunk = self._chunk(run_id, index)
        if chunk.finished_at is not None:
            return False
        self._ledger(run_id).chunks[index] = replace(chunk, **values)
        return True


def _row(row: dict[str, Any], fields: Sequence[str] | None) -> RowRecord:
    texts = {name: row[name] for name in ("data", "errors", "trace")}
    parsed: dict[str, Any] = {name: None if text is None else json.loads(text) for name, text in texts.items()}
    if isinstance(parsed["data"], list):
        parsed["data"] = dict(zip(fields or (), parsed["data"], strict=True))
    return RowRecord(row_number=row[ROW_NUMBER], line_number=row[LINE_NUMBER], status=row["status"], **parsed)


def _in_group(row: RowRecord, group: str) -> bool:
    validation = (row.errors or {}).get("validation") or {}
    lines = [f"{name}: {text}" for name, texts in validation.items() for text in texts]
    return any(line == group or line.startswith(group + DETAIL_START) for line in lines)
