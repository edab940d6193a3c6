"""One chunk's transaction in the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import polars as pl
import sqlalchemy as sa

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.runs.frames import RecordBatch, WriteResult
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.targets.atomic import Staging
from airflow_provider_ingest.targets.batch import BatchWriter
from airflow_provider_ingest.targets.commits import Commits
from airflow_provider_ingest.targets.lookups import look_up


class SqlChunk:
    """Holds the transaction from the first batch to the commit; see
    :class:`~airflow_provider_ingest.runs.ports.ChunkTransaction`.

    An atomic run's chunk writes into the table too, so that refusals and counts show, but takes that back at
    the commit and leaves its batches in the staging table.

    :param reaching: turns errors of the database into :class:`TargetError`.
    :param create_outside: where missing records of relations are created, ``None`` for this very transaction: chunks
        that create the same records would wait for each other to end.
    """

    def __init__(
        self,
        connection: sa.Connection,
        commits: Commits,
        batches: BatchWriter,
        reaching: Callable[[], AbstractContextManager[None]],
        *,
        name: tuple[str, int],
        dry_run: bool,
        recorded: ChunkOutcome | None,
        staging: Staging | None,
        create_outside: Callable[..., pl.DataFrame] | None = None,
    ) -> None:
        self.recorded = recorded
        self.connection = connection
        self._commits = commits
        self._batches = batches
        self._reaching = reaching
        self._run_key, self._index = name
        self._dry_run = dry_run
        self._staging = staging
        self._is_over = False
        self._create_outside = create_outside
        if staging is not None:
            connection.exec_driver_sql("SAVEPOINT ingest_chunk")

    def lookup(self, table: str, key: str, value: str, keys: pl.Series, *, create_missing: bool) -> pl.DataFrame:
        """``key`` and ``value`` columns for the given keys, seeing what this transaction wrote."""
        self._must_be_open()
        outside = self._create_outside if create_missing else None
        with self._reaching():
            found = look_up(self.connection, table, key, value, keys, create_missing=create_missing and outside is None)
        missing = keys.filter(~keys.is_in(found.get_column("key").implode())) if outside else keys.clear()
        if outside is None or missing.is_empty():
            return found
        return pl.concat([found, outside(table, key, value, missing, create_missing=True)], how="vertical_relaxed")

    def prepare(self, batch: RecordBatch) -> RecordBatch:
        """Do what needs no database."""
        return self._batches.prepare(batch)

    def write(self, batch: RecordBatch, *, want_ends: bool = False) -> WriteResult:
        """Write a batch; rows that the database refuses come back as failures, the others stand."""
        self._must_be_open()
        with self._reaching():
            result = self._batches.write(batch, want_ends=want_ends)
        if self._staging is not None:
            self._staging.keep(batch, result.refused)
        return result

    def commit(self, outcome: ChunkOutcome) -> None:
        """Write the marker and commit; a dry run rolls back instead."""
        self._must_be_open()
        self._is_over = True
        with self._reaching():
            if self._dry_run:
                self.connection.rollback()
                return
            if self._staging is not None:
                self.connection.exec_driver_sql("ROLLBACK TO SAVEPOINT ingest_chunk")
                self._staging.store(self.connection, self._index)
            self._commits.record(self.connection, self._run_key, self._index, outcome)
            self.connection.commit()

    def _must_be_open(self) -> None:
        if self.recorded is not None:
            raise TargetError(f"Chunk {self._index} is committed already; nothing more can be written to it.")
        if self._is_over:
            raise TargetError(f"The transaction of chunk {self._index} is over.")


@contextmanager
def attempt(connection: sa.Connection) -> Iterator[None]:
    """A savepoint around one attempt at a batch."""
    connection.exec_driver_sql("SAVEPOINT ingest_batch")
    try:
        yield
    except BaseException:
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT ingest_batch")
        raise
    connection.exec_driver_sql("RELEASE SAVEPOINT ingest_batch")
