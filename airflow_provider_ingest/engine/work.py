"""Working one chunk: read, process, write, log and commit, in a pipeline of batches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import polars as pl

from airflow_provider_ingest.engine.distinct import Memory
from airflow_provider_ingest.engine.failures import error_counts, in_order, limited
from airflow_provider_ingest.engine.handlers import RowHandlers
from airflow_provider_ingest.engine.lookups import Lookups
from airflow_provider_ingest.engine.plan import Plan, Processed, compile_plan
from airflow_provider_ingest.engine.row_log import all_rows, failed_rows
from airflow_provider_ingest.engine.threads import behind, beside
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.runs.events import IngestRun
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RowBatch, WriteResult
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.ports import ChunkTransaction, RunStore, Target
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan

PROGRESS_SECONDS = 0.5

AHEAD = 3
"""Batches that are transformed before the one that is written has gone: one takes longer now and then."""

MANY = 4
"""Where one row of so many is logged, the chunk waits for its log as it does for the target."""

RejectCheck = Callable[[Counts, Sequence[ErrorCount]], None]


def work_chunk(
    *,
    config: IngestConfig,
    run: IngestRun,
    run_key: str,
    chunk: ChunkPlan,
    batches: Iterable[RowBatch],
    store: RunStore,
    target: Target,
    row_log: str | None = None,
    check_rejects: RejectCheck | None = None,
) -> ChunkOutcome:
    """Work a chunk to its end, exactly once however often it is called; returns its outcome.

    A chunk that another attempt has committed is only reported again. Rows are written, refused rows logged and the
    marker committed in this order, so that a marker means a complete row log. Batches overlap: while the target
    writes one, those behind it are transformed and read and the failed rows of those before are logged.

    :param batches: the chunk's rows, read lazily.
    :param row_log: which rows to log where the importer leaves it open (``[ingest] log_rows``; default ``failed``).
    :param check_rejects: called with the chunk's counts and errors after each batch; what it raises ends the chunk
        unwritten.
    """
    with behind("ingest-read") as reader, RowHandlers(config.handlers, run) as handlers:
        reading = _Reading(reader, iter(batches))
        with target.open_chunk(run_key, chunk.index, dry_run=run.is_dry_run) as transaction:
            outcome = transaction.recorded
            if outcome is None:
                store.start_chunk(run.id, chunk.index)
                work = _ChunkWork(
                    plan=compile_plan(config, target.shape(), target.child_shapes()),
                    run=run,
                    index=chunk.index,
                    store=store,
                    transaction=transaction,
                    handlers=handlers,
                    row_log=config.row_log or row_log or "failed",
                    check_rejects=check_rejects,
                )
                outcome = work.through(reading)
                transaction.commit(outcome)
        store.finish_chunk(run.id, chunk.index, outcome)
        for warning in handlers.deliver():
            store.add_warning(run.id, warning)
    return outcome


class _Reading:
    """The next batch of a chunk, read by a thread of its own; the first one while the target is opened."""

    def __init__(self, reader: ThreadPoolExecutor, batches: Iterator[RowBatch]) -> None:
        self._reader = reader
        self._batches = batches
        self._next = self._read()

    def _read(self) -> Future[RowBatch | None]:
        return self._reader.submit(next, self._batches, None)

    @property
    def is_done(self) -> bool:
        """Whether the next batch is there."""
        return self._next.done()

    def next(self) -> RowBatch | None:
        """The next batch as soon as it is there, and ``None`` behind the last one; the one after it is begun."""
        batch = self._next.result()
        if batch is not None:
            self._next = self._read()
        return batch


@dataclass(frozen=True, slots=True)
class _Failed:
    """How many rows of a batch failed, and for what."""

    rows: int
    errors: tuple[ErrorCount, ...]

    @classmethod
    def of(cls, failures: pl.DataFrame) -> _Failed:
        return cls(failures[ROW_NUMBER].n_unique(), error_counts(failures))


@dataclass(frozen=True, slots=True)
class _Processed:
    """A batch that is ready to be written."""

    batch: RowBatch
    processed: Processed
    failed: _Failed


class _LogThreads:
    """A thread that makes logged rows ready and one that hands them to the store; neither begins unless it is used."""

    def __init__(self, kind: Callable[[str], ThreadPoolExecutor]) -> None:
        self.ready, self.append = kind("ingest-log"), kind("ingest-append")

    def __enter__(self) -> _LogThreads:
        return self

    def __exit__(self, *_: object) -> None:
        self.ready.shutdown()
        self.append.shutdown()


@dataclass(slots=True, kw_only=True)
class _ChunkWork:
    """One attempt at a chunk."""

    plan: Plan
    run: IngestRun
    index: int
    store: RunStore
    transaction: ChunkTransaction
    handlers: RowHandlers
    row_log: str
    check_rejects: RejectCheck | None
    counts: Counts = field(default_factory=Counts)
    errors: tuple[ErrorCount, ...] = ()
    reported: float = 0.0
    logging: Future[None] | None = None
    appending: Future[None] | None = None

    def through(self, reading: _Reading) -> ChunkOutcome:
        """Work all batches."""
        started = time.monotonic()
        with _LogThreads(behind) as few, _LogThreads(beside) as many:
            for work in self._processed(reading):
                self._finish(work, few, many)
            self._await_log()
            self._await_append()
        return ChunkOutcome(counts=self.counts, errors=self.errors, duration=round(time.monotonic() - started, 3))

    def _processed(self, reading: _Reading) -> Iterator[_Processed]:
        """The batches with what became of them, ahead of the consumer; only this thread uses the database."""
        lookups, memory = Lookups(self.plan.table, self.transaction), Memory()
        working: deque[Future[_Processed]] = deque()
        with behind("ingest-transform") as worker:
            while (batch := reading.next()) is not None:
                if lookups.asks_ahead and working:
                    working[-1].result()  # what it looked up may be forgotten when the next keys are asked for
                lookups.prepare(batch)
                if lookups.needs_target:
                    yield self._prepared(batch, lookups, memory)
                    continue
                working.append(worker.submit(self._prepared, batch, lookups, memory))
                while len(working) > AHEAD or (len(working) > 1 and not reading.is_done):
                    yield working.popleft().result()
            while working:
                yield working.popleft().result()

    def _prepared(self, batch: RowBatch, lookups: Lookups, memory: Memory) -> _Processed:
        """What became of a batch, its records ready to be written."""
        processed = self.plan.process(batch, lookups.find, memory)
        if not processed.records.records.is_empty():
            processed = replace(processed, records=self.transaction.prepare(processed.records))
        return _Processed(batch, processed, _Failed.of(processed.failures))

    def _finish(self, work: _Processed, few: _LogThreads, many: _LogThreads) -> None:
        """Write a batch and note what became of its rows: in few words, since the database waits for the next one."""
        batch, processed, failed = work.batch, work.processed, work.failed
        result: WriteResult | None = None
        failures = processed.failures
        if not processed.records.records.is_empty():
            want_ends = self.row_log == "all"
            result = self.transaction.write(processed.records, want_ends=want_ends)
            if not result.refused.is_empty():
                failures = in_order([failures, result.refused])
                failed = _Failed.of(failures)
        self.counts += Counts(
            created=result.created if result else 0,
            updated=result.updated if result else 0,
            skipped=result.skipped if result else 0,
            failed=failed.rows,
        )
        if failed.rows:
            self.errors = limited([*self.errors, *failed.errors])
        self._await_log()
        threads = many if self.row_log == "all" or failed.rows * MANY > batch.rows else few
        self.logging = threads.ready.submit(self._log, threads.append, batch, processed, failures, result, self.counts)
        self.handlers.set_aside(batch, processed.records, failures)
        if self.check_rejects is not None:
            self.check_rejects(self.counts, self.errors)

    def _await_log(self) -> None:
        """What the row log of the last batch could not do ends the chunk; no more than one batch waits for it."""
        if self.logging is not None:
            self.logging.result()
            self.logging = None

    def _await_append(self) -> None:
        if self.appending is not None:
            self.appending.result()
            self.appending = None

    def _log(
        self,
        appender: ThreadPoolExecutor,
        batch: RowBatch,
        processed: Processed,
        failures: pl.DataFrame,
        result: WriteResult | None,
        counts: Counts,
    ) -> None:
        """Have the rows of a batch logged; while the store takes them, those of the next one are made ready."""
        rows = self._logged_rows(batch, processed, failures, result)
        self._await_append()
        self.appending = appender.submit(self._append, rows, batch.columns, counts)

    def _append(self, rows: pl.DataFrame | None, fields: Sequence[str], counts: Counts) -> None:
        """Log rows and tell how far the chunk is."""
        if rows is not None:
            self.store.append_rows(self.run.id, self.index, rows, fields)
        now = time.monotonic()
        if now - self.reported >= PROGRESS_SECONDS:
            self.reported = now
            self.store.report_progress(self.run.id, self.index, counts)

    def _logged_rows(
        self, batch: RowBatch, processed: Processed, failures: pl.DataFrame, result: WriteResult | None
    ) -> pl.DataFrame | None:
        if self.row_log == "none" or (self.row_log == "failed" and failures.is_empty()):
            return None
        masked = self.plan.masked_columns(batch.columns)
        if self.row_log == "all":
            return all_rows(batch, failures, result.ends if result else None, processed.trace, masked)
        return failed_rows(batch, failures, processed.trace, masked)
