"""The row log of a chunk while it is worked: rows are made ready and handed to the store by threads of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import polars as pl

from airflow_provider_ingest.engine.plan import Plan
from airflow_provider_ingest.engine.row_log import all_rows, failed_rows, only_rows
from airflow_provider_ingest.engine.threads import behind, beside
from airflow_provider_ingest.engine.trace import Trace
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RowBatch, WriteResult
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.progress import Counts

PROGRESS_SECONDS = 0.5
"""How long failed rows and progress wait at most for those of the batches behind them."""

TOGETHER = 2_500
"""Failed rows that are logged at once: a few hundred take about as long as some thousands."""

MANY = 4
"""Where one row of so many is logged, the chunk waits for its log as it does for the target."""


def logs_much(logged: int, rows: int) -> bool:
    """Whether so many of a batch's rows are logged that the chunk waits for it."""
    return logged * MANY > rows


class _Threads:
    """A thread that makes rows ready and one that hands them to the store; neither begins unless it is used."""

    def __init__(self, kind: Callable[[str], ThreadPoolExecutor]) -> None:
        self.ready, self.append = kind("ingest-log"), kind("ingest-append")

    def shutdown(self) -> None:
        """Wait for what was begun."""
        self.ready.shutdown()
        self.append.shutdown()


@dataclass(frozen=True, slots=True)
class _Failed:
    """The failed rows of a batch, by themselves."""

    batch: RowBatch
    failures: pl.DataFrame

    def is_like(self, other: _Failed) -> bool:
        """Whether both can be logged together: the same columns, which were the same in the file."""
        return self.batch.frame.schema == other.batch.frame.schema and self.batch.kinds == other.batch.kinds


class ChunkLog:
    """Logs the rows of a chunk's batches, and tells the store how far the chunk is.

    Used as a context: whatever ends the chunk, what was added before is logged.

    :param which: ``failed``, ``all`` or ``none``.
    """

    def __init__(self, *, plan: Plan, store: RunStore, run_id: int, index: int, which: str) -> None:
        self._plan, self._store, self._run_id, self._index = plan, store, run_id, index
        self._which = which
        self._few, self._many = _Threads(behind), _Threads(beside)
        self._threads = self._few
        self._making: Future[None] | None = None
        self._appending: Future[None] | None = None
        self._waiting: list[_Failed] = []  # of one thread at a time: each step awaits the one before
        self._counts = Counts()
        self._told = time.monotonic()  # when the store was last told how far the chunk is

    def __enter__(self) -> ChunkLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._threads.ready.submit(self._log_waiting, self._threads.append)
        self._few.shutdown()
        self._many.shutdown()

    def add(
        self,
        batch: RowBatch,
        failures: pl.DataFrame,
        trace: Trace | None,
        result: WriteResult | None,
        counts: Counts,
        *,
        is_much: bool,
    ) -> None:
        """Have a batch logged that was written, as soon as the one before is made ready.

        :param batch: with the rows that failed at least; with all of them where all are logged.
        :param failures: what its rows failed for, here and in the target.
        :param counts: of the chunk up to this batch.
        :param is_much: see :func:`logs_much`.
        :raises Exception: what the log of a batch before could not do ends the chunk.
        """
        self._await_making()
        self._threads = self._many if is_much or self._which == "all" else self._few
        self._counts = counts
        self._making = self._threads.ready.submit(
            self._make_ready, self._threads.append, batch, failures, trace, result
        )

    def finish(self) -> None:
        """Have logged what is left, and wait for it."""
        self._await_making()
        self._making = self._threads.ready.submit(self._log_waiting, self._threads.append)
        self._await_making()
        self._await_appending()

    def _make_ready(
        self,
        appender: ThreadPoolExecutor,
        batch: RowBatch,
        failures: pl.DataFrame,
        trace: Trace | None,
        result: WriteResult | None,
    ) -> None:
        masked = self._plan.masked_columns(batch.columns)
        if self._which == "all":
            rows = all_rows(batch, failures, result.ends if result else None, trace, masked)
            self._hand_over(appender, rows, batch.columns)
            return
        if self._which == "failed" and not failures.is_empty():
            if trace is not None:
                self._hand_over(appender, failed_rows(batch, failures, trace, masked), batch.columns)
                return
            failed = _Failed(only_rows(batch, failures[ROW_NUMBER]), failures)
            if self._waiting and not failed.is_like(self._waiting[0]):
                self._log_waiting(appender)
            self._waiting.append(failed)
        is_late = time.monotonic() - self._told >= PROGRESS_SECONDS
        if is_late or sum(one.failures.height for one in self._waiting) >= TOGETHER:
            self._log_waiting(appender)

    def _log_waiting(self, appender: ThreadPoolExecutor) -> None:
        """Log the failed rows that wait, together."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            self._hand_over(appender, None, ())
            return
        batch = RowBatch(
            frame=pl.concat([one.batch.frame for one in waiting]),
            malformed=pl.concat([one.batch.malformed for one in waiting]),
            kinds=waiting[0].batch.kinds,
        )
        masked = self._plan.masked_columns(batch.columns)
        failures = pl.concat([one.failures for one in waiting])
        self._hand_over(appender, failed_rows(batch, failures, None, masked), batch.columns)

    def _hand_over(self, appender: ThreadPoolExecutor, rows: pl.DataFrame | None, fields: Sequence[str]) -> None:
        """Hand rows to the store; while it takes them, those of the next batch are made ready."""
        self._await_appending()
        self._appending = appender.submit(self._append, rows, fields, self._counts)

    def _append(self, rows: pl.DataFrame | None, fields: Sequence[str], counts: Counts) -> None:
        """Log rows and tell how far the chunk is."""
        if rows is not None:
            self._store.append_rows(self._run_id, self._index, rows, fields)
        now = time.monotonic()
        if now - self._told >= PROGRESS_SECONDS:
            self._told = now
            self._store.report_progress(self._run_id, self._index, counts)

    def _await_making(self) -> None:
        """No more than one batch waits to be logged."""
        making, self._making = self._making, None
        if making is not None:
            making.result()

    def _await_appending(self) -> None:
        appending, self._appending = self._appending, None
        if appending is not None:
            appending.result()
