"""The PostgreSQL target."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import psycopg
import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from airflow_provider_ingest.importers.table import ColumnKind
from airflow_provider_ingest.targets.base import SqlTarget
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.postgres_rows import PostgresWriter
from airflow_provider_ingest.targets.writer import TableWriter

_ZONED = re.compile("time.* with time zone|tstz")


class PostgresTarget(SqlTarget):
    """Rows by COPY; a chunk is guarded by an advisory lock that ends with its transaction."""

    driver_errors = (psycopg.Error,)

    def create_engine(self, url: sa.URL) -> sa.Engine:
        """An engine over psycopg 3, whatever driver the URL names.

        No prepared statements: they do not survive a pooler in transaction mode.
        """
        url = url.set(drivername="postgresql+psycopg")
        arguments = {"prepare_threshold": None, "application_name": "airflow-ingest"}
        return sa.create_engine(url, poolclass=NullPool, connect_args=arguments)

    def writers(self, connection: sa.Connection, plan: TablePlan) -> Mapping[str, TableWriter]:
        """Writers over one psycopg cursor."""
        cursor = connection.connection.cursor()
        return {table.path: PostgresWriter(table, cursor, number) for number, table in enumerate(plan.walk())}

    def lock(self, connection: sa.Connection, run_key: str, index: int, *, dry_run: bool) -> None:
        """Take an advisory lock; the transaction may stay idle while rows are transformed."""
        digest = hashlib.sha256(f"ingest:{run_key}:{index}".encode()).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        if any(_reads_zones(table) for table in self.plan.walk()):
            connection.exec_driver_sql("SET LOCAL TimeZone = 'UTC'")
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})

    def check_at_once(self, connection: sa.Connection) -> None:
        """Deferred constraints too, so that a dry run sees them and a refusal belongs to a row."""
        connection.exec_driver_sql("SET CONSTRAINTS ALL IMMEDIATE")

    def sql_types(self, connection: sa.Connection, table: sa.Table) -> dict[str, str]:
        """Types as PostgreSQL itself writes them; they serve as casts.

        A domain over bits or arrays is its base: a cast to it would cut bits, and SQLAlchemy knows no such arrays.
        """
        found = connection.execute(
            sa.text(
                "SELECT attname, CASE WHEN format_type(typbasetype, typtypmod) ~ '^bit|\\[\\]$' "
                "THEN format_type(typbasetype, typtypmod) ELSE format_type(atttypid, atttypmod) END "
                "FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid "
                "WHERE attrelid = CAST(:name AS regclass) AND attnum > 0 AND NOT attisdropped"
            ),
            {"name": connection.dialect.identifier_preparer.format_table(table)},
        )
        return {str(name): str(type_) for name, type_ in found.all()}


def _reads_zones(table: TablePlan) -> bool:
    """Whether the server reads times with a zone from text, as of arrays and ranges: those without one are UTC here."""
    kinds = (ColumnKind.ARRAY, ColumnKind.OTHER)
    return any(column.kind in kinds and _ZONED.match(column.sql_type) for column in table.shape.columns)
