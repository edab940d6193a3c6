"""Writing a frame of logged rows into ``ingest_rows`` by the fastest way the database has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from airflow_provider_ingest.models import MESSAGE_LENGTH
from airflow_provider_ingest.runs.columns import LINE_NUMBER, ROW_NUMBER, pl
from airflow_provider_ingest.runs.failure import INVALID_DATA
from airflow_provider_ingest.storage.row_groups import FAILED
from airflow_provider_ingest.storage.sql_store_base import ROWS

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

SLICE = 10_000
"""Rows that are turned into tuples at a time."""

TYPES = {
    "run_id": "bigint",
    "row_number": "bigint",
    "chunk_index": "integer",
    "line_number": "bigint",
    "status": "character varying",
    "message": "character varying",
    "data": "text",
    "errors": "text",
    "trace": "text",
    "among_good": "boolean",
}
"""The columns with their types on PostgreSQL."""

COLUMNS = tuple(TYPES)


def write_rows(session: Session, run_id: int, index: int, rows: pl.DataFrame, *, mark_failed: bool) -> None:
    """Insert the rows (schema ROW_LOG) in the session's transaction.

    :param mark_failed: the run's log holds good rows too.
    """
    frame = rows.select(
        pl.lit(run_id, dtype=pl.Int64).alias("run_id"),
        pl.col(ROW_NUMBER).alias("row_number"),
        pl.lit(index, dtype=pl.Int64).alias("chunk_index"),
        pl.col(LINE_NUMBER).alias("line_number"),
        pl.col("status"),
        pl.when(pl.col("message") != INVALID_DATA)  # else no message: see in_group()
        .then(pl.col("message").str.slice(0, MESSAGE_LENGTH).str.replace_all("\0", "\ufffd", literal=True))
        .alias("message"),
        pl.col("data", "errors", "trace"),
        pl.when((pl.col("status") == FAILED) & mark_failed).then(True).alias("among_good"),
    )
    connection = session.connection()
    if connection.dialect.name == "postgresql" and connection.dialect.driver in ("psycopg", "psycopg2"):
        from airflow_provider_ingest.postgres.copy import copy_frame  # its imports are for tasks that work rows

        raw: Any = connection.connection.driver_connection
        is_failed = pl.col("status") == FAILED
        with raw.cursor() as cursor:
            # good rows have fewer columns; they come first, in their order, and their keys at the end of the index
            for part in (frame.filter(~is_failed), frame.filter(is_failed)):
                if not part.is_empty():
                    copy_frame(cursor, ROWS.name, _without_nulls(part), TYPES)
    elif connection.dialect.name == "sqlite":
        # what is the same in all rows is not bound with each of them: that took as long as the insert itself
        varying = _without_nulls(frame).drop("run_id", "chunk_index")
        names, marks = ", ".join(varying.columns), ", ".join("?" * varying.width)
        statement = f"INSERT INTO {ROWS.name} (run_id, chunk_index, {names}) VALUES ({run_id:d}, {index:d}, {marks})"
        for part in varying.iter_slices(SLICE):
            connection.exec_driver_sql(statement, list(zip(*(column.to_list() for column in part), strict=True)))
    else:
        quoted = map(connection.dialect.identifier_preparer.format_column, ROWS.c[COLUMNS])
        statement = f"INSERT INTO {ROWS.name} ({', '.join(quoted)}) VALUES (:{', :'.join(COLUMNS)})"
        for part in frame.iter_slices(SLICE):
            connection.execute(text(statement), part.to_dicts())


def _without_nulls(frame: pl.DataFrame) -> pl.DataFrame:
    """Only the columns that hold anything."""
    return frame.select(column.name for column in frame if column.null_count() < frame.height)
