"""The interfaces between the use cases and what stands behind them: run store, launcher, catalog, target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import (
    ChunkPlan,
    ChunkRecord,
    NewRun,
    Page,
    RowRecord,
    RunFilter,
    RunRecord,
    RunRejects,
    RunTotals,
)
from airflow_provider_ingest.runs.status import RunStatus

if TYPE_CHECKING:
    import polars as pl

    from airflow_provider_ingest.importers.table import TableShape
    from airflow_provider_ingest.runs.frames import RecordBatch, WriteResult


class RunStore(Protocol):
    """Where runs, chunks and row logs are kept. Each call is one short transaction of its own, unless the
    store was opened on a caller's session; then it takes part in that session's transaction.
    """

    def create_run(self, new: NewRun) -> RunRecord:
        """Record a run as ``pending``. A second run for the same (dag_id, dag_run_id) returns the first."""

    def get_run(self, run_id: int) -> RunRecord:
        """The run, with counts and chunk numbers derived from its chunks; raises :class:`RunNotFound`."""

    def find_run(self, dag_id: str, dag_run_id: str) -> RunRecord | None:
        """The run of a DAG run."""

    def release_dag_run(self, run_id: int) -> None:
        """Let another run have the id of this one's DAG run, which was deleted."""

    def find_idempotent(self, user_name: str | None, key: str, since: datetime) -> RunRecord | None:
        """The caller's newest run with this idempotency key started after ``since``."""

    def find_retry(self, run_id: int) -> RunRecord | None:
        """The open retry of a run, if there is one."""

    def find_same_file(self, importer: str, sha256: str, fingerprint: str, before: int) -> RunRecord | None:
        """The newest real, completed run with a lower id of the same importer, file and definition."""

    def rivals(self, run: RunRecord, sha256: str, fingerprint: str) -> Sequence[RunRecord]:
        """The other real runs of the importer with the same file and definition, staged or completed."""

    def list_runs(self, which: RunFilter, page: int, per_page: int) -> Page[RunRecord]:
        """Runs, most recent first."""

    def totals(self, which: RunFilter) -> RunTotals:
        """What became of the rows of these runs."""

    def importers(self) -> Sequence[str]:
        """The slugs of all importers that have runs, those that are gone included."""

    def latest_runs(self, importers: Iterable[str]) -> dict[str, RunRecord]:
        """The newest run of each importer that has one."""

    def recent_rejects(self, importers: Iterable[str], most: int = 20) -> dict[str, tuple[RunRejects, ...]]:
        """The rejects of the newest runs of each importer that has any, newest first."""

    def count_starts(self, user_name: str | None, since: datetime) -> int:
        """How many runs the user started since."""

    def open_runs(self) -> Sequence[RunRecord]:
        """All runs that have not ended."""

    def change_status(
        self,
        run_id: int,
        target: RunStatus,
        *,
        origins: Iterable[RunStatus] | None = None,
        summary: Mapping[str, Any] | None = None,
    ) -> bool:
        """Change the status in one guarded UPDATE; ``False`` if the run was in none of ``origins`` (default: all
        statuses from which the state machine allows it). Sets ``completed_at`` and ``summary`` in terminal statuses,
        ``cancel_requested_at`` in ``cancelling``, and appends to the history.
        """

    def record_file(self, run_id: int, file: Mapping[str, Any]) -> None:
        """Keep the facts of the staged file; ``name`` also becomes the original file name if none is set."""

    def record_definition(self, run_id: int, fingerprint: str) -> None:
        """Keep the fingerprint of the definition that works the run, instead of that which it was started with."""

    def record_plan(self, run_id: int, chunks: Sequence[ChunkPlan], warnings: Sequence[str] = ()) -> None:
        """Record chunks and total; planning again replaces what no chunk has started yet, and is refused after."""

    def chunk(self, run_id: int, index: int) -> ChunkRecord:
        """One chunk."""

    def chunks(self, run_id: int) -> Sequence[ChunkRecord]:
        """All chunks in order."""

    def start_chunk(self, run_id: int, index: int) -> None:
        """Note the start; forget counts and row log of an earlier attempt that did not finish."""

    def report_progress(self, run_id: int, index: int, counts: Counts) -> None:
        """Show how far a working chunk is; has no effect once its outcome is recorded or the run has ended."""

    def finish_chunk(self, run_id: int, index: int, outcome: ChunkOutcome) -> None:
        """Record the outcome, once: a second report changes nothing."""

    def settle_counts(self, run_id: int, counts: Mapping[int, Counts] | None = None) -> None:
        """Make the counts final before a run ends: chunks that did not finish wrote nothing and count nothing.

        :param counts: what became of the rows of finished chunks, by index, where that is not what they reported:
            an atomic run's chunks only foresee it.
        """

    def append_rows(self, run_id: int, index: int, rows: pl.DataFrame, fields: Sequence[str] | None = None) -> None:
        """Log rows of a chunk; ``rows`` has the schema ROW_LOG.

        :param fields: the names of the values where ``data`` is an array.
        """

    def rows(
        self, run_id: int, *, page: int, per_page: int, status: str | None = None, message: str | None = None
    ) -> Page[RowRecord]:
        """Logged rows by row number; ``message`` limits to a general or ``field: message`` group.

        :param status: that of the rows; ``unprocessed`` are those that chunks of an ended run logged which did not
            finish: they are not ``failed``.
        """

    def row(self, run_id: int, row_number: int) -> RowRecord | None:
        """One logged row."""

    def failed_rows(self, run_id: int) -> Iterator[Sequence[RowRecord]]:
        """The failed rows that the run counts, by row number, in batches, with flat memory."""

    def count_rows(self, run_id: int, status: str | None = None) -> int:
        """How many rows are logged; ``status`` as in :meth:`rows`."""

    def error_counts(self, run_id: int) -> Sequence[ErrorCount]:
        """General and validation messages of the whole run, most frequent first."""

    def add_warning(self, run_id: int, warning: str) -> None:
        """Keep a warning for the run's summary; the same sentence once."""

    def warnings(self, run_id: int) -> Sequence[str]:
        """The warnings of run and chunks, each once."""

    def prune_rows(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete logged rows of ended runs that ended before, in batches; returns how many."""


class Launcher(Protocol):
    """Starts and stops the engine's work on a run."""

    def launch(self, run: RunRecord) -> None:
        """Create the DAG run for a recorded run, in the same transaction where the store takes part in one."""

    def state_of(self, run: RunRecord) -> str | None:
        """The state of the run's DAG run (``queued``, ``running``, ``success``, ``failed``); ``None`` if it is gone."""

    def obstacle(self, run: RunRecord) -> str | None:
        """Why none of the run's tasks that are due is started, if that will not pass by itself."""

    def skip_waiting(self, run: RunRecord) -> None:
        """Spare the scheduler the chunks that have not started (they would see the cancellation anyway)."""


class Catalog(Protocol):
    """The importers there are, as manifests (see :mod:`airflow_provider_ingest.importers.manifest`)."""

    def manifest(self, slug: str) -> Mapping[str, Any]:
        """The manifest with ``dag`` state (``is_paused``, ``schedule``) added; raises :class:`ImporterNotFound`."""

    def manifests(self) -> Sequence[Mapping[str, Any]]:
        """All, by slug."""


class ChunkTransaction(Protocol):
    """One chunk's transaction in the target database, held open from the first batch to the commit."""

    recorded: ChunkOutcome | None
    """The outcome of an earlier attempt that committed; nothing must be written then."""

    def lookup(self, table: str, key: str, value: str, keys: pl.Series, *, create_missing: bool) -> pl.DataFrame:
        """Like :meth:`Target.lookup`, seeing what this transaction wrote; a dry run leaves nothing behind."""

    def prepare(self, batch: RecordBatch) -> RecordBatch:
        """The batch with what can be done for it before the database is asked: called from another thread, while the
        batch before it is written. May return it as it is.
        """

    def write(self, batch: RecordBatch, *, want_ends: bool = False) -> WriteResult:
        """Write a batch, prepared or not; rows that the database refuses come back as failures, the others stand."""

    def commit(self, outcome: ChunkOutcome) -> None:
        """Write the marker and commit; a dry run rolls back instead."""


class Target(Protocol):
    """The table of a database that receives the rows, and those of its nested collections."""

    def shape(self) -> TableShape:
        """The table's columns, keys and constraints; raises :class:`TargetError`."""

    def child_shapes(self) -> Mapping[str, TableShape]:
        """The tables of nested collections by dotted path."""

    def lookup(self, table: str, key: str, value: str, keys: pl.Series, *, create_missing: bool) -> pl.DataFrame:
        """``key`` and ``value`` columns for the given keys, for relations."""

    def open_chunk(self, run_key: str, index: int, *, dry_run: bool) -> AbstractContextManager[ChunkTransaction]:
        """Begin the chunk's transaction. Two at a time for one chunk: the second waits, then sees the first's
        marker. Leaving without a commit rolls back.
        """

    def publish(self, run_key: str) -> Mapping[int, Counts] | None:
        """Atomic runs: move what the chunks staged into the table, in one transaction, once.

        Returns what became of the rows of each chunk, by its index; ``None`` if nothing was staged.
        """

    def discard(self, run_key: str) -> None:
        """Atomic runs: drop what the chunks staged."""
