"""From transformed values to the types of the target's columns; what does not fit is a failure of its row.

The types in which columns are handed to a target, by kind:

========================= ==========================================================
text, uuid, json, enum    ``String`` (a UUID in lower case with hyphens, JSON as text)
integer                   ``Int64`` (``Int128`` beyond it)
numeric                   ``Decimal(precision, scale)``; ``String`` in plain notation
                          where the column has no precision or more than 37 digits
float                     ``Float64``, finite
boolean                   ``Boolean``
date / time               ``Date`` / ``Time``
timestamp                 ``Datetime("us")``, an offset in the text taken into account (UTC)
timestamptz               ``Datetime("us", "UTC")``, UTC where the text names no zone
binary                    ``Binary``, of PostgreSQL's hexadecimal text or of a text's UTF-8
duration                  ``String`` such as ``-12:30:00``
array                     ``String``, as PostgreSQL writes arrays
other                     ``String``
========================= ==========================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from airflow_provider_ingest.engine import numerals
from airflow_provider_ingest.engine.arrays import array_literals
from airflow_provider_ingest.engine.temporal import dates, durations, times, timestamps
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape
from airflow_provider_ingest.transformers.base import Refusal
from airflow_provider_ingest.transformers.values import as_text, stripped, sure

TRUE = ["true", "t", "yes", "y", "on", "1"]
FALSE = ["false", "f", "no", "n", "off", "0"]
UUID_SHAPE = r"^\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$"
HEX_BYTES = r"^[ \t\r\n]*\\x((?:[0-9a-fA-F]{2})*)[ \t\r\n]*$"
ZERO_CHARACTER = r"\\u0000"
SHOWN_CHOICES = 10

Converted = tuple[pl.Series, tuple[Refusal, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """One column's conversion.

    :param must_be_set: null fails the row: the column takes none, or it is part of the importer's key.
    """

    column: ColumnShape
    must_be_set: bool

    def __call__(self, values: pl.Series, *, may_hold_nul: bool = True) -> Converted:
        """The values in the column's type, null where they were empty or do not fit, and the rows that fail."""
        kind = self.column.kind
        if kind is ColumnKind.TEXT:
            converted, refused = _text(values, self.column, may_hold_nul=may_hold_nul)
        elif kind is ColumnKind.BINARY:
            converted, refused = _binary(values), ()  # a blank is a byte like any other
        else:
            plain = _PLAIN.get(kind, _nothing)(values, self.column) if values.dtype == pl.String else None
            if plain is not None:
                converted, refused = plain, ()
            else:
                if values.dtype == pl.String:
                    values = stripped(values)
                    values = values.set(sure(values == ""), None)
                converted, refused = _BY_KIND.get(kind, _text)(values, self.column)
        if self.must_be_set and values.null_count():
            missing = Refusal(
                rows=values.is_null(), code="not_null", message=f"{_takes(self.column)}, which is not null."
            )
            return converted, (*refused, missing)
        return converted, refused


def conversion_of(column: ColumnShape, *, is_key: bool) -> Conversion:
    """The conversion for a column of the target."""
    return Conversion(column=column, must_be_set=is_key or not column.nullable)


def _takes(column: ColumnShape) -> str:
    return f"The column {column.name} takes {column.sql_type}"


def _refusal(rows: pl.Series, code: str, message: str) -> tuple[Refusal, ...]:
    rows = sure(rows)
    return (Refusal(rows=rows, code=code, message=message),) if rows.any() else ()


def _wrong_type(values: pl.Series, converted: pl.Series, column: ColumnShape, example: str) -> tuple[Refusal, ...]:
    if converted.null_count() == values.null_count():
        return ()
    return _refusal(values.is_not_null() & converted.is_null(), "type", f"{_takes(column)}, {example}.")


def _text(values: pl.Series, column: ColumnShape, *, may_hold_nul: bool = True) -> Converted:
    text = as_text(values)
    refused: tuple[Refusal, ...] = ()
    if may_hold_nul:
        zero = text.str.contains("\x00", literal=True)
        refused = _refusal(zero, "out_of_range", f"{_takes(column)}, which has no place for the character NUL.")
    if column.length is not None and (text.str.len_bytes().max() or 0) > column.length:  # type: ignore[operator]
        message = f"{_takes(column)}, at most {column.length} characters."
        refused += _refusal(text.str.len_chars() > column.length, "too_long", message)
    if column.size is not None and (text.str.len_bytes().max() or 0) > column.size:  # type: ignore[operator]
        message = f"{_takes(column)}, at most {column.size} bytes."
        refused += _refusal(text.str.len_bytes() > column.size, "too_long", message)
    return text, refused


