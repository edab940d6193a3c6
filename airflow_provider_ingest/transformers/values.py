"""Between Python values and columns: the text of a value, a column of any values, a function over distinct values."""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from airflow_provider_ingest.runs.columns import pl

BLANKS = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What ``str.strip`` and ``str.isspace`` take for blank; Polars' own idea of it lacks U+001C to U+001F."""

MAX_PRECISION = 38
"""Digits of the widest decimal column; numbers beyond it travel as text."""

MAX_INTEGER = 2**63 - 1
EXACT_FLOAT = 2**53

LONGEST_PLAIN = 1000
"""Digits up to which a decimal is written out; beyond it keeps its exponent (``1E+999999``)."""


def text_of(value: Any) -> str:
    """The text of a value as a file would have it: ``true``, ``7``, ``0.1``, ``2026-01-31``, JSON of a collection.

    >>> [text_of(value) for value in (True, 7.0, 0.1, Decimal("1.50"), [1, "a"])]
    ['true', '7', '0.1', '1.50', '[1,"a"]']
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < EXACT_FLOAT else repr(float(value))
    if isinstance(value, Decimal):
        return format(value, "f") if abs(value.adjusted()) <= LONGEST_PLAIN else str(value)
    if isinstance(value, Mapping | Sequence | Set) and not isinstance(value, bytes | bytearray):
        return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {text_of(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((_plain(item) for item in value), key=text_of)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return text_of(value)


def as_text(values: pl.Series) -> pl.Series:
    """The column as text, value by value what :func:`text_of` gives; null stays null."""
    if values.dtype == pl.String:
        return values
    if values.dtype.is_integer() or values.dtype in (pl.Boolean, pl.Null) or isinstance(values.dtype, pl.Decimal):
        return values.cast(pl.String)
    return over_distinct(values, text_of, pl.String)


def sure(mask: pl.Series) -> pl.Series:
    """A mask with null counted as false."""
    return mask.fill_null(False) if mask.null_count() else mask


def stripped(text: pl.Series) -> pl.Series:
    """``str.strip`` over a text column."""
    return text.str.strip_chars(BLANKS)


def is_ascii(text: pl.Series) -> pl.Series:
    """Whether each text is ASCII, where Python's and Polars' idea of letters, cases and digits are the same."""
    return text.str.len_bytes() == text.str.len_chars()


def is_empty(values: pl.Series) -> pl.Series:
    """Whether each value is null or the empty text."""
    if values.dtype == pl.String:
        empty = values == ""
        return empty.fill_null(True) if empty.null_count() else empty
    return values.is_null()


def distinct_if_few(values: pl.Series) -> pl.Series | None:
    """The distinct non-null values if going over them instead of all rows is worth it, else ``None``."""
    countable = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Decimal)
    if not (values.dtype.is_integer() or isinstance(values.dtype, countable)) or values.len() < 32:
        return None
    head = values.head(1000)
    if head.n_unique() * 10 > head.len() * 9:
        return None
    distinct = (values.drop_nulls() if values.null_count() else values).unique()
    return distinct if distinct.len() * 2 <= values.len() else None


def over_distinct(values: pl.Series, function: Callable[[Any], Any], dtype: Any = None) -> pl.Series:
    """``function`` of every non-null value; called once for each distinct value where these are few.

    :param dtype: of the result; without it the results decide (:func:`to_series`).
    """
    distinct = distinct_if_few(values)
    if distinct is None:
        results = [None if value is None else function(value) for value in values.to_list()]
        return pl.Series(values.name, results, dtype=dtype) if dtype is not None else to_series(results, values.name)
    mapped = [function(value) for value in distinct.to_list()]
    return spread(values, distinct, pl.Series(mapped, dtype=dtype) if dtype is not None else to_series(mapped))


def spread(values: pl.Series, distinct: pl.Series, results: pl.Series) -> pl.Series:
    """The results for distinct values, laid out along the column they came from; null stays null."""
    if distinct.is_empty():
        return pl.Series(values.name, [None], dtype=results.dtype).extend_constant(None, max(values.len() - 1, 0))
    return values.replace_strict(distinct, results, default=None, return_dtype=results.dtype)


def mend(fast: pl.Series, unsure: pl.Series, values: pl.Series, function: Callable[[Any], Any]) -> pl.Series:
    """``fast`` where it is sure, elsewhere Python's answer: ``function`` of the values."""
    if not unsure.any():
        return fast
    exact = over_distinct(values.set(~unsure, None), function, fast.dtype)
    return exact.zip_with(unsure, fast)


