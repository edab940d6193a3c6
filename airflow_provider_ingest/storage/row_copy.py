"""Writing a frame of logged rows into ``ingest_rows`` by the fastest way the database has."""

from __future__ import annotations

import io
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from airflow_provider_ingest.models import MESSAGE_LENGTH
from airflow_provider_ingest.runs.columns import LINE_NUMBER, ROW_NUMBER, pl
from airflow_provider_ingest.runs.failure import INVALID_DATA
from airflow_provider_ingest.storage.sql_store_base import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from sqlalchemy.orm import Session

SLICE = 10_000
"""Rows that are turned into text or tuples at a time."""

ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}
"""What PostgreSQL's text format wants escaped."""

COLUMNS = ("run_id", "row_number", "chunk_index", "line_number", "status", "message", "data", "errors", "trace")


def write_rows(session: Session, run_id: int, index: int, rows: pl.DataFrame) -> None:
    """Insert the rows (schema ROW_LOG) in the session's transaction."""
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
    )
    connection = session.connection()
    driver = connection.dialect.driver
    if connection.dialect.name == "postgresql" and driver in ("psycopg", "psycopg2"):
        _copy(connection.connection.driver_connection, driver, frame)
    elif connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(COLUMNS))
        statement = f"INSERT INTO {ROWS.name} ({', '.join(COLUMNS)}) VALUES ({marks})"
        for part in frame.iter_slices(SLICE):
            connection.exec_driver_sql(statement, part.rows())
    else:
        statement = f"INSERT INTO {ROWS.name} ({', '.join(COLUMNS)}) VALUES (:{', :'.join(COLUMNS)})"
        for part in frame.iter_slices(SLICE):
            connection.execute(text(statement), part.to_dicts())


def _copy(raw: Any, driver: str, frame: pl.DataFrame) -> None:
    """COPY through the driver, as PostgreSQL's text format: JSON is full of quotes, which CSV would write twice."""
    statement = f"COPY {ROWS.name} ({', '.join(COLUMNS)}) FROM STDIN"
    with raw.cursor() as cursor, closing(_one_ahead(_lines, frame.iter_slices(SLICE))) as parts:
        if driver == "psycopg":
            with cursor.copy(statement) as copy:
                for part in parts:
                    copy.write(part)
        else:
            for part in parts:
                cursor.copy_expert(statement, io.BytesIO(part))


def _one_ahead(work: Callable[[pl.DataFrame], bytes], frames: Iterable[pl.DataFrame]) -> Generator[bytes]:
    """What the work makes of each frame, made while the server takes what came before: it is the slower one."""
    with ThreadPoolExecutor(1, "ingest-log-lines") as maker:
        ready: Future[bytes] | None = None
        for frame in frames:
            making = maker.submit(work, frame)
            if ready is not None:
                yield ready.result()
            ready = making
        if ready is not None:
            yield ready.result()


def _lines(frame: pl.DataFrame) -> bytes:
    """The rows as lines of tab-separated fields, escaped as PostgreSQL wants it.

    JSON holds backslashes, but tabs and line ends only as escapes: looking at the finished lines costs a
    fraction of looking for these in each field.
    """
    lines = _tab_separated(frame, ("\\",))
    is_plain = lines.count(b"\n") == frame.height and lines.count(b"\t") == frame.height * (frame.width - 1)
    return lines if is_plain and b"\r" not in lines else _tab_separated(frame, ("\\", "\t", "\n", "\r"))


def _tab_separated(frame: pl.DataFrame, special: tuple[str, ...]) -> bytes:
    escaped = pl.col(pl.String)
    for character in special:
        escaped = escaped.str.replace_all(character, ESCAPES[character], literal=True)
    file = io.BytesIO()
    frame.with_columns(escaped).write_csv(
        file, include_header=False, separator="\t", quote_style="never", null_value=r"\N"
    )
    return file.getvalue()