def _plain_integers(text: pl.Series, column: ColumnShape) -> pl.Series | None:
    """Text that holds nothing but whole numbers of the column's range; ``None`` if any value needs a closer look."""
    converted = text.cast(pl.Int64, strict=False)
    if converted.null_count() != text.null_count():
        return None
    low, high = numerals.bounds(column)
    least, most = converted.min(), converted.max()
    within = least is None or (low <= least and most <= high)  # type: ignore[operator]
    return converted.cast(numerals.integer_type(low, high)) if within else None


def _plain_floats(text: pl.Series, column: ColumnShape) -> pl.Series | None:
    """Text that holds nothing but finite numbers; ``None`` if any value needs a closer look."""
    converted = text.cast(pl.Float64, strict=False)
    if converted.null_count() != text.null_count() or not converted.is_finite().all():
        return None
    return converted


def _nothing(text: pl.Series, column: ColumnShape) -> pl.Series | None:
    return None


def _integer(values: pl.Series, column: ColumnShape) -> Converted:
    converted = numerals.integers(values)
    out = numerals.beyond_integers(values, converted)
    low, high = numerals.bounds(column)
    out |= numerals.outside(converted, low, high)
    message = f"{_takes(column)}, a whole number from {low} to {high}."
    refused = _refusal(out, "out_of_range", message)
    wrong = values.is_not_null() & converted.is_null() & ~out
    refused += _refusal(wrong, "type", f"{_takes(column)}, a whole number.")
    converted = converted.set(out, None) if refused else converted
    return converted.cast(numerals.integer_type(low, high)), refused


def _numeric(values: pl.Series, column: ColumnShape) -> Converted:
    odd = column.precision is not None and not 0 <= (column.scale or 0) <= column.precision  # PostgreSQL has such
    if column.precision is None or column.precision > numerals.WIDEST or odd:
        converted = numerals.plain_numbers(values, column.scale if column.precision is not None and not odd else None)
        return converted, _wrong_type(values, converted, column, "a number")
    scale = column.scale or 0
    converted, out = numerals.decimals(values, column.precision, scale)
    whole = column.precision - scale
    message = f"{_takes(column)}, at most {whole} digits before the point."
    refused = _refusal(out, "out_of_range", message)
    wrong = values.is_not_null() & converted.is_null() & ~out
    return converted, refused + _refusal(wrong, "type", f"{_takes(column)}, a number.")


def _float(values: pl.Series, column: ColumnShape) -> Converted:
    shaped = values
    if values.dtype == pl.String or values.dtype.is_numeric() or values.dtype == pl.Boolean:
        converted = values.cast(pl.Float64, strict=False)
    else:
        shaped = as_text(values)
        converted = shaped.cast(pl.Float64, strict=False)
    infinite = (~converted.is_finite()).fill_null(False)
    if infinite.any():
        spelled = infinite & (as_text(shaped).str.contains(r"^[+-]?[0-9.]").fill_null(False))
        refused = _refusal(spelled, "out_of_range", f"{_takes(column)}, a number up to 1.8e308.")
        refused += _refusal(infinite & ~spelled, "type", f"{_takes(column)}, a finite number.")
        converted = converted.set(infinite, None)
        wrong = values.is_not_null() & converted.is_null() & ~infinite
        return converted, refused + _refusal(wrong, "type", f"{_takes(column)}, a number.")
    return converted, _wrong_type(values, converted, column, "a number")


def _boolean(values: pl.Series, column: ColumnShape) -> Converted:
    if values.dtype == pl.Boolean:
        return values, ()
    if values.dtype.is_integer():
        converted = (values == 1).set(~values.is_between(0, 1).fill_null(False), None)
        return converted, _wrong_type(values, converted, column, "true or false (1 or 0)")
    text = as_text(values).str.to_lowercase()
    truth = text.is_in(TRUE).fill_null(False)
    converted = truth.set(~(truth | text.is_in(FALSE).fill_null(False)), None)
    return converted, _wrong_type(values, converted, column, "true or false (yes or no, 1 or 0)")


def _date(values: pl.Series, column: ColumnShape) -> Converted:
    if values.dtype == pl.Date:
        return values, ()
    text = as_text(values) if not isinstance(values.dtype, pl.Datetime) else values.dt.to_string("iso")
    converted = dates(text)
    return converted, _wrong_type(values, converted, column, "a date such as 2026-01-31")