_SURROGATE = re.compile("[\ud800-\udfff]")


def always_fits(values: Iterable[Any]) -> bool:
    """Whether :func:`to_series` surely takes the values: asked at definition, when Polars may not be there yet."""
    return all(
        value is None
        or type(value) in (bool, float)
        or (type(value) is int and abs(value) < 2**63)
        or (type(value) is str and not _SURROGATE.search(value))
        for value in values
    )


def to_series(results: Iterable[Any], name: str = "") -> pl.Series:
    """A column of Python values without loss.

    One type gives a column of that type; integers and decimals mix into decimals; anything else that is mixed, too
    large or a collection becomes text (collections as JSON).

    :raises TypeError: for a value that no column can hold; the message names its type.
    """
    listed = list(results)
    kinds = {kind for kind in map(type, listed) if kind is not type(None)}
    if not kinds:
        return pl.Series(name, listed, dtype=pl.Null)
    if not kinds <= _KNOWN:
        listed = [_known(value) for value in listed]
        kinds = {kind for kind in map(type, listed) if kind is not type(None)}
    typed = _typed(listed, kinds, name)
    return typed if typed is not None else _texts(listed, name)


def _texts(listed: list[Any], name: str) -> pl.Series:
    return pl.Series(name, [None if value is None else text_of(value) for value in listed], dtype=pl.String)


def _typed(listed: list[Any], kinds: set[type], name: str) -> pl.Series | None:
    if kinds == {str}:
        return pl.Series(name, listed, dtype=pl.String)
    if kinds == {int}:
        if all(value is None or -MAX_INTEGER <= value <= MAX_INTEGER for value in listed):
            return pl.Series(name, listed, dtype=pl.Int64)
        return _decimals([None if value is None else Decimal(value) for value in listed], name)
    if len(kinds) == 1 and kinds <= _DTYPES.keys():
        return pl.Series(name, listed, dtype=getattr(pl, _DTYPES[next(iter(kinds))]))
    if kinds == {float, int}:
        if all(type(value) is not int or abs(value) <= EXACT_FLOAT for value in listed):
            return pl.Series(name, [None if value is None else float(value) for value in listed], dtype=pl.Float64)
        return None
    if kinds <= {Decimal, int}:
        return _decimals([Decimal(value) if type(value) is int else value for value in listed], name)
    if kinds == {datetime}:
        return _datetimes(listed, name)
    return None


def _decimals(listed: Sequence[Decimal | None], name: str) -> pl.Series | None:
    text = pl.Series(name, [None if value is None else str(value) for value in listed], dtype=pl.String)
    if text.str.contains("E", literal=True).any():
        text = pl.Series(name, [None if value is None else text_of(value) for value in listed], dtype=pl.String)
    if not text.str.contains(r"\A-?[0-9.]+\z").all():
        return None  # NaN or infinite
    point = text.str.find(".", literal=True)
    length = text.str.len_bytes()
    sign = text.str.starts_with("-")
    scale = cast("int", (length - point - 1).max() or 0)
    whole = cast("int", (point.fill_null(length) - sign).max() or 0)
    return text.cast(pl.Decimal(MAX_PRECISION, scale)) if scale + whole <= MAX_PRECISION else None


def _datetimes(listed: list[Any], name: str) -> pl.Series | None:
    aware = [value.tzinfo is not None for value in listed if value is not None]
    if not any(aware):
        return pl.Series(name, listed, dtype=pl.Datetime("us"))
    if all(aware):
        try:
            utc = [None if value is None else value.astimezone(UTC) for value in listed]
        except OverflowError:
            return None
        return pl.Series(name, utc, dtype=pl.Datetime("us", "UTC"))
    return None


_DTYPES = {bool: "Boolean", float: "Float64", date: "Date", time: "Time", bytes: "Binary"}
"""Names of the column types, looked up on use: Polars is not there yet while a DAG file is parsed."""

_KNOWN = frozenset(
    {str, int, bool, float, Decimal, date, datetime, time, bytes, list, dict, tuple, set, frozenset, UUID}
)
_BASES = (str, bool, int, float, Decimal, datetime, date, time, bytes)


def _known(value: Any) -> Any:
    """The value as one of the plain types that columns know; subclasses (enums, NumPy's) become their base."""
    if value is None or type(value) in _KNOWN:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, _BASES):
        return text_of(value) if not isinstance(value, datetime) else datetime.fromisoformat(value.isoformat())
    if isinstance(value, Mapping | Sequence | Set):
        return text_of(value)
    raise TypeError(f"a value of type {type(value).__name__} fits no column")
