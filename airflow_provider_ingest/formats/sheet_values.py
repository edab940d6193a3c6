"""Cells become columns of text with their kinds: numbers, dates by their number formats, shared strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.sheet_cells import BOOLEAN, ERROR, ISO_DATE, NUMBER, SHARED, TEXT, Cells
from airflow_provider_ingest.formats.values import WHOLE_BELOW, cell_text
from airflow_provider_ingest.runs.frames import Kind

DATE, DURATION = 1, 2
"""What a number format makes of a number; 0: a number."""

_TEMPORAL = 8  # added to a cell's type: NUMBER + 8 * DATE, NUMBER + 8 * DURATION
_DAY = 86_400_000
_DAYS = 2_958_466  # 1 January 10000
_EPOCH_1904 = 1462
_SHORT = (1e-4, 1e15)  # here Polars writes a float as Python does
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")

Part = tuple[Any, pl.Series, Kind]
"""Positions of some cells, their text (null: none) and their kind."""


@dataclass(frozen=True, slots=True)
class CellTexts:
    """Turns cells into text.

    :param strings: the workbook's shared strings, ``""`` as null. :param styles: of each cell format, 0,
        :data:`DATE` or :data:`DURATION`. :param is_1904: whether days count from 1904.
    """

    strings: pl.Series
    styles: Any
    is_1904: bool = False

    def columns(self, cells: Cells) -> Iterator[tuple[int, pl.Series, set[Kind]]]:
        """Each column that has a value in these rows: its position, one text per row, and the kinds in it."""
        kind = cells.type + _TEMPORAL * self._temporal(cells)
        text = without_escapes(cells.text)
        order = np.argsort(cells.column.astype(np.int32), kind="stable")
        column = cells.column[order]
        borders = np.flatnonzero(np.diff(column)) + 1
        height = len(cells.lines)
        for own in np.split(order, borders) if len(order) else ():
            kinds: set[Kind] = set()
            parts: list[tuple[Any, pl.Series]] = []
            own_kinds = kind[own]
            is_uniform = bool((own_kinds == own_kinds[0]).all())
            for one in (int(own_kinds[0]),) if is_uniform else np.unique(own_kinds).tolist():
                at = own if is_uniform else own[own_kinds == one]
                for where, found, what in self._parts(one, text[at]):
                    if found.null_count() < len(found):
                        kinds.add(what)
                        parts.append((cells.row[at[where]], found))
            if parts:
                yield int(cells.column[own[0]]), _placed(parts, height), kinds

    def _temporal(self, cells: Cells) -> Any:
        styles = self.styles
        if not len(styles) or not styles.any():
            return np.uint8(0)
        found = styles[np.minimum(cells.style, len(styles) - 1)]
        return np.where((cells.type == NUMBER) & (cells.style < len(styles)), found, 0).astype(np.uint8)

    def _parts(self, kind: int, text: pl.Series) -> Iterator[Part]:
        if kind == SHARED:
            yield slice(None), self._shared(text), Kind.TEXT
        elif kind == TEXT:
            yield slice(None), text, Kind.TEXT
        elif kind == BOOLEAN:
            yield slice(None), _mapped(text, lambda one: str(one.strip() in ("1", "true")).lower()), Kind.BOOLEAN
        elif kind == ISO_DATE:
            yield from _single(text, _iso)
        elif kind != ERROR:
            yield from self._numbers(kind // _TEMPORAL, text)

    def _shared(self, text: pl.Series) -> pl.Series:
        places = _cast(text, pl.UInt32)
        if places.null_count() or (at := places.to_numpy()).max() >= len(self.strings):
            raise FormatError("A cell refers to a shared string that the workbook does not have.")
        return self.strings[at]

    def _numbers(self, temporal: int, text: pl.Series) -> Iterator[Part]:
        if not temporal:
            whole = text.cast(pl.Int64, strict=False)
            if not whole.null_count() and np.abs(whole.to_numpy()).max() < WHOLE_BELOW:
                yield slice(None), whole.cast(pl.String), Kind.INTEGER
                return
        number = _cast(text, pl.Float64)
        values = number.to_numpy()
        is_text = number.is_null().to_numpy()
        if is_text.any():
            at = np.flatnonzero(is_text)
            yield at, text[at], Kind.TEXT
        with np.errstate(invalid="ignore"):
            is_number = ~is_text
            if temporal == DURATION:
                is_time = is_number & (np.abs(values) < 1e9)
                at = np.flatnonzero(is_time)
                yield from _at(at, _single(pl.Series(values[at]), _duration))
                is_number &= ~is_time
            elif temporal == DATE:
                is_time = is_number & (values >= 0) & (values < _DAYS - _EPOCH_1904 * self.is_1904)
                at = np.flatnonzero(is_time)
                yield from _at(at, self._dates(values[at]))
                is_number &= ~is_time
            is_whole = is_number & (np.abs(values) < WHOLE_BELOW) & (values == np.floor(values))
        at = np.flatnonzero(is_whole)
        yield at, pl.Series(values[at].astype(np.int64)).cast(pl.String), Kind.INTEGER
        at = np.flatnonzero(is_number & ~is_whole)
        yield at, float_texts(values[at]), Kind.NUMBER

    def _dates(self, days: Any) -> Iterator[Part]:
        """Days as dates, times of day (below 1) or both; of the year 1900 as spreadsheets count it."""
        is_time, is_date = days < 1, days == np.floor(days)
        at = np.flatnonzero(is_time)
        yield at, _mapped(pl.Series(days[at]), _time_of_day), Kind.TEXT
        shifted = days + _EPOCH_1904 if self.is_1904 else np.where(days < 60, days + 1, days)
        since_1970 = shifted - 25_569
        at = np.flatnonzero(is_date & ~is_time)
        yield at, pl.Series(since_1970[at].astype(np.int32)).cast(pl.Date).cast(pl.String), Kind.DATE
        at = np.flatnonzero(~is_date & ~is_time)
        yield at, datetime_texts(np.rint(since_1970[at] * _DAY).astype(np.int64)), Kind.DATETIME


def _cast(text: pl.Series, dtype: Any) -> pl.Series:
    """Numbers from text, which may have blanks around it; null where it is none."""
    number = text.cast(dtype, strict=False)
    return text.str.strip_chars().cast(dtype, strict=False) if number.null_count() else number


def _placed(parts: list[tuple[Any, pl.Series]], height: int) -> pl.Series:
    """Texts at their rows, null elsewhere; of two for the same row the later one."""
    rows, text = parts[0]
    if len(parts) > 1:
        rows, text = np.concatenate([at for at, _ in parts]), pl.concat([one for _, one in parts])
    if len(rows) == height and (rows == np.arange(height)).all():
        return text
    places = np.full(height, -1, np.int64)
    places[rows] = np.arange(len(rows))
    index = pl.Series(places, dtype=pl.Int64)
    return text.gather(index.set(index < 0, None))


def _at(at: Any, parts: Iterator[Part]) -> Iterator[Part]:
    for where, text, kind in parts:
        yield at[where], text, kind


def _single(values: pl.Series, convert: Callable[[Any], tuple[str, Kind]]) -> Iterator[Part]:
    """Values converted one by one: kinds of cells that are rare."""
    found = [convert(value) for value in values]
    for kind in dict.fromkeys(kind for _, kind in found):
        at = np.array([place for place, (_, one) in enumerate(found) if one is kind], np.int64)
        yield at, pl.Series([found[place][0] for place in at], dtype=pl.String), kind


def _mapped(values: pl.Series, convert: Callable[[Any], str]) -> pl.Series:
    """A text for each value, made once for equal ones."""
    known = {value: convert(value) for value in values.unique()}
    return pl.Series([known[value] for value in values], dtype=pl.String)


def _iso(text: str) -> tuple[str, Kind]:
    for kind in (date, datetime):
        try:
            return cell_text(kind.fromisoformat(text.strip()))
        except ValueError:
            continue
    return text, Kind.TEXT


def _duration(days: float) -> tuple[str, Kind]:
    return cell_text(timedelta(milliseconds=round(days * _DAY)))


def _time_of_day(days: float) -> str:
    return (datetime(1970, 1, 1) + timedelta(milliseconds=round(days * _DAY))).time().isoformat()


def float_texts(values: Any) -> pl.Series:
    """Floats as Python writes them."""
    text = pl.Series(values).cast(pl.String)
    size = np.abs(values)
    odd = np.flatnonzero(~((size >= _SHORT[0]) & (size < _SHORT[1])))
    if len(odd):
        text = text.scatter(odd, pl.Series([str(value) for value in values[odd].tolist()], dtype=pl.String))
    return text


def datetime_texts(milliseconds: Any) -> pl.Series:
    """Milliseconds since 1970 as Python writes a point in time: the fraction only if there is one."""
    text = pl.Series(milliseconds).cast(pl.Datetime("ms")).dt.to_string("%Y-%m-%dT%H:%M:%S")
    odd = np.flatnonzero(milliseconds % 1000)
    if len(odd):
        fraction = pl.Series((milliseconds[odd] % 1000 * 1000).astype(np.int64)).cast(pl.String).str.zfill(6)
        text = text.scatter(odd, text[odd] + "." + fraction)
    return text


def without_escapes(text: pl.Series) -> pl.Series:
    r"""Text with ``_x000D_`` and its like as the characters they stand for.

    >>> without_escapes(pl.Series(["a_x000D_b", "_x005F_x000D_"])).to_list()
    ['a\rb', '_x000D_']
    """
    at = text.str.contains("_x", literal=True).arg_true()
    if not len(at):
        return text
    return text.scatter(at, pl.Series([_ESCAPE.sub(_character, one) for one in text[at]], dtype=pl.String))


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return found[0] if 0xD800 <= code < 0xE000 else chr(code)
