"""The run store in the ingest tables, over an engine of its own or on a caller's session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, delete, event, false, func, insert, select, update
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.orm import Session, sessionmaker

from airflow_provider_ingest.exceptions import SetupError
from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.storage.sql_store_chunks import ChunkTable
from airflow_provider_ingest.storage.sql_store_log import RowLog
from airflow_provider_ingest.storage.sql_store_rejects import RejectsView
from airflow_provider_ingest.storage.sql_store_runs import RunTable

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection

SQLITE_BUSY_SECONDS = 60

SEQUENCES = ("ingest_runs_id_seq", "ingest_error_counts_id_seq")
"""What numbers new lines in PostgreSQL."""


class SqlStore(RunTable, ChunkTable, RejectsView, RowLog):
    """:class:`~airflow_provider_ingest.runs.ports.RunStore` in a SQL database: SQLite or PostgreSQL.

    >>> from sqlalchemy import create_engine
    >>> from airflow_provider_ingest.models import metadata
    >>> engine = create_engine("sqlite://")
    >>> metadata.create_all(engine)
    >>> SqlStore.on_engine(engine).open_runs()
    ()
    """

    def check_rights(self) -> None:
        """Raise :class:`SetupError` unless the database lets this store write all its tables; changes nothing."""
        with self._transaction() as session:
            try:
                for table in metadata.sorted_tables:
                    nothing = select(table).where(false())
                    session.execute(insert(table).from_select(list(table.columns), nothing, include_defaults=False))
                    session.execute(update(table).where(false()).values({next(iter(table.columns)).name: None}))
                    session.execute(delete(table).where(false()))
            except (OperationalError, ProgrammingError) as error:
                session.rollback()
                reason = str(error.orig).strip().splitlines()[0]
                raise SetupError(
                    f"Tasks cannot write the ingest tables: {reason}. "
                    "GRANT SELECT, INSERT, UPDATE, DELETE on them to their role."
                ) from error
            if session.get_bind().dialect.name == "postgresql":
                for name in SEQUENCES:
                    if not session.scalar(select(func.has_sequence_privilege(name, "USAGE"))):
                        raise SetupError(
                            f"Tasks cannot number new lines: GRANT USAGE ON SEQUENCE {name} to their role."
                        )

    @classmethod
    def on_engine(cls, engine: Engine) -> SqlStore:
        """A store whose every call is a short transaction of its own, as tasks use it."""
        if engine.dialect.name == "sqlite" and not event.contains(engine, "connect", prepare_sqlite):
            event.listen(engine, "connect", prepare_sqlite)
            engine.dispose()  # connections made before do not have the settings
        factory = sessionmaker(engine, expire_on_commit=False)

        @contextmanager
        def transaction() -> Iterator[Session]:
            with factory.begin() as session:
                yield session

        return cls(transaction)

    @classmethod
    def in_session(cls, session: Session) -> SqlStore:
        """A store that takes part in the session's transaction: it flushes nothing of its own and never commits."""

        @contextmanager
        def transaction() -> Iterator[Session]:
            yield session

        return cls(transaction)


def prepare_sqlite(connection: DBAPIConnection, _: Any) -> None:
    """Let many tasks share a SQLite file: wait for each other, read beside a writer, keep references whole."""
    cursor = connection.cursor()
    try:
        cursor.execute(f"PRAGMA busy_timeout={SQLITE_BUSY_SECONDS * 1000}")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA journal_mode")
        row = cursor.fetchone()
        if row and row[0] not in ("wal", "memory"):
            with suppress(OperationalError, connection_error()):
                cursor.execute("PRAGMA journal_mode=WAL")  # refused while others are connected; then it works without
    finally:
        cursor.close()


def connection_error() -> type[Exception]:
    """The driver's own error for a database that is busy."""
    import sqlite3

    return sqlite3.OperationalError
