"""Frames as PostgreSQL's COPY takes them: in its binary format where all columns allow it, else as CSV."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl

from airflow_provider_ingest.postgres.binary import END, SIGNATURE, BinaryRows
from airflow_provider_ingest.postgres.local_socket import widen

SLICE = 10_000
"""Rows encoded at a time, a megabyte or two."""


class CopyRows:
    """A frame on its way into a table, in slices: the first is encoded at once, the others while they are sent."""

    def __init__(self, frame: pl.DataFrame, types: Mapping[str, str], *, at_once: bool = False) -> None:
        """Encode what can be encoded before the database is asked.

        :param types: the columns' types as PostgreSQL writes them; those it does not name are written as text.
        :param at_once: encode all of it now, in a thread that the database does not wait for.
        """
        self._names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
        rows = BinaryRows.of(frame, types)
        self._encode: Callable[[pl.DataFrame], Any]
        if rows is not None:
            self._form, self._encode, self._start, self._end = "binary", rows.encode, SIGNATURE, END
        else:
            frame = as_text(frame)
            self._form, self._start, self._end = "csv", b"", b""
            self._encode = _encoded_column if frame.width == 1 else _encoded
        self._slices = frame.iter_slices(SLICE)
        self._ready = deque([self._encode(next(self._slices, frame))])
        if at_once:
            self._ready.extend(map(self._encode, self._slices))

    def send(self, cursor: Any, table: str) -> None:
        """COPY the rows, once, into a table whose columns have the frame's names: what was sent is not kept.

        :param cursor: of psycopg, or of psycopg2, which sends only what is complete.
        :param table: quoted name.
        :raises RuntimeError: if they were sent before.
        """
        if not self._ready:
            raise RuntimeError("These rows were sent already.")
        statement = f"COPY {table} ({self._names}) FROM STDIN (FORMAT {self._form})"
        if hasattr(cursor, "copy_expert"):
            cursor.copy_expert(statement, io.BytesIO(b"".join(self._parts())))
            return
        widen(cursor.connection.pgconn.socket)
        with cursor.copy(statement) as copy:
            for part in self._parts():
                copy.write(part)

    def _parts(self) -> Iterator[Any]:
        """What goes to the server, in order. While a slice is encoded the server has the one before to work on: it
        stands in the connection's buffer. A thread for encoding cost more than it gained.
        """
        yield self._start
        while self._ready:
            yield self._ready.popleft()  # what was sent makes room
        yield from map(self._encode, self._slices)
        yield self._end


def copy_frame(cursor: Any, table: str, frame: pl.DataFrame, types: Mapping[str, str]) -> None:
    """COPY a frame into a table whose columns have the frame's names: :class:`CopyRows`, made and sent."""
    CopyRows(frame, types).send(cursor, table)


def _encoded(frame: pl.DataFrame) -> memoryview:
    """Null is an empty field, the empty string a quoted one: PostgreSQL's own convention."""
    text = io.BytesIO()
    frame.write_csv(text, include_header=False)
    return text.getbuffer()


def _encoded_column(frame: pl.DataFrame) -> bytes:
    r"""One column, always quoted: a line of a lone ``\.`` would end the data."""
    quoted = '"' + frame.to_series().cast(pl.String).str.replace_all('"', '""', literal=True) + '"'
    return "".join(f"{value}\n" for value in quoted.fill_null("").to_list()).encode()


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Binary columns as PostgreSQL's hexadecimal text; all others can be written as they are."""
    binary = [name for name, dtype in frame.schema.items() if dtype == pl.Binary]
    if not binary:
        return frame
    return frame.with_columns(("\\x" + pl.col(name).bin.encode("hex")).alias(name) for name in binary)
