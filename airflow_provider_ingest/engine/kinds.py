"""Source columns in the types that they had in the file."""

from __future__ import annotations

import orjson
import polars as pl

from airflow_provider_ingest.engine.numerals import integers
from airflow_provider_ingest.engine.temporal import dates, timestamps
from airflow_provider_ingest.runs.frames import Kind
from airflow_provider_ingest.transformers.base import Rows


def typed(text: pl.Series, kind: Kind) -> pl.Series:
    """The column as its file meant it; it stays text where a value says otherwise, so that nothing is lost.

    Numbers become ``Float64``, whole numbers exact integers; JSON stays text.
    """
    match kind:
        case Kind.INTEGER:
            made = integers(text)
        case Kind.NUMBER:
            made = text.cast(pl.Float64, strict=False)
        case Kind.BOOLEAN:
            made = text.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
        case Kind.DATE:
            made = dates(text)
        case Kind.DATETIME:
            made = timestamps(text)
        case _:
            return text
    return made if made.null_count() == text.null_count() else text


class TypedRows(Rows):
    """The rows as user code sees them: fields in the types of the file, arrays and objects as lists and dicts."""

    __slots__ = ("_kinds",)

    def __init__(self, rows: Rows, kinds: dict[str, Kind]) -> None:
        super().__init__(rows.frame, rows.numbers)
        self._kinds = kinds

    def __getitem__(self, field: str) -> pl.Series:
        text = super().__getitem__(field)
        kind = self._kinds.get(field, Kind.TEXT)
        if kind is not Kind.JSON:
            return typed(text, kind)
        return pl.Series(field, [_loaded(one) for one in text.to_list()], dtype=pl.Object)


def _loaded(text: str | None) -> object:
    if text is None:
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        return text
