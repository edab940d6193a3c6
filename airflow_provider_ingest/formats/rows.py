"""Rows as maps become text columns, together with what each value was."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import chain
from typing import Any

import orjson
import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import LIMITS, Limits
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, Kind

REASON = "_malformed_reason"
"""Column of a records frame: why a record is no row; null in good ones. Absent if all are good."""

RAW = "_malformed_raw"
"""Column of a records frame: the text of a record that is no row."""

RESERVED = frozenset({ROW_NUMBER, LINE_NUMBER, REASON, RAW})


class NumberText(str):
    """A number as it stood in the file, digit for digit."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Malformed:
    """Stands in the place of a record that is no row."""

    reason: str
    raw: str


class RowFrames:
    """Turns stretches of rows into records frames and remembers every column and kind it has seen.

    A records frame has the row and line numbers, the columns seen so far that occur in it (String), and
    :data:`REASON` and :data:`RAW` if a record in it is no row.

    >>> frames = RowFrames()
    >>> frames.frame([{"a": 1}, {"a": 2.5, "b": True}], [1, 2], [1, 2]).row(1)
    (2, 2, '2.5', 'true')
    >>> frames.kinds
    {'a': <Kind.NUMBER: 'number'>, 'b': <Kind.BOOLEAN: 'boolean'>}
    """

    def __init__(self, *, columns: Iterable[str] = (), whole_floats: bool = False, limits: Limits = LIMITS) -> None:
        """:param columns: those that come first. :param whole_floats: write the float 12.0 as the integer 12."""
        self.warnings: list[str] = []
        self._limits = limits
        self._whole_floats = whole_floats
        self._names: dict[str, str] = {}
        self._taken: set[str] = set(RESERVED)
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

    def column(self, key: str) -> str:
        """The column of a key; a reserved name gets a suffix and a warning."""
        name = self._names.get(key)
        if name is None:
            name, number = key, 1
            while name in self._taken:
                number += 1
                name = f"{key}_{number}"
            if name != key:
                self.warnings.append(f'Column "{key}" is called "{name}" here: the name is reserved or taken.')
            if len(self._names) >= self._limits.columns:
                raise FormatError(f"The file has more than {self._limits.columns:,} different columns.")
            self._names[key] = name
            self._taken.add(name)
            self._seen[name] = set()
        return name

    def add_kind(self, column: str, kind: Kind) -> None:
        """Note what a column holds, where its format says so."""
        self._seen[column].add(kind)

    def frame(self, records: Sequence[Any], numbers: Iterable[int], lines: Iterable[int]) -> pl.DataFrame:
        """The records as columns, in their order; what is neither a map nor :class:`Malformed` is malformed too."""
        broken: dict[int, Malformed] = {}
        rows: Sequence[Mapping[Any, Any]] = records
        if set(map(type, records)) - {dict}:
            broken = {at: no_row(record) for at, record in enumerate(records) if not isinstance(record, Mapping)}
            rows = [{} if at in broken else record for at, record in enumerate(records)]
        series = [pl.Series(ROW_NUMBER, numbers, dtype=pl.Int64), pl.Series(LINE_NUMBER, lines, dtype=pl.Int64)]
        for key in dict.fromkeys(chain.from_iterable(rows)):
            name = self.column(key if type(key) is str else str(key))
            series.append(self.series(name, [row.get(key) for row in rows], broken))
        return pl.DataFrame(series + broken_series(broken, len(records)))

    def series(self, name: str, values: list[Any], broken: dict[int, Malformed]) -> pl.Series:
        """A column of text from values of any type; rows whose value has no text are added to ``broken``."""
        kinds = self._seen[name]
        types = set(map(type, values)) - {type(None)}
        if len(types) == 1 and (fast := _FAST.get(next(iter(types)))) is not None:
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
                if self._whole_floats and type(value) is float and value.is_integer():
                    value = int(value)
                text, kind = cell_text(value)
                text.encode()
            except (ValueError, TypeError) as error:
                broken.setdefault(at, Malformed(_reason(name, error), ascii(value)[:1000]))
                texts.append(None)
            else:
                kinds.add(kind)
                texts.append(text)
        return pl.Series(name, texts, dtype=pl.String)


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


def cell_text(value: Any) -> tuple[str, Kind]:
    """A value as text, and what it was; raises ``ValueError`` if it has none."""
    for kind_of, convert in _SLOW:
        if isinstance(value, kind_of):
            return convert(value)
    item = getattr(value, "item", None)  # a NumPy scalar
    if callable(item) and not isinstance(value, type):
        return cell_text(item())
    return str(value), Kind.TEXT


def json_text(value: Any) -> str:
    """A nested value as compact JSON; numbers keep their digits."""
    try:
        return orjson.dumps(value, default=_json_default, option=_JSON_OPTIONS).decode()
    except TypeError:
        try:
            return orjson.dumps(_wide_integers(value), default=_json_default, option=_JSON_OPTIONS).decode()
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from None