def _timestamp(values: pl.Series, column: ColumnShape) -> Converted:
    with_zone = column.kind is ColumnKind.TIMESTAMPTZ
    if isinstance(values.dtype, pl.Datetime):
        naive = (
            values if values.dtype.time_zone is None else values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        )
        converted = naive.cast(pl.Datetime("us"))
    elif values.dtype == pl.Date:
        converted = values.cast(pl.Datetime("us"))
    else:
        converted = timestamps(as_text(values))
    refused = _wrong_type(values, converted, column, "a timestamp such as 2026-01-31T12:00:00Z")
    return converted.dt.replace_time_zone("UTC") if with_zone else converted, refused


def _time(values: pl.Series, column: ColumnShape) -> Converted:
    converted = values if values.dtype == pl.Time else times(as_text(values))
    return converted, _wrong_type(values, converted, column, "a time such as 12:30:00")


def _duration(values: pl.Series, column: ColumnShape) -> Converted:
    converted = durations(as_text(values))
    return converted, _wrong_type(values, converted, column, "a time such as 12:30:00, from -838:59:59 to 838:59:59")


def _uuid(values: pl.Series, column: ColumnShape) -> Converted:
    text = as_text(values).str.to_lowercase()
    converted = text.set(~text.str.contains(UUID_SHAPE).fill_null(False), None)
    if (converted.str.len_bytes() != 36).any():
        converted = converted.str.replace(UUID_SHAPE, "${1}-${2}-${3}-${4}-${5}")
    return converted, _wrong_type(values, converted, column, "a UUID")


def _json(values: pl.Series, column: ColumnShape) -> Converted:
    text = as_text(values)
    if values.dtype != pl.String:
        return text, ()
    is_json = text.str.json_path_match("$").is_not_null() | (text == "null")
    converted = text.set(~is_json.fill_null(False), None)
    refused = _wrong_type(values, converted, column, "JSON")
    zero = converted.str.contains(ZERO_CHARACTER, literal=False)
    return converted, refused + _refusal(zero, "out_of_range", f"{_takes(column)}, without the character NUL.")


def _enum(values: pl.Series, column: ColumnShape) -> Converted:
    text = as_text(values)
    converted = text.set(~text.is_in(list(column.choices)).fill_null(False), None) if column.choices else text
    choices = ", ".join(column.choices[:SHOWN_CHOICES]) + (", …" if len(column.choices) > SHOWN_CHOICES else "")
    return converted, _wrong_type(values, converted, column, f"one of {choices}")


def _array(values: pl.Series, column: ColumnShape) -> Converted:
    return _text(array_literals(as_text(values), column.sql_type), column)


def _binary(values: pl.Series) -> pl.Series:
    r"""Hexadecimal digits behind ``\x``, as PostgreSQL writes bytes, are these bytes; any other text is its UTF-8."""
    if values.dtype == pl.Binary:
        return values
    text = as_text(values)
    text = text.set(sure(text == ""), None)
    spelled = sure(text.str.contains(HEX_BYTES))
    as_it_is = text.cast(pl.Binary)
    if not spelled.any():
        return as_it_is
    digits = text.set(~spelled, None).str.extract(HEX_BYTES, 1)
    return digits.str.decode("hex").zip_with(spelled, as_it_is)


_PLAIN: dict[ColumnKind, Callable[[pl.Series, ColumnShape], pl.Series | None]] = {
    ColumnKind.INTEGER: _plain_integers,
    ColumnKind.FLOAT: _plain_floats,
}
"""One cast and a look at its extremes, for columns in which every text is written plainly."""

_BY_KIND: dict[ColumnKind, Callable[[pl.Series, ColumnShape], Converted]] = {
    ColumnKind.INTEGER: _integer,
    ColumnKind.NUMERIC: _numeric,
    ColumnKind.FLOAT: _float,
    ColumnKind.BOOLEAN: _boolean,
    ColumnKind.DATE: _date,
    ColumnKind.TIMESTAMP: _timestamp,
    ColumnKind.TIMESTAMPTZ: _timestamp,
    ColumnKind.TIME: _time,
    ColumnKind.DURATION: _duration,
    ColumnKind.UUID: _uuid,
    ColumnKind.JSON: _json,
    ColumnKind.ENUM: _enum,
    ColumnKind.ARRAY: _array,
}
