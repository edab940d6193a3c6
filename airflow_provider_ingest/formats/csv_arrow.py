"""PyArrow as a reader of clean CSV records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from airflow_provider_ingest.formats.arrow_memory import arrow_pool
from airflow_provider_ingest.formats.csv_exact import Grammar

ARROW_BLOCK = 2 << 20
_MOST_TRIES = 8
BOM = b"\xef\xbb\xbf"


def is_utf8(data: bytes) -> bool:
    """Whether all bytes are valid UTF-8, as fast as memory allows."""
    bounds = pa.py_buffer(np.array([0, len(data)], np.int64))
    try:
        pa.LargeStringArray.from_buffers(1, bounds, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def read_arrow(data: Any, width: int, rules: Grammar, block_size: int, refuse: Any) -> Any:
    """Records as a table of text columns; one with a wrong number of fields is handed to ``refuse``.

    :param block_size: bytes that PyArrow looks at together, about; no record may be longer.
    """
    names = [str(index) for index in range(width)]
    return pacsv.read_csv(
        pa.BufferReader(pa.py_buffer(data)),
        read_options=pacsv.ReadOptions(column_names=names, use_threads=False, block_size=_block_size(data, block_size)),
        parse_options=pacsv.ParseOptions(
            delimiter=rules.dialect.delimiter,
            quote_char=rules.dialect.quote or False,
            newlines_in_values=True,
            ignore_empty_lines=False,
            invalid_row_handler=refuse,
        ),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False, check_utf8=False
        ),
        memory_pool=arrow_pool(),
    )


def _block_size(data: Any, wanted: int) -> int:
    """The size of blocks none of which ends between CR and LF: PyArrow drops such an LF, in quotes too."""
    for size in range(wanted, wanted + _MOST_TRIES):
        if all(data[end - 1 : end + 1] != b"\r\n" for end in range(size, len(data), size)):
            return size
    return max(wanted, len(data))


def text_frame(texts: list[Any], columns: Sequence[str]) -> pl.DataFrame:
    """PyArrow's text columns as a frame.

    Polars keeps text as views; made by PyArrow they cost half of what Polars takes to make them, and the text itself is
    not copied.

    :param texts: taken one by one: each is let go once its views are there.
    """
    pool, views = arrow_pool(), []
    texts.reverse()
    while texts:
        views.append(pc.cast(texts.pop(), pa.string_view(), memory_pool=pool))
    frame = pl.DataFrame(pl.from_arrow(pa.table(views, names=[str(index) for index in range(len(views))])))
    frame.columns = list(columns)
    return frame
