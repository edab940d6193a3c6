"""What all targets share: connections by SQLAlchemy, plans of tables, chunk transactions, markers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cached_property, partial

import polars as pl
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.importers.table import TableShape
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.targets.atomic import Staging
from airflow_provider_ingest.targets.batch import BatchWriter
from airflow_provider_ingest.targets.chunk import SqlChunk, attempt
from airflow_provider_ingest.targets.commits import PUBLISHED, Commits, ensure_table
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.lookups import look_up
from airflow_provider_ingest.targets.planning import TargetTables, plan_tables
from airflow_provider_ingest.targets.writer import TableWriter

MAX_WORDS = 300
"""Most characters of the database's own words in a message."""


class SqlTarget(ABC):
    """A target in a database that SQLAlchemy speaks to; one connection for each use, none kept open.

    :param tables: the tables as the importer declares them.
    """

    def __init__(self, url: sa.URL, tables: TargetTables) -> None:
        self._url = url
        self._tables = tables
        self._has_markers = False

    # what a database adds -------------------------------------------------------------------------------------

    @abstractmethod
    def create_engine(self, url: sa.URL) -> sa.Engine:
        """An engine without a pool."""

    @abstractmethod
    def writers(self, connection: sa.Connection, plan: TablePlan) -> Mapping[str, TableWriter]:
        """A writer for each table, by path, on the connection of a chunk."""

    def connect(self) -> sa.Connection:
        """A connection for a chunk."""
        return self.engine.connect()

    @abstractmethod
    def lock(self, connection: sa.Connection, run_key: str, index: int, *, dry_run: bool) -> None:
        """Wait until no other transaction works this chunk."""

    def sql_types(self, connection: sa.Connection, table: sa.Table) -> dict[str, str]:
        """The column types as the database writes them, where SQLAlchemy's names do not serve as casts."""
        return {}

    def check_at_once(self, connection: sa.Connection) -> None:  # noqa: B027 - not all need it
        """Make the database check each constraint with its statement, so that a refusal belongs to a row."""

    # the port -------------------------------------------------------------------------------------------------------

    @cached_property
    def engine(self) -> sa.Engine:
        """The engine, made on first use."""
        return self.create_engine(self._url)

    @cached_property
    def plan(self) -> TablePlan:
        """The tables, looked up in the database once."""
        with self.reaching(), self.engine.connect() as connection:
            return self._looked_up(connection)

    def shape(self) -> TableShape:
        """The table's columns, keys and constraints."""
        return self.plan.shape

    def child_shapes(self) -> Mapping[str, TableShape]:
        """The tables of nested collections by dotted path."""
        return {child.path: child.shape for child in self.plan.walk() if child.path}

    def lookup(self, table: str, key: str, value: str, keys: pl.Series, *, create_missing: bool) -> pl.DataFrame:
        """``key`` and ``value`` columns for the given keys, in a transaction of its own."""
        with self.reaching(), self.engine.begin() as connection:
            return look_up(connection, table, key, value, keys, create_missing=create_missing)

    def open_chunk(self, run_key: str, index: int, *, dry_run: bool) -> AbstractContextManager[SqlChunk]:
        """Begin the chunk's transaction."""
        return self._open(run_key, index, dry_run=dry_run)

    def publish(self, run_key: str) -> Mapping[int, Counts] | None:
        """Atomic runs: write what the chunks staged, in one transaction, once; ``None`` if nothing was staged.

        Returns what really became of the rows of each chunk, which may differ from what the chunk foresaw when it
        staged them; the markers say the same from then on.

        Raises :class:`~airflow_provider_ingest.targets.atomic.PublishRefused`, with nothing written, where the
        database refuses a row.
        """
        staging = Staging(self._commits.table.schema, run_key)
        with self._open(run_key, PUBLISHED, dry_run=False) as chunk, self.reaching():
            if chunk.recorded is not None:
                return self._commits.counts(chunk.connection, run_key)
            published = staging.publish(chunk.connection, chunk.write)
            if published is None:
                return None
            if self.has_transactional_ddl:
                staging.drop(chunk.connection)
            self._commits.restate(chunk.connection, run_key, published)
            counts = self._commits.counts(chunk.connection, run_key)
            chunk.commit(ChunkOutcome(counts=Counts.total(counts.values())))
        if not self.has_transactional_ddl:
            with suppress(TargetError):  # what was published stands, whatever is left beside it
                self.discard(run_key)
        return counts

    def discard(self, run_key: str) -> None:
        """Atomic runs: drop what the chunks staged."""
        with self.reaching(), self.engine.begin() as connection:
            Staging(self._commits.table.schema, run_key).drop(connection)

    has_transactional_ddl: bool = True
    """Whether DROP TABLE belongs to the transaction it stands in; elsewhere it would commit what came before."""

    driver_errors: tuple[type[Exception], ...] = ()
    """Errors of the driver, where it is used past SQLAlchemy."""

    @property
    def has_concurrent_writers(self) -> bool:
        """Whether another connection may write while a chunk is open."""
        return True

    # inside ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _commits(self) -> Commits:
        return Commits(self._tables.schema)

    def _looked_up(self, connection: sa.Connection) -> TablePlan:
        """The tables, and whether there are markers, asked over one connection."""
        self._has_markers = self._commits.exists(connection)
        return plan_tables(connection, self._tables, self.sql_types)

    @contextmanager
    def _open(self, run_key: str, index: int, *, dry_run: bool) -> Iterator[SqlChunk]:
        staging = None
        with self.reaching(), ExitStack() as opening:
            connection = opening.enter_context(self.connect())
            if "plan" not in vars(self):
                self.plan = self._looked_up(connection)
                connection.rollback()  # what was asked has begun a transaction
            plan = self.plan
            if not dry_run:
                if not self._has_markers:
                    self._commits.create(self.engine)
                    self._has_markers = True
                if self._tables.is_atomic and index != PUBLISHED:
                    staging = Staging(self._commits.table.schema, run_key)
                    ensure_table(self.engine, staging.table)
            transaction = connection.begin()
            self.lock(connection, run_key, index, dry_run=dry_run)
            self.check_at_once(connection)
            has_markers = self._has_markers or self._commits.exists(connection)
            chunk = SqlChunk(
                connection,
                self._commits,
                BatchWriter(plan, self.writers(connection, plan), partial(attempt, connection)),
                self.reaching,
                name=(run_key, index),
                dry_run=dry_run,
                recorded=self._commits.find(connection, run_key, index) if has_markers else None,
                staging=staging,
                create_outside=None if dry_run or not self.has_concurrent_writers else self.lookup,
            )
            closing = opening.pop_all()
        with closing:
            try:
                yield chunk
            finally:
                if transaction.is_active:
                    with suppress(SQLAlchemyError):  # the connection may be the very thing that failed
                        transaction.rollback()

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """Turn what the database says, where it is no row's fault, into a :class:`TargetError`."""
        try:
            yield
        except Exception as error:  # narrowed below: the driver's own errors are known at run time only
            if not isinstance(error, (SQLAlchemyError, *self.driver_errors)):
                raise
            raise self.failure(error) from None

    def failure(self, error: BaseException) -> TargetError:
        """A database error that is no row's fault, told without DSN, SQL and values."""
        original = getattr(error, "orig", None) or error
        words = str(getattr(getattr(original, "diag", None), "message_primary", None) or original).strip()
        first = words.splitlines()[0] if words else type(original).__name__
        may_pass = any(cls.__name__ in ("OperationalError", "InterfaceError") for cls in type(original).__mro__)
        named = f' (connection "{self._tables.conn_id}")' if self._tables.conn_id else ""
        return TargetError(f"The target database{named} failed: {self._without_secrets(first)}", retryable=may_pass)

    def _without_secrets(self, text: str) -> str:
        text = text.rpartition(" failed: ")[2]  # "connection to server at … failed: why"
        for secret in (self._url.password, self._url.host, self._url.username):
            if secret:
                text = text.replace(f'"{secret}"', "(hidden)")
        return text.replace(str(self._url.password), "***")[:MAX_WORDS] if self._url.password else text[:MAX_WORDS]
