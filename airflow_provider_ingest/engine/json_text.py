"""JSON texts of whole columns, so that documents of rows are built without a loop over rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from airflow_provider_ingest.runs.frames import Kind
from airflow_provider_ingest.transformers.values import as_text

JSON_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
EXACT_CHARACTERS = 16
"""So long may the text of a number be that a double surely holds all its digits."""

RAW_KINDS = frozenset({Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN, Kind.JSON})
"""Kinds whose text in the file is JSON itself."""

FIRST_PLAIN, QUOTE, BACKSLASH = 0x20, ord('"'), ord("\\")
"""JSON escapes characters before the first, and the two."""


def json_strings(text: pl.Series) -> pl.Series:
    """Each text as a JSON string; null as ``null``.

    >>> json_strings(pl.Series(["Zoë", None])).to_list()
    ['"Zoë"', 'null']
    """
    encoded = text.alias("v").to_frame().select(pl.struct("v").struct.json_encode()).to_series()
    return encoded.str.slice(5).str.head(-1)


def json_values(values: pl.Series) -> pl.Series:
    """Each value as JSON: numbers and Booleans as such, text and times quoted, null as ``null``.

    Decimals with places are quoted too: whoever reads JSON makes doubles of numbers, and 10.0 of 10.00.
    """
    dtype = values.dtype
    if dtype == pl.Null:
        return pl.repeat("null", values.len(), dtype=pl.String, eager=True)
    if dtype == pl.String:
        return json_strings(values)
    text = as_text(values)
    if dtype.is_integer() or dtype == pl.Boolean or (isinstance(dtype, pl.Decimal) and not dtype.scale):
        return text.fill_null("null")
    if dtype.is_float():
        finite = values.is_finite().fill_null(False)
        return text.zip_with(finite, json_strings(text))
    if dtype.is_nested():
        return text.fill_null("null")
    return json_strings(text)


def json_of_kind(text: pl.Series, kind: Kind) -> pl.Series:
    """Each cell of a source column as the JSON that it was in the file."""
    if kind not in RAW_KINDS:
        return json_strings(text)
    if kind is Kind.BOOLEAN:
        raw = text.is_in(["true", "false"]).fill_null(False)
    elif kind is Kind.JSON:
        raw = text.str.json_path_match("$").is_not_null().fill_null(False)
    else:
        # a reader makes doubles of numbers: what a double cannot hold exactly stays text, and so loses no digit
        exact = (text.str.len_bytes() <= EXACT_CHARACTERS) & text.cast(pl.Float64, strict=False).is_finite()
        raw = (exact & text.str.contains(JSON_NUMBER)).fill_null(False)
    return text if raw.all() else text.zip_with(raw, json_strings(text))


def json_objects(frame: pl.DataFrame, kinds: Mapping[str, Kind] | None = None) -> pl.Series:
    """Each row as a JSON object, in the order of the columns, all of which are text.

    :param kinds: of the columns that were not text in the file: their cells stand in JSON's own types.
    """
    typed = {name: kind for name, kind in (kinds or {}).items() if name in frame.columns and kind in RAW_KINDS}
    if not frame.width:
        return pl.repeat("{}", frame.height, dtype=pl.String, eager=True)
    if not typed:
        return frame.select(pl.struct(pl.all()).struct.json_encode().alias("json")).to_series()
    parts = [
        json_strings(pl.Series([name])).item() + ":" + json_of_kind(frame[name], typed.get(name, Kind.TEXT)).alias(name)
        for name in frame.columns
    ]
    body = pl.DataFrame([part.alias(str(place)) for place, part in enumerate(parts)])
    return body.select(("{" + pl.concat_str(pl.all(), separator=",") + "}").alias("json")).to_series()


def json_arrays(frame: pl.DataFrame, kinds: Mapping[str, Kind] | None = None) -> pl.Series:
    """Each row as a JSON array: the values of :func:`json_objects` without their names.

    >>> json_arrays(pl.DataFrame({"id": ["1", "2"], "name": ["Zoë", None]}), {"id": Kind.INTEGER}).to_list()
    ['[1,"Zoë"]', '[2,null]']
    """
    if not frame.width:
        return pl.repeat("[]", frame.height, dtype=pl.String, eager=True)
    parts: list[pl.Expr | pl.Series] = []
    between = "["
    for column in frame.iter_columns():
        kind = (kinds or {}).get(column.name, Kind.TEXT)
        if kind not in RAW_KINDS and _is_plain(column):  # which most are, and encoding them would take twice the time
            parts += [pl.lit(between + '"'), column]
            between = '",'
        else:
            parts += [pl.lit(between), json_of_kind(column, kind)]
            between = ","
    closing = between.removesuffix(",") + "]"
    return frame.select(pl.concat_str(*parts, pl.lit(closing)).alias("json")).to_series()


def _is_plain(text: pl.Series) -> bool:
    """Whether all texts stand in JSON as they are, between quotes."""
    # a column's name may hold NUL, Arrow's must not
    texts = text.alias("").to_arrow(compat_level=pl.CompatLevel.oldest())
    if texts.null_count or not len(texts):
        return False
    first, last = np.frombuffer(texts.buffers()[1], np.int64)[[texts.offset, texts.offset + len(texts)]]
    characters = np.frombuffer(texts.buffers()[2], np.uint8)[first:last]
    return not ((characters < FIRST_PLAIN).any() or (characters == QUOTE).any() or (characters == BACKSLASH).any())
