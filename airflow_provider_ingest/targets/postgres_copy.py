"""Frames as PostgreSQL's COPY takes them."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl

SLICE = 5_000
"""Rows encoded at a time: the server parses one slice while the next is encoded."""


def copy_frame(cursor: Any, table: str, frame: pl.DataFrame) -> None:
    """COPY a frame into a table whose columns have the frame's names.

    Null is an empty field, the empty string a quoted one: PostgreSQL's own convention.

    :param table: quoted name.
    """
    frame = as_text(frame)
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    # a line of a lone \. would end the data: possible only where there is one column
    style: Literal["always", "necessary"] = "always" if frame.width == 1 else "necessary"
    with cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT csv)") as copy:
        for part in frame.iter_slices(SLICE):
            copy.write(part.write_csv(include_header=False, quote_style=style).encode())


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Binary columns as PostgreSQL's hexadecimal text; all others can be written as they are."""
    binary = [name for name, dtype in frame.schema.items() if dtype == pl.Binary]
    if not binary:
        return frame
    return frame.with_columns(("\\x" + pl.col(name).bin.encode("hex")).alias(name) for name in binary)