def _wide_integers(value: Any) -> Any:
    """The same value, with integers beyond 64 bits as finished JSON."""
    if isinstance(value, Mapping):
        return {key: _wide_integers(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_wide_integers(one) for one in value]
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        return orjson.Fragment(str(value))
    return value


def _reason(name: str, error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return f'field "{name}" is not valid Unicode'
    if "ecursion" in str(error):
        return f'field "{name}" is nested too deeply'
    return f'field "{name}" cannot be written as text'


_JSON_OPTIONS = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_NON_STR_KEYS


def _json_default(value: Any) -> Any:
    if isinstance(value, NumberText):
        return orjson.Fragment(str(value))
    if isinstance(value, Decimal) and value.is_finite():
        return orjson.Fragment(str(value))
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return cell_text(value)[0]


def _integer(value: int) -> tuple[str, Kind]:
    return str(int(value)), Kind.INTEGER if -(1 << 63) <= value < 1 << 63 else Kind.NUMBER


def _duration(value: timedelta) -> tuple[str, Kind]:
    seconds = abs(value) // timedelta(seconds=1)
    fraction = f".{abs(value).microseconds:06}" if value.microseconds else ""
    sign = "-" if value < timedelta(0) else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}", Kind.TEXT


def binary_text(value: bytes) -> str:
    r"""Bytes as text: themselves if they are UTF-8, else ``\x`` and hexadecimal digits."""
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return "\\x" + bytes(value).hex()


_SLOW: tuple[tuple[Any, Callable[[Any], tuple[str, Kind]]], ...] = (
    (Enum, lambda value: cell_text(value.value)),
    (NumberText, lambda value: (str(value), Kind.NUMBER)),
    (str, lambda value: (str(value), Kind.TEXT)),
    (bool, lambda value: ("true" if value else "false", Kind.BOOLEAN)),
    (int, _integer),
    ((float, Decimal), lambda value: (str(value), Kind.NUMBER)),
    (datetime, lambda value: (value.isoformat(), Kind.DATETIME)),
    (date, lambda value: (value.isoformat(), Kind.DATE)),
    (time, lambda value: (value.isoformat(), Kind.TEXT)),
    (timedelta, _duration),
    ((Mapping, list, tuple, set, frozenset), lambda value: (json_text(value), Kind.JSON)),
    ((bytes, bytearray, memoryview), lambda value: (binary_text(value), Kind.TEXT)),
)


def _fast_text(name: str, values: list[Any], kinds: set[Kind], _: bool) -> pl.Series:
    series = pl.Series(name, values, dtype=pl.String)
    kinds.add(Kind.TEXT)
    return series


def _fast_number_text(name: str, values: list[Any], kinds: set[Kind], _: bool) -> pl.Series:
    series = pl.Series(name, values, dtype=pl.String)
    kinds.add(Kind.NUMBER)
    return series


def _fast_integer(name: str, values: list[Any], kinds: set[Kind], _: bool) -> pl.Series:
    series = pl.Series(name, values, dtype=pl.Int64)
    kinds.add(Kind.INTEGER)
    return series.cast(pl.String)


def _fast_boolean(name: str, values: list[Any], kinds: set[Kind], _: bool) -> pl.Series:
    kinds.add(Kind.BOOLEAN)
    return pl.Series(name, values, dtype=pl.Boolean).cast(pl.String)


def _fast_date(name: str, values: list[Any], kinds: set[Kind], _: bool) -> pl.Series:
    kinds.add(Kind.DATE)
    return pl.Series(name, values, dtype=pl.Date).cast(pl.String)


def _fast_float(name: str, values: list[Any], kinds: set[Kind], whole_floats: bool) -> pl.Series:
    series = pl.Series(name, values, dtype=pl.Float64)
    if not whole_floats:
        kinds.add(Kind.NUMBER)
        return series.cast(pl.String)
    whole = ((series == series.floor()) & (series.abs() < 1e15)).fill_null(True)
    if whole.all():
        kinds.add(Kind.INTEGER)
        return series.cast(pl.Int64).cast(pl.String)
    kinds.add(Kind.NUMBER)
    column = pl.col(name)
    mixed = pl.when(whole).then(column.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(column.cast(pl.String))
    return series.to_frame().select(mixed.alias(name)).to_series()


def _fast_json(name: str, values: list[Any], kinds: set[Kind], _: bool) -> pl.Series:
    dumps, default, option = orjson.dumps, _json_default, _JSON_OPTIONS
    texts = [None if value is None else dumps(value, default, option) for value in values]
    kinds.add(Kind.JSON)
    return pl.Series(name, texts, dtype=pl.Binary).cast(pl.String)


_FAST: dict[type, Callable[[str, list[Any], set[Kind], bool], pl.Series]] = {
    str: _fast_text,
    NumberText: _fast_number_text,
    int: _fast_integer,
    bool: _fast_boolean,
    date: _fast_date,
    float: _fast_float,
    list: _fast_json,
    dict: _fast_json,
}
