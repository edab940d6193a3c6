"""Rows as maps become text columns, together with what each value was."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import LIMITS, Limits
from airflow_provider_ingest.formats.values import FAST, NumberText, cell_text, json_text, whole_number
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, Kind

REASON = "_malformed_reason"
"""Column of a records frame: why a record is no row; null in good ones. Absent if all are good."""

RAW = "_malformed_raw"
"""Column of a records frame: the text of a record that is no row."""

FRAME_CELLS = 1_000_000
"""Cells of a frame, at most."""

RESERVED = frozenset({ROW_NUMBER, LINE_NUMBER, REASON, RAW})


@dataclass(frozen=True, slots=True)
class Malformed:
    """Stands in the place of a record that is no row; ``fields`` are those that could be made out."""

    reason: str
    raw: str
    fields: Mapping[str, Any] = field(default_factory=dict)


class RowFrames:
    """Turns stretches of rows into records frames and remembers every column and kind it has seen.

    A records frame has the row and line numbers, the columns seen so far that occur in it (String), and
    :data:`REASON` and :data:`RAW` if a record in it is no row.

    >>> frames = RowFrames()
    >>> next(frames.frames([{"a": 1}, {"a": 2.5, "b": True}], [1, 2], [1, 2])).row(1)
    (2, 2, '2.5', 'true')
    >>> frames.kinds
    {'a': <Kind.NUMBER: 'number'>, 'b': <Kind.BOOLEAN: 'boolean'>}
    """

    def __init__(self, *, columns: Iterable[str] = (), whole_floats: bool = False, limits: Limits = LIMITS) -> None:
        """:param columns: those that come first. :param whole_floats: write the float 12.0 as the integer 12."""
        self.warnings: list[str] = []
        self._limits = limits
        self._whole_floats = whole_floats
        self._names: dict[Any, str] = {}
        self._taken: set[str] = set(RESERVED)
        self._repeats: dict[str, int] = {}
        self._seen: dict[str, set[Kind]] = {}
        for name in columns:
            self.column(name)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in the order in which they were first seen."""
        return tuple(self._seen)

    @property
    def kinds(self) -> dict[str, Kind]:
        """What the columns are, as far as they are not text."""
        decided = {name: decide_kind(seen) for name, seen in self._seen.items()}
        return {name: kind for name, kind in decided.items() if kind is not Kind.TEXT}

    @property
    def padded(self) -> tuple[str, ...]:
        """Columns that hold dates beside times: the reader adds midnight to the dates."""
        return tuple(name for name, seen in self._seen.items() if seen == {Kind.DATE, Kind.DATETIME})

    def column(self, key: Any) -> str:
        """The column of a key: a reserved name gets a suffix and a warning, an empty one is called by its position."""
        name = self._names.get(key)
        if name is None:
            wanted, number = str(key) or f"column_{len(self._names) + 1}", 1
            base = name = wanted.replace("\0", "\ufffd")  # Arrow's names end at a NUL
            while name in self._taken:
                number += 1
                name = f"{base}_{number}"
            if name != wanted:
                self.warnings.append(
                    f'Column "{wanted}" is called "{name}" here: the name is reserved, taken or not usable.'
                )
            if not is_unicode(wanted):
                raise FormatError(f"The column name {wanted!a} is not valid Unicode.")
            if len(wanted) > self._limits.column_name:
                raise FormatError(f"A column name is longer than {self._limits.column_name:,} characters.")
            if len(self._names) >= self._limits.columns:
                raise FormatError(f"The file has more than {self._limits.columns:,} different columns.")
            self._names[key] = name
            self._taken.add(name)
            self._seen[name] = set()
        return name

    def add_column(self, name: str) -> str:
        """A column of its own for a name of a header: a repeated one gets a suffix and a warning."""
        name = unique = name or f"column_{len(self._names) + 1}"
        number = self._repeats.get(name, 1)
        while unique in self._names:
            number += 1
            unique = f"{name}_{number}"
        if unique != name:
            self._repeats[name] = number
            self.warnings.append(f'Column "{name}" stands more than once; a later one is called "{unique}".')
        return self.column(unique)

    def add_kind(self, column: str, kind: Kind) -> None:
        """Note what a column holds, where its format says so."""
        self._seen[column].add(kind)

    def frames(self, records: Sequence[Any], numbers: Sequence[int], lines: Sequence[int]) -> Iterator[pl.DataFrame]:
        """The records as columns, in their order; what is neither a map nor :class:`Malformed` is malformed too.

        One frame, or several where rows with many different keys would make a vast one.
        """
        broken: dict[int, Malformed] = {}
        rows: Sequence[Mapping[Any, Any]] = records
        if set(map(type, records)) - {dict}:
            broken = {at: no_row(record) for at, record in enumerate(records) if not isinstance(record, Mapping)}
            rows = [broken[at].fields if at in broken else record for at, record in enumerate(records)]
        keys = dict.fromkeys(chain.from_iterable(rows))
        if len(keys) * len(records) > FRAME_CELLS and len(records) > 1:
            half = len(records) // 2
            for part in (slice(half), slice(half, None)):
                yield from self.frames(records[part], numbers[part], lines[part])
            return
        series = [pl.Series(ROW_NUMBER, numbers, dtype=pl.Int64), pl.Series(LINE_NUMBER, lines, dtype=pl.Int64)]
        series += [self.series(self.column(key), values, broken) for key, values in _values(rows, list(keys))]
        yield pl.DataFrame(series + broken_series(broken, len(records)))

    def series(self, name: str, values: list[Any], broken: dict[int, Malformed]) -> pl.Series:
        """A column of text from values of any type; rows whose value has no text are added to ``broken``."""
        kinds = self._seen[name]
        types = set(map(type, values)) - {type(None)}
        if len(types) == 1 and (fast := FAST.get(next(iter(types)))) is not None:
            try:
                return fast(name, values, kinds, self._whole_floats)
            except (OverflowError, UnicodeEncodeError, TypeError):
                pass  # a value that its column type cannot hold: each value by itself
        texts: list[str | None] = []
        for at, value in enumerate(values):
            if value is None:
                texts.append(None)
                continue
            try:
                text, kind = cell_text(whole_number(value) if self._whole_floats else value)
                text.encode()
            except (ValueError, TypeError) as error:
                broken.setdefault(at, Malformed(_reason(name, error), ascii(value)[:1000]))
                texts.append(None)
            else:
                kinds.add(kind)
                texts.append(text)
        return pl.Series(name, texts, dtype=pl.String)


