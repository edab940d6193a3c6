"""Frames into a table of MySQL: LOAD DATA where it is allowed, statements of many rows where it is not."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pymysql

NUMBERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64)
STATEMENT_BYTES = 1 << 20
"""Largest INSERT; the server's ``max_allowed_packet`` is 16 MB or more unless somebody made it smaller."""

NOT_ALLOWED = frozenset({1148, 1290, 1227, 2068, 3948, 4166, 4174})
"""Errors by which a server or driver says that it takes no LOAD DATA LOCAL."""


class NotWhole(Exception):
    """LOAD DATA warned: rows are missing or were changed."""


class Loader:
    """Puts frames into tables over one cursor.

    LOAD DATA LOCAL goes on where it should stop: what a table does not take becomes a warning, a cut value or a row
    left out. So it counts only if it took every row without a warning; the caller takes it back otherwise.

    :param may_load: whether the connection allows LOAD DATA LOCAL.
    """

    def __init__(self, cursor: Any, *, may_load: bool) -> None:
        self.cursor = cursor
        self.may_load = may_load

    def put(
        self, table: str, frame: pl.DataFrame, quote: Callable[[str], str], bits: Collection[str] = frozenset()
    ) -> None:
        """Insert a frame into a table whose columns have its names, by the fastest way there is.

        Raises :class:`NotWhole` or the driver's error, with some of the rows possibly there.

        :param table: quoted name.
        :param bits: columns that would take the digits of a text for characters, and so need numbers.
        """
        if self.may_load:
            try:
                self._load(table, frame, quote, bits)
            except pymysql.err.Error as error:
                if not error.args or error.args[0] not in NOT_ALLOWED:
                    raise
                self.may_load = False
            else:
                return
        self.insert(table, frame, quote)

    def insert(self, table: str, frame: pl.DataFrame, quote: Callable[[str], str]) -> None:
        """Insert by statements of many rows, which the server refuses whole."""
        names = ", ".join(quote(name) for name in frame.columns).replace("%", "%%")
        marks = ", ".join(["%s"] * frame.width)
        self.cursor.max_stmt_length = STATEMENT_BYTES
        statement = f"INSERT INTO {table.replace('%', '%%')} ({names}) VALUES ({marks})"
        self.cursor.executemany(statement, as_stored(frame).rows())

    def _load(self, table: str, frame: pl.DataFrame, quote: Callable[[str], str], bits: Collection[str]) -> None:
        binary = {name for name, dtype in frame.schema.items() if dtype == pl.Binary}
        read = dict.fromkeys(binary, "UNHEX(@c{})") | dict.fromkeys(bits, "CAST(@c{} AS UNSIGNED)")
        columns = [f"@c{at}" if name in read else quote(name) for at, name in enumerate(frame.columns)]
        sets = [f"{quote(name)} = {read[name].format(at)}" for at, name in enumerate(frame.columns) if name in read]
        text = as_stored(frame).with_columns(pl.col(name).bin.encode("hex") for name in binary)
        with tempfile.NamedTemporaryFile(prefix="ingest-load-", suffix=".csv") as file:
            text.write_csv(file, include_header=False, null_value="NULL", quote_style="non_numeric")
            file.flush()
            path = file.name.replace("\\", "\\\\").replace("'", "''")
            statement = (
                f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {table} CHARACTER SET utf8mb4 "
                "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\n' "
                f"({', '.join(columns)}){' SET ' + ', '.join(sets) if sets else ''}"
            )
            with sending(self.cursor.connection):
                taken = self.cursor.execute(statement)
        if taken != frame.height or self.cursor.warning_count:
            raise NotWhole(f"{taken} of {frame.height} rows, {self.cursor.warning_count} warnings")


@contextmanager
def sending(connection: Any) -> Iterator[None]:
    """While a file may be sent: at all other times the driver refuses a server that asks for one."""
    connection._local_infile = True
    try:
        yield
    finally:
        connection._local_infile = False


def as_stored(frame: pl.DataFrame) -> pl.DataFrame:
    """Values as literals of MySQL: truth as 1 and 0, times as text, those with a zone in UTC."""
    casts = []
    for name, dtype in frame.schema.items():
        column = pl.col(name)
        if dtype == pl.Boolean:
            casts.append(column.cast(pl.Int8))
        elif isinstance(dtype, pl.Datetime):
            utc = column.dt.convert_time_zone("UTC") if dtype.time_zone else column
            casts.append(utc.dt.strftime("%Y-%m-%d %H:%M:%S%.6f"))
        elif dtype == pl.Time:
            casts.append(column.dt.strftime("%H:%M:%S%.6f"))
        elif dtype not in (pl.String, pl.Binary, *NUMBERS):
            casts.append(column.cast(pl.String))
    return frame.with_columns(casts)
