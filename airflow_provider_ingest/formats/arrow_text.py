"""Arrow columns as text: what Parquet and Arrow files hold becomes the text that travels, after it was looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import MAX_RAW
from airflow_provider_ingest.formats.rows import RAW, REASON
from airflow_provider_ingest.formats.values import binary_text, json_text
from airflow_provider_ingest.runs.frames import Kind


def kind_of(type_: Any) -> Kind:
    """What an Arrow type is to us."""
    from pyarrow import types

    if types.is_dictionary(type_) or types.is_run_end_encoded(type_):
        return kind_of(type_.value_type)
    if extension := _extension(type_):
        return _EXTENSIONS.get(extension) or kind_of(type_.storage_type)
    for is_kind, kind in (
        (types.is_integer, Kind.INTEGER),
        (types.is_floating, Kind.NUMBER),
        (types.is_decimal, Kind.NUMBER),
        (types.is_boolean, Kind.BOOLEAN),
        (types.is_date, Kind.DATE),
        (types.is_timestamp, Kind.DATETIME),
        (types.is_nested, Kind.JSON),
    ):
        if is_kind(type_):
            return kind
    return Kind.TEXT


_EXTENSIONS = {"arrow.json": Kind.JSON, "arrow.uuid": Kind.TEXT, "arrow.bool8": Kind.BOOLEAN}


def _extension(type_: Any) -> str:
    """The name of an extension type: one that is stored as another type; empty for any other."""
    return str(getattr(type_, "extension_name", ""))


def check_type(name: str, type_: Any) -> None:
    """Refuse a column of a type that has no text, before the first row is read.

    :raises FormatError: says which.
    """
    import pyarrow as pa

    try:
        text_series(name, pa.nulls(0, type_))
    except (pa.ArrowException, pl.exceptions.PolarsError):
        raise FormatError(f"The column {name!r} has the type {type_}, which cannot be read.") from None


def text_frame(batch: Any, names: list[str]) -> pl.DataFrame:
    """An Arrow batch as text columns; rows with a text that is none get a reason.

    Everything is looked at before it is used: Polars believes offsets, indexes and texts.

    :raises pyarrow.ArrowInvalid: something else than a text is not what it should be.
    """
    import pyarrow as pa

    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        return _with_bad_texts(batch, names)
    return pl.DataFrame([text_series(name, column) for name, column in zip(names, batch.columns, strict=True)])


def _with_bad_texts(batch: Any, names: list[str]) -> pl.DataFrame:
    found: list[pl.Series] = []
    reasons: list[str | None] = [None] * batch.num_rows
    raws: list[str | None] = [None] * batch.num_rows
    for name, column in zip(names, batch.columns, strict=True):
        values = _as_bytes(column)
        if values is None:
            column.validate(full=True)
            found.append(text_series(name, column))
            continue
        values.validate(full=True)
        texts: list[str | None] = []
        for at, value in enumerate(values.to_pylist()):
            text = None if value is None else value.decode(errors="replace")
            if text is not None and text.encode() != value:
                reasons[at], raws[at] = f"{name}: not valid UTF-8", text[:MAX_RAW]
            texts.append(text)
        found.append(pl.Series(name, texts, dtype=pl.String))
    return pl.DataFrame([*found, pl.Series(REASON, reasons, pl.String), pl.Series(RAW, raws, pl.String)])


def _as_bytes(column: Any) -> Any:
    """A column of texts as one of bytes; ``None`` for any other column."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        dictionary = _as_bytes(column.dictionary)
        if dictionary is None:
            return None
        column = pa.DictionaryArray.from_arrays(column.indices, dictionary, safe=False)
        column.validate(full=True)
        return column.dictionary_decode()
    return column.cast(pa.large_binary()) if _is_text(column.type) else None


def _is_text(type_: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_))


def text_series(name: str, column: Any) -> pl.Series:
    """An Arrow column as text: ISO 8601 for times, ``true``/``false``, JSON for what is nested."""
    import pyarrow as pa
    from pyarrow import compute, types

    if extension := _extension(column.type):
        column = column.storage
        if extension == "arrow.uuid":
            return pl.Series(name, _each(column, lambda value: str(UUID(bytes=value))), dtype=pl.String)
        if extension == "arrow.bool8":
            column = compute.cast(column, pa.bool_())
    if types.is_run_end_encoded(column.type):
        column = compute.run_end_decode(column)
    if types.is_dictionary(column.type) and not _is_text(column.type.value_type):
        column = column.dictionary_decode()
    if types.is_nested(column.type):
        return pl.Series(name, _each(column, json_text), dtype=pl.String)
    is_binary = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    if any(is_kind(column.type) for is_kind in is_binary):
        return pl.Series(name, _each(column, binary_text), dtype=pl.String)
    if types.is_decimal(column.type):
        return pl.Series(name, _each(column, str), dtype=pl.String)
    if types.is_float16(column.type):
        column = compute.cast(column, "float32")
    if types.is_date64(column.type):
        column = compute.cast(column, "date32", safe=False)
    if types.is_timestamp(column.type) and column.type.unit == "s":  # Polars' own way of it may overflow unseen
        column = compute.cast(column, pa.timestamp("ms", column.type.tz))
    series = pl.Series(name, column)
    if series.dtype.is_temporal():
        return _temporal(series)
    return series.cast(pl.String)


def _temporal(series: pl.Series) -> pl.Series:
    """Times in ISO 8601.

    :raises FormatError: one lies beyond any calendar.
    """
    try:
        return _iso(series)
    except pl.exceptions.PanicException:
        raise FormatError(f"The column {series.name!r} holds a date or time that no calendar has.") from None


def _iso(series: pl.Series) -> pl.Series:
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.to_string("iso:strict")
    if series.dtype == pl.Duration:
        return series.dt.to_string("iso")
    if series.dtype == pl.Time:
        return series.dt.to_string("%H:%M:%S%.f")  # a cast leaves the fraction out
    return series.cast(pl.String)


def _each(column: Any, convert: Callable[[Any], str]) -> list[str | None]:
    return [None if value is None else convert(value) for value in column.to_pylist()]
