"""A stretch of rows being worked: their source columns, their numbers, and how fields are found in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from airflow_provider_ingest.engine.kinds import TypedRows, typed
from airflow_provider_ingest.runs.frames import Kind
from airflow_provider_ingest.transformers.base import Rows

_PATH_PART = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Where a field's value is: a column, or a place inside the JSON of a column."""

    column: str
    path: str | None
    name: str


def locate(fields: Iterable[str], columns: Iterable[str]) -> Located | None:
    """The first of the fields that the columns have; dots lead into objects (``address.city``, ``tags[0].name``)."""
    known = columns if isinstance(columns, (set, frozenset, dict)) else dict.fromkeys(columns)
    for field in fields:
        if field in known:
            return Located(column=field, path=None, name=field)
    for field in fields:
        for place, character in reversed(list(enumerate(field))):
            if character in ".[" and field[:place] in known:
                return Located(column=field[:place], path=_json_path(field[place:]), name=field)
    return None


def _json_path(rest: str) -> str:
    parts = []
    for name, index in _PATH_PART.findall(rest):
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f"[{index}]" if index else f'["{quoted}"]')
    return "$" + "".join(parts)


class Stretch:
    """Rows of the source, or elements of a nested collection, as columns of text.

    :param numbers: row numbers (those of the root rows in a nested collection).
    :param prefix: for elements of a collection, the path of each in its row (``variants[2].``).
    :param may_hold_nul: whether a text of the frame may hold the character NUL.
    """

    def __init__(
        self,
        frame: pl.DataFrame,
        numbers: pl.Series,
        kinds: Mapping[str, Kind],
        prefix: pl.Series | None = None,
        *,
        may_hold_nul: bool = True,
    ) -> None:
        self.frame = frame
        self.numbers = numbers
        self.kinds = dict(kinds)
        self.prefix = prefix
        self.may_hold_nul = may_hold_nul

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.numbers.len()

    @cached_property
    def rows(self) -> Rows:
        """The raw columns, all text, for columnar steps."""
        return Rows(self.frame, self.numbers)

    @cached_property
    def typed_rows(self) -> Rows:
        """The raw columns in the types of the file, for user code that sees a row."""
        return TypedRows(self.rows, self.kinds) if self.kinds else self.rows

    def locate(self, fields: Iterable[str]) -> Located | None:
        """Where the first of these fields is, ``None`` if the rows have none of them."""
        return locate(fields, self._columns)

    @cached_property
    def _columns(self) -> dict[str, None]:
        return dict.fromkeys(self.frame.columns)

    def text(self, located: Located | None) -> pl.Series:
        """The field's values as text; null where a row has none."""
        if located is None:
            return pl.repeat(None, self.height, dtype=pl.String, eager=True)
        values = self.frame.get_column(located.column)
        return values if located.path is None else values.str.json_path_match(located.path)

    def kind(self, located: Located | None) -> Kind:
        """What the field was in the file."""
        return self.kinds.get(located.column, Kind.TEXT) if located is not None and located.path is None else Kind.TEXT

    def typed(self, located: Located | None) -> pl.Series:
        """The field's values in the type of the file."""
        return typed(self.text(located), self.kind(located))

    def label(self, name: str) -> str | pl.Series:
        """The name of a field in failures, with the path of its element in a nested collection."""
        return name if self.prefix is None else self.prefix + name

    def filter(self, rows: pl.Series) -> Stretch:
        """The rows where the mask is true."""
        prefix = None if self.prefix is None else self.prefix.filter(rows)
        frame, numbers = self.frame.filter(rows), self.numbers.filter(rows)
        return Stretch(frame, numbers, self.kinds, prefix, may_hold_nul=self.may_hold_nul)

    def none(self) -> pl.Series:
        """A mask that is false for every row."""
        return pl.repeat(False, self.height, dtype=pl.Boolean, eager=True)
