"""Rows of a stretch in which the planner found nothing but regular lines: PyArrow alone reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import polars as pl
import pyarrow as pa

from airflow_provider_ingest.formats.csv_arrow import ARROW_BLOCK, BOM, is_utf8, read_arrow, text_frame
from airflow_provider_ingest.formats.csv_exact import Grammar
from airflow_provider_ingest.runs.frames import LINE_NUMBER, MALFORMED, ROW_NUMBER


def plain_rows(data: bytes, rows: int, columns: Sequence[str], rules: Grammar) -> pl.DataFrame | None:
    """The fields of so many records; ``None`` if anything about the bytes needs a closer look.

    That is: a character that PyArrow takes too lightly (NUL, a byte order mark, bytes that are no UTF-8), an escape,
    a record with too many or too few fields or longer than a block of PyArrow's, or another number of records than
    planned.
    """
    if b"\0" in data or (rules.escape and rules.escape in data):
        return None
    if not data.isascii() and (BOM in data or not is_utf8(data)):
        return None
    try:
        table = read_arrow(data, len(columns), rules, ARROW_BLOCK, _refuse)
    except pa.ArrowInvalid:
        return None
    if table.num_rows != rows:
        return None
    texts = table.columns
    del data, table  # the columns have copies of their own
    return text_frame(texts, columns)


def _refuse(row: Any) -> str:
    return "error"


def numbered(frame: pl.DataFrame, first: int, line: int) -> pl.DataFrame:
    """The fields with row numbers and physical lines, both counted up."""
    numbers = pl.int_range(first, first + frame.height, dtype=pl.Int64, eager=True).alias(ROW_NUMBER)
    lines = pl.int_range(line, line + frame.height, dtype=pl.Int64, eager=True).alias(LINE_NUMBER)
    return frame.insert_column(0, numbers).insert_column(1, lines)


@lru_cache(maxsize=1)
def no_malformed() -> pl.DataFrame:
    """A frame of malformed records without a line."""
    return pl.DataFrame(schema=MALFORMED)
