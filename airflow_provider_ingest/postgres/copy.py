"""Frames as PostgreSQL's COPY takes them: in its binary format where all columns allow it, else as CSV."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars as pl

from airflow_provider_ingest.postgres.binary import END, SIGNATURE, BinaryRows

SLICE = 10_000
"""Rows encoded at a time: one slice is sent while the next is encoded, so that the server never waits for rows."""


def copy_frame(cursor: Any, table: str, frame: pl.DataFrame, types: Mapping[str, str]) -> None:
    """COPY a frame into a table whose columns have the frame's names.

    :param cursor: of psycopg, or of psycopg2, which sends only what is complete.
    :param table: quoted name.
    :param types: the columns' types as PostgreSQL writes them; those it does not name are written as text.
    """
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    rows = BinaryRows.of(frame, types)
    encode: Callable[[pl.DataFrame], Any]
    if rows is not None:
        form, encode, start, end = "binary", rows.encode, SIGNATURE, END
    else:
        frame = as_text(frame)
        form, encode, start, end = "csv", _encoded_column if frame.width == 1 else _encoded, b"", b""
    with ThreadPoolExecutor(1, "ingest-encode") as encoder:
        parts = _one_ahead(encoder, encode, frame)
        first = next(parts)  # made ready while the server still works on what came before
        statement = f"COPY {table} ({names}) FROM STDIN (FORMAT {form})"
        if hasattr(cursor, "copy_expert"):
            whole = b"".join([start, first(), *(part() for part in parts), end])
            cursor.copy_expert(statement, io.BytesIO(whole))
            return
        with cursor.copy(statement) as copy:
            copy.write(start)
            copy.write(first())
            for part in parts:
                copy.write(part())
            copy.write(end)


def _one_ahead(
    encoder: ThreadPoolExecutor, encode: Callable[[pl.DataFrame], Any], frame: pl.DataFrame
) -> Iterator[Callable[[], Any]]:
    """Calls that wait for each slice, the next one being encoded meanwhile."""
    slices = frame.iter_slices(SLICE)
    ready = encoder.submit(encode, next(slices))
    for part in slices:
        following = encoder.submit(encode, part)
        yield ready.result
        ready = following
    yield ready.result


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
