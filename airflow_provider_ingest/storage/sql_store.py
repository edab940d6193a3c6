"""The run store in the ingest tables, over an engine of its own or on a caller's session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker

from airflow_provider_ingest.storage.sql_store_chunks import ChunkTable
from airflow_provider_ingest.storage.sql_store_log import RowLog
from airflow_provider_ingest.storage.sql_store_runs import RunTable

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection

SQLITE_BUSY_SECONDS = 60


class SqlStore(RunTable, ChunkTable, RowLog):
    """:class:`~airflow_provider_ingest.runs.ports.RunStore` in a SQL database: SQLite or PostgreSQL.

    >>> from sqlalchemy import create_engine
    >>> from airflow_provider_ingest.models import metadata
    >>> engine = create_engine("sqlite://")
    >>> metadata.create_all(engine)
    >>> SqlStore.on_engine(engine).open_runs()
    ()
    """

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
