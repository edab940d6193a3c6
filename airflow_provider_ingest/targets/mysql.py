"""The target for MySQL and MariaDB."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pymysql
import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.targets.base import SqlTarget
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.mysql_load import Loader
from airflow_provider_ingest.targets.mysql_rows import MysqlWriter
from airflow_provider_ingest.targets.writer import TableWriter

WAIT_SECONDS = 24 * 3600
"""How long a chunk waits for a twin, and for the rows that another chunk holds."""

SESSION = (
    # a value that does not fit is refused, never cut or replaced; 0 in an AUTO_INCREMENT column stays 0
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
    "ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION time_zone = '+00:00'",
    # a statement sees what others have committed; chunks lock the rows they touch and no gaps between them
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    f"SET SESSION innodb_lock_wait_timeout = {WAIT_SECONDS}",
    # the connection rests while rows are transformed
    f"SET SESSION wait_timeout = {WAIT_SECONDS}",
)


class MysqlTarget(SqlTarget):
    """Rows by LOAD DATA where the connection says ``local_infile``, else by statements of many rows; a named
    lock guards a chunk and ends with its connection.

    The tables must be transactional (InnoDB).
    """

    driver_errors = (pymysql.err.Error,)
    has_transactional_ddl = False

    @cached_property
    def _may_load(self) -> bool:
        return str(self._url.query.get("local_infile", "")).lower() in ("1", "true", "yes", "on")

    def create_engine(self, url: sa.URL) -> sa.Engine:
        """An engine over PyMySQL, whatever driver the URL names, in strict mode and UTC."""
        url = url.set(drivername="mysql+pymysql").difference_update_query(["local_infile", "charset"])
        arguments = {"charset": "utf8mb4", "local_infile": self._may_load}
        engine = sa.create_engine(url, poolclass=NullPool, connect_args=arguments)

        @sa.event.listens_for(engine, "connect")
        def prepare(connection: Any, _record: Any) -> None:
            connection._local_infile = False  # until a file is sent; see mysql_load
            with connection.cursor() as cursor:
                for statement in SESSION:
                    cursor.execute(statement)
            connection.commit()

        return engine

    def writers(self, connection: sa.Connection, plan: TablePlan) -> Mapping[str, TableWriter]:
        """Writers over one PyMySQL cursor."""
        cursor: Any = connection.connection.cursor()
        loader = Loader(cursor, may_load=self._may_load)
        return {
            table.path: MysqlWriter(table, cursor, number, loader, _collations(connection, table))
            for number, table in enumerate(plan.walk())
        }

    def lock(self, connection: sa.Connection, run_key: str, index: int, *, dry_run: bool) -> None:
        """Take a named lock of the server."""
        name = "ingest:" + hashlib.sha256(f"{run_key}:{index}".encode()).hexdigest()[:48]
        taken = connection.scalar(sa.text("SELECT GET_LOCK(:name, :wait)"), {"name": name, "wait": WAIT_SECONDS})
        if taken != 1:
            raise TargetError(f"Chunk {index} is worked by another task.", retryable=True)

    def failure(self, error: BaseException) -> TargetError:
        """A database error that is no row's fault, told without addresses, names of users and SQL."""
        original = getattr(error, "orig", None) or error
        words = str(original.args[1]) if len(original.args) > 1 else str(original) or type(original).__name__
        words = re.sub(r"'[^']*'@'[^']*'", "(hidden)", words)
        words = re.sub(r" on '[^']*'", "", words)
        found = super().failure(pymysql.err.OperationalError(words))
        retryable = isinstance(original, (pymysql.err.OperationalError, pymysql.err.InterfaceError))
        return TargetError(str(found), retryable=retryable)


def _collations(connection: sa.Connection, plan: TablePlan) -> dict[str, str]:
    """The collation of each text column of a table."""
    found = connection.execute(
        sa.text(
            "SELECT column_name, collation_name FROM information_schema.columns WHERE table_name = :name "
            "AND table_schema = coalesce(:schema, database()) AND collation_name IS NOT NULL"
        ),
        {"name": plan.shape.name, "schema": plan.shape.schema},
    )
    return {str(name): str(collation) for name, collation in found.all()}
