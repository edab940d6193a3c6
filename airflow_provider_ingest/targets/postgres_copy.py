"""Frames as PostgreSQL's COPY takes them."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars as pl

SLICE = 10_000
"""Rows encoded at a time: one slice is sent while the next is encoded, so that the server never waits for rows."""


def copy_frame(cursor: Any, table: str, frame: pl.DataFrame) -> None:
    """COPY a frame into a table whose columns have the frame's names.

    Null is an empty field, the empty string a quoted one: PostgreSQL's own convention.

    :param table: quoted name.
    """
    frame = as_text(frame)
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    encode = _encoded_column if frame.width == 1 else _encoded
    parts = frame.iter_slices(SLICE)
    with (
        ThreadPoolExecutor(1, "ingest-encode") as encoder,
        cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT csv)") as copy,
    ):
        ready = encoder.submit(encode, next(parts))
        for part in parts:
            encoded, ready = ready, encoder.submit(encode, part)
            copy.write(encoded.result())
        copy.write(ready.result())


def _encoded(frame: pl.DataFrame) -> memoryview:
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
