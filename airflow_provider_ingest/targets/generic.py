"""The target for any other database that SQLAlchemy speaks to."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from airflow_provider_ingest.targets.base import SqlTarget
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.generic_rows import GenericWriter
from airflow_provider_ingest.targets.sqlite import sqlite_engine
from airflow_provider_ingest.targets.writer import TableWriter


class GenericTarget(SqlTarget):
    """Rows by batched statements. The marker is inserted first: a twin waits for it, or fails and is tried again."""

    has_transactional_ddl = False

    @property
    def has_concurrent_writers(self) -> bool:
        """Whether another connection may write while a chunk is open."""
        return self._url.get_backend_name() != "sqlite"

    def connect(self) -> sa.Connection:
        """A connection for a chunk."""
        return self.engine.connect().execution_options(ingest_mode="IMMEDIATE")

    def create_engine(self, url: sa.URL) -> sa.Engine:
        """An engine over the URL's own driver."""
        return sqlite_engine(url) if url.get_backend_name() == "sqlite" else sa.create_engine(url, poolclass=NullPool)

    def writers(self, connection: sa.Connection, plan: TablePlan) -> Mapping[str, TableWriter]:
        """Writers over the chunk's connection."""
        return {table.path: GenericWriter(table, connection) for table in plan.walk()}

    def lock(self, connection: sa.Connection, run_key: str, index: int, *, dry_run: bool) -> None:
        """Insert the marker without an outcome; where another transaction has done so, this waits for its end."""
        if not dry_run:
            self._commits.claim(connection, run_key, index)
