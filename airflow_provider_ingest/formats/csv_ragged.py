"""Records with too many or too few fields, told many at a time where nothing can be made out but their fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from airflow_provider_ingest.formats.csv_arrow import ARROW_BLOCK, read_arrow, text_frame
from airflow_provider_ingest.formats.csv_exact import Grammar
from airflow_provider_ingest.formats.csv_recover import other_marks

EXTRA = "_extra"
"""Key of the surplus fields in the data of a malformed row."""

_LEAST = 32
"""Below so many records of one width, each is told alone."""
_LONGEST = 64 << 10
_MOST_SURPLUS = 1000


def ragged_data(
    raws: Sequence[bytes], widths: Sequence[int], columns: Sequence[str], rules: Grammar
) -> dict[int, list[str]]:
    """The data of ragged records as JSON, by the number of their fields; those of some widths are left out.

    :param raws: records without their newlines, all good but for their number of fields.
    """
    found: dict[int, list[str]] = {}
    for width, number in Counter(widths).items():
        if number < _LEAST or width > len(columns) + _MOST_SURPLUS:
            continue
        same = [raw for raw, one in zip(raws, widths, strict=True) if one == width]
        if (data := _data(same, width, columns, rules)) is not None:
            found[width] = data
    return found


def is_plain(raws: Sequence[bytes], width: int, rules: Grammar) -> list[bool]:
    """Of each ragged record, whether its fields are all that can be made out: nothing suggests what was meant."""
    together = b"\n".join(raws)
    quote = rules.quote
    starts = (quote, rules.delimiter) if quote and quote in together else ()
    marks = [mark for mark in map(str.encode, other_marks(rules.dialect)) if width > 1 and mark in together]
    return [
        len(raw) <= _LONGEST
        and not (starts and raw.startswith(starts) and quote in raw)
        and all(raw.count(mark) < width - 1 for mark in marks)
        for raw in raws
    ]


def _data(raws: Sequence[bytes], width: int, columns: Sequence[str], rules: Grammar) -> list[str] | None:
    """The fields of records of one width as JSON, under the header's names; what is over under ``_extra``."""
    block = max(ARROW_BLOCK, 2 * max(map(len, raws)))
    try:
        table = read_arrow(b"\n".join(raws) + b"\n", width, rules, block, _refuse)
    except pa.ArrowInvalid:
        return None
    if table.num_rows != len(raws):
        return None
    frame = text_frame(table.columns, [str(place) for place in range(width)])
    names: list[Any] = [pl.col(str(place)).alias(name) for place, name in enumerate(columns[:width])]
    if width > len(columns):
        names.append(pl.concat_list([str(place) for place in range(len(columns), width)]).alias(EXTRA))
    return frame.select(pl.struct(names).struct.json_encode()).to_series().to_list()


def _refuse(row: Any) -> str:
    return "error"
