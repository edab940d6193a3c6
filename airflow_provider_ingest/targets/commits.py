"""The markers in the target database that make chunks exactly-once: table ``ingest_commits``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts

TABLE_NAME = "ingest_commits"

PUBLISHED = -1
"""The chunk index of the marker that an atomic run's publication leaves."""


def commits_table(schema: str | None) -> sa.Table:
    """The table of markers in the target's schema."""
    return sa.Table(
        TABLE_NAME,
        sa.MetaData(),
        sa.Column("run_key", sa.String(64), primary_key=True),
        sa.Column("chunk_index", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("committed_at", sa.DateTime(timezone=True), nullable=False),
        schema=schema,
    )


class Commits:
    """Reads and writes markers over a connection whose transaction the caller holds."""

    def __init__(self, schema: str | None) -> None:
        self.table = commits_table(schema)

    def create(self, engine: sa.Engine) -> None:
        """Create the table, which was missing."""
        create_table(engine, self.table)

    def exists(self, connection: sa.Connection) -> bool:
        """Whether the table is there."""
        return _exists(connection, self.table)

    def find(self, connection: sa.Connection, run_key: str, index: int) -> ChunkOutcome | None:
        """The outcome of a committed chunk."""
        columns = self.table.c
        found = connection.scalar(
            sa.select(columns.outcome).where(columns.run_key == run_key, columns.chunk_index == index)
        )
        return ChunkOutcome.from_dict(json.loads(found)) if found else None

    def claim(self, connection: sa.Connection, run_key: str, index: int) -> None:
        """Insert a marker without an outcome, for databases without another lock; it is there if this one fails."""
        with suppress(IntegrityError), connection.begin_nested():  # another transaction may have committed its marker
            connection.execute(self.table.insert().values(self._marker(run_key, index, "")))

    def record(self, connection: sa.Connection, run_key: str, index: int, outcome: ChunkOutcome) -> None:
        """Write the marker, over one that was claimed."""
        marker = self._marker(run_key, index, json.dumps(outcome.to_dict()))
        columns = self.table.c
        claimed = self.table.update().where(columns.run_key == run_key, columns.chunk_index == index)
        if not connection.execute(claimed.values(marker)).rowcount:
            connection.execute(self.table.insert().values(marker))

    def counts(self, connection: sa.Connection, run_key: str) -> dict[int, Counts]:
        """What the markers of a run's chunks say became of their rows."""
        return {index: outcome.counts for index, outcome in self._outcomes(connection, run_key).items()}

    def restate(self, connection: sa.Connection, run_key: str, published: Mapping[int, Counts]) -> None:
        """Let the markers of an atomic run's chunks say what publishing really did with the rows they accepted."""
        for index, outcome in self._outcomes(connection, run_key).items():
            counts = replace(published.get(index, Counts()), failed=outcome.counts.failed)
            self.record(connection, run_key, index, replace(outcome, counts=counts))

    def _outcomes(self, connection: sa.Connection, run_key: str) -> dict[int, ChunkOutcome]:
        columns = self.table.c
        query = sa.select(columns.chunk_index, columns.outcome).order_by(columns.chunk_index)
        found = connection.execute(query.where(columns.run_key == run_key, columns.chunk_index != PUBLISHED)).all()
        return {index: ChunkOutcome.from_dict(json.loads(text)) for index, text in found if text}

    def _marker(self, run_key: str, index: int, outcome: str) -> dict[str, Any]:
        now = datetime.now(UTC)
        return {"run_key": run_key, "chunk_index": index, "outcome": outcome, "committed_at": now}


def ensure_table(engine: sa.Engine, table: sa.Table) -> None:
    """Create a table of this package if it is missing; raises as :func:`create_table` does."""
    with engine.connect() as connection:
        if _exists(connection, table):
            return
    create_table(engine, table)


def create_table(engine: sa.Engine, table: sa.Table) -> None:
    """Create a table of this package that was missing; safe against another task doing the same.

    Raises :class:`TargetError` with the statements for an administrator where the role may not create it.
    """
    try:
        with engine.begin() as connection:
            connection.execute(sa.schema.CreateTable(table, if_not_exists=True))
    except DBAPIError as error:
        with engine.connect() as connection:
            if _exists(connection, table):
                return
        statement = " ".join(str(sa.schema.CreateTable(table).compile(engine)).split())
        raise TargetError(
            f"The table {table.fullname} is missing in the target database and this role may not create it. Let an "
            f"owner of the schema run: {statement}; GRANT SELECT, INSERT, UPDATE, DELETE ON {table.fullname} TO …"
        ) from error


def _exists(connection: sa.Connection, table: sa.Table) -> bool:
    return bool(sa.inspect(connection).has_table(table.name, schema=table.schema))
