"""Single values and columns of values as text, together with what they were."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import orjson
import polars as pl

from airflow_provider_ingest.runs.frames import Kind

HEX_BYTES = re.compile(r"\A[ \t\r\n]*\\x(?:[0-9a-fA-F]{2})*[ \t\r\n]*\Z")
"""Bytes as PostgreSQL writes them, as :mod:`airflow_provider_ingest.engine.convert` reads them."""


class NumberText(str):
    """A number as it stood in the file, digit for digit."""

    __slots__ = ()


WHOLE_BELOW = 1 << 53
"""Up to here a float knows every integer."""


def whole_number(value: Any) -> Any:
    """The float 12.0 as the integer 12; any other value as it is."""
    is_whole = type(value) is float and value.is_integer() and abs(value) < WHOLE_BELOW
    return int(value) if is_whole else value


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
    r"""Bytes as text: themselves if they are UTF-8, else ``\x`` and hexadecimal digits.

    So are bytes that read like such digits: a column of bytes takes each text for the bytes that it came from.
    """
    try:
        text = bytes(value).decode()
    except UnicodeDecodeError:
        return "\\x" + bytes(value).hex()
    return "\\x" + bytes(value).hex() if HEX_BYTES.search(text) else text


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
    if whole_floats:
        series = pl.Series(name, values, dtype=pl.Float64)
        if ((series == series.floor()) & (series.abs() < WHOLE_BELOW)).all():
            kinds.add(Kind.INTEGER)
            return series.cast(pl.Int64).cast(pl.String)
        values = [whole_number(value) for value in values]
    kinds.add(Kind.NUMBER)
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


def _fast_json(name: str, values: list[Any], kinds: set[Kind], _: bool) -> pl.Series:
    dumps, default, option = orjson.dumps, _json_default, _JSON_OPTIONS
    texts = [None if value is None else dumps(value, default, option) for value in values]
    kinds.add(Kind.JSON)
    return pl.Series(name, texts, dtype=pl.Binary).cast(pl.String)


FAST: dict[type, Callable[[str, list[Any], set[Kind], bool], pl.Series]] = {
    str: _fast_text,
    NumberText: _fast_number_text,
    int: _fast_integer,
    bool: _fast_boolean,
    date: _fast_date,
    float: _fast_float,
    list: _fast_json,
    dict: _fast_json,
}
"""How a column whose values are all of one type becomes text at once: ``(name, values, kinds, whole_floats)``. Raises
``OverflowError``, ``UnicodeEncodeError`` or ``TypeError`` where one value cannot."""
