"""Working one chunk: read, process, write, log and commit, in a pipeline of batches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import polars as pl

from airflow_provider_ingest.engine.chunk_log import ChunkLog, logs_much
from airflow_provider_ingest.engine.distinct import Memory
from airflow_provider_ingest.engine.failures import error_counts, in_order, is_one_each, limited
from airflow_provider_ingest.engine.handlers import RowHandlers
from airflow_provider_ingest.engine.lookups import Lookups
from airflow_provider_ingest.engine.plan import Plan, Processed, compile_plan
from airflow_provider_ingest.engine.row_log import only_rows
from airflow_provider_ingest.engine.threads import behind, without_old_garbage
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.runs.events import IngestRun
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RowBatch, WriteResult
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.ports import ChunkTransaction, RunStore, Target
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan

AHEAD = 2
"""Batches that are transformed before the one that is written has gone: one takes longer now and then."""

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
    before_commit: Callable[[], None] | None = None,
) -> ChunkOutcome:
    """Work a chunk to its end, exactly once however often it is called; returns its outcome.

    A chunk that another attempt has committed is only reported again. Rows are written, refused rows logged and the
    marker committed in this order, so that a marker means a complete row log. Batches overlap: while the target
    writes one, those behind it are transformed and read and the failed rows of those before are logged.

    :param batches: the chunk's rows, read lazily.
    :param row_log: which rows to log where the importer leaves it open (``[ingest] log_rows``; default ``failed``).
    :param check_rejects: called with the chunk's counts and errors after each batch; what it raises ends the chunk
        unwritten.
    :param before_commit: called when all is written; what it raises ends the chunk unwritten, too.
    """
    with without_old_garbage(), behind("ingest-read") as reader, RowHandlers(config.handlers, run) as handlers:
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
                if before_commit is not None:
                    before_commit()
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
        rows = failures.height if is_one_each(failures) else failures[ROW_NUMBER].n_unique()
        return cls(rows, error_counts(failures))


@dataclass(frozen=True, slots=True)
class _Processed:
    """A batch that is ready to be written.

    :param batch: with all of its rows, or with the failed ones alone where it can be read again.
    :param rows: how many the batch had.
    """

    batch: RowBatch
    rows: int
    processed: Processed
    failed: _Failed


@dataclass(slots=True, kw_only=True)
class _ChunkWork:
    """One attempt at a chunk.

    :param is_refused: whether the target has refused a row: it will refuse more of them.
    """

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
    is_refused: bool = False

    def through(self, reading: _Reading) -> ChunkOutcome:
        """Work all batches."""
        started = time.monotonic()
        log = ChunkLog(plan=self.plan, store=self.store, run_id=self.run.id, index=self.index, which=self.row_log)
        with log:
            for work in self._processed(reading):
                self._finish(work, log)
                del work  # while the next one is awaited its memory is needed
            log.finish()
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
        failed, rows = _Failed.of(processed.failures), batch.rows
        if batch.again is not None and self._needs_failed_rows_alone and not logs_much(failed.rows, rows):
            batch = only_rows(batch, processed.failures[ROW_NUMBER])
        return _Processed(batch, rows, processed, failed)

    @property
    def _needs_failed_rows_alone(self) -> bool:
        """Whether nobody will ask for the rows of a batch that pass, the memory of which is that of two batches."""
        return self.row_log != "all" and not self.handlers.want_processed and not self.is_refused

    def _finish(self, work: _Processed, log: ChunkLog) -> None:
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
                self.is_refused = True
                if batch.again is not None and batch.rows < work.rows:
                    batch = batch.again()
        self.counts += Counts(
            created=result.created if result else 0,
            updated=result.updated if result else 0,
            skipped=result.skipped if result else 0,
            failed=failed.rows,
        )
        if failed.rows:
            self.errors = limited([*self.errors, *failed.errors])
        log.add(batch, failures, processed.trace, result, self.counts, is_much=logs_much(failed.rows, work.rows))
        self.handlers.set_aside(batch, processed.records, failures)
        if self.check_rejects is not None:
            self.check_rejects(self.counts, self.errors)