def _values(rows: Sequence[Mapping[Any, Any]], keys: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """The values of each key; all at once where every row has every key."""
    if len(keys) > 1 and set(map(type, rows)) == {dict}:
        try:
            columns = list(zip(*map(itemgetter(*keys), rows), strict=True))
        except KeyError:
            pass
        else:
            yield from zip(keys, map(list, columns), strict=True)
            return
    for key in keys:
        yield key, [row.get(key) for row in rows]


@contextmanager
def collection_paused() -> Iterator[None]:
    """Keep the garbage collector from walking millions of parsed values that hold no cycles: two thirds of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def broken_series(broken: Mapping[int, Malformed], height: int) -> list[pl.Series]:
    """The columns :data:`REASON` and :data:`RAW`, or nothing if no record is broken."""
    if not broken:
        return []
    reasons: list[str | None] = [None] * height
    raws: list[str | None] = [None] * height
    for at, one in broken.items():
        reasons[at], raws[at] = one.reason, one.raw
    return [pl.Series(REASON, reasons, dtype=pl.String), pl.Series(RAW, raws, dtype=pl.String)]


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8: without halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def decide_kind(seen: set[Kind]) -> Kind:
    """The one kind of a column that held these: text unless they agree."""
    if len(seen) == 1:
        return next(iter(seen))
    if seen == {Kind.INTEGER, Kind.NUMBER}:
        return Kind.NUMBER
    if seen == {Kind.DATE, Kind.DATETIME}:
        return Kind.DATETIME
    return Kind.TEXT


def no_row(record: Any) -> Malformed:
    """What stands for a record that is not a map of fields."""
    if isinstance(record, Malformed):
        return record
    names = {str: "a string", bool: "true or false", int: "a number", NumberText: "a number", list: "an array"}
    found = "null" if record is None else names.get(type(record), f"a value of type {type(record).__name__}")
    try:
        raw = json_text(record)
    except ValueError:
        raw = ascii(record)[:1000]
    return Malformed(f"expected an object, found {found}", raw)


def _reason(name: str, error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return f'field "{name}" is not valid Unicode'
    if "ecursion" in str(error):
        return f'field "{name}" is nested too deeply'
    return f'field "{name}" cannot be written as text'
