"""The SQLite target."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from airflow_provider_ingest.targets.base import SqlTarget
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.reflect import ANY
from airflow_provider_ingest.targets.sqlite_rows import SqliteWriter
from airflow_provider_ingest.targets.writer import TableWriter

BUSY_SECONDS = 3600
"""How long a chunk waits for the chunks before it: SQLite has one writer at a time."""


class SqliteTarget(SqlTarget):
    """Rows by executemany. A chunk holds the database's only write lock from its begin to its commit."""

    driver_errors = (sqlite3.Error,)

    @property
    def has_concurrent_writers(self) -> bool:
        """One at a time."""
        return False

    def create_engine(self, url: sa.URL) -> sa.Engine:
        """An engine in WAL mode, so that readers go on while a chunk is written."""
        return sqlite_engine(url)

    def connect(self) -> sa.Connection:
        """A connection whose transaction takes the write lock at its begin."""
        return self.engine.connect().execution_options(ingest_mode="IMMEDIATE")

    def lock(self, connection: sa.Connection, run_key: str, index: int, *, dry_run: bool) -> None:
        """Nothing more: whoever holds the write lock is alone."""

    def sql_types(self, connection: sa.Connection, table: sa.Table) -> dict[str, str]:
        """The columns of a STRICT table that take anything as it is: elsewhere the type ANY makes numbers of texts."""
        if sqlite3.sqlite_version_info < (3, 37):  # which has no STRICT tables
            return {}
        found = connection.execute(
            sa.text(
                "SELECT c.name, c.type FROM pragma_table_list(:table) AS t, pragma_table_info(:table) AS c "
                "WHERE t.schema = :schema AND t.strict AND upper(c.type) = :any"
            ),
            {"table": table.name, "schema": table.schema or "main", "any": ANY},
        )
        return {str(name): ANY for name, _ in found.all()}

    def writers(self, connection: sa.Connection, plan: TablePlan) -> Mapping[str, TableWriter]:
        """Writers over one cursor."""
        cursor: Any = connection.connection.cursor()
        return {table.path: SqliteWriter(table, cursor, number) for number, table in enumerate(plan.walk())}


def sqlite_engine(url: sa.URL) -> sa.Engine:
    """An engine that leaves transactions to SQLAlchemy; with the option ``ingest_mode="IMMEDIATE"`` they take the
    write lock at their begin.
    """
    url = url.set(drivername="sqlite+pysqlite")
    engine = sa.create_engine(url, poolclass=NullPool, connect_args={"timeout": BUSY_SECONDS})

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the driver begins no transactions of its own
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        mode = connection.get_execution_options().get("ingest_mode", "DEFERRED")
        connection.exec_driver_sql(f"BEGIN {mode}")

    return engine
