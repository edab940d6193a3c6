"""Numbers of any column as exact integers and decimals of a target column."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

import polars as pl

from airflow_provider_ingest.importers.table import ColumnShape
from airflow_provider_ingest.transformers.numbers import PLAIN_SHAPE, SHORT_PLACES, SHORT_SHAPE, parse_plain
from airflow_provider_ingest.transformers.values import as_text, over_distinct

WIDEST = 37
"""Most digits that are computed in decimal columns: one place is needed to round."""

INTEGER_SHAPE = r"\A[+-]?[0-9]+(?:\.0*)?\z"
EXACT = Context(prec=3000)


def integers(values: pl.Series) -> pl.Series:
    """Whole numbers as ``Int64`` (``Int128`` where one is larger); null for what is none.

    ``12.0`` is one too: spreadsheets write whole numbers that way.
    """
    if values.dtype.is_integer():
        return values if values.dtype == pl.Int128 else values.cast(pl.Int64, strict=False)
    if values.dtype == pl.Boolean or values.dtype == pl.Null:
        return values.cast(pl.Int64)
    text = as_text(values)
    converted = text.cast(pl.Int64, strict=False)
    rest = converted.is_null() & text.is_not_null()
    if not rest.any():
        return converted
    shaped = text.set(~(rest & text.str.contains(INTEGER_SHAPE).fill_null(False)), None)
    others = shaped.str.replace(r"\..*", "").str.strip_prefix("+").cast(pl.Int128, strict=False)
    if others.null_count() == others.len():
        return converted
    return others.zip_with(rest, converted.cast(pl.Int128))


def beyond_integers(values: pl.Series, converted: pl.Series) -> pl.Series:
    """Whole numbers that are too large for any integer column here, and so are null in ``converted``."""
    lost = converted.is_null() & values.is_not_null()
    if not lost.any():
        return lost
    return lost & as_text(values).str.contains(INTEGER_SHAPE).fill_null(False)


def bounds(column: ColumnShape) -> tuple[int, int]:
    """The least and the greatest number that an integer column takes."""
    low = -(2**63) if column.minimum is None else column.minimum
    high = 2**63 - 1 if column.maximum is None else column.maximum
    return low, high


def integer_type(low: int, high: int) -> pl.DataType:
    """The type for integers of this range."""
    return pl.Int64() if low >= -(2**63) and high < 2**63 else pl.Int128()


def outside(values: pl.Series, low: int, high: int) -> pl.Series:
    """Whether each integer lies beyond the range; null lies within."""
    if low == -(2**63) and high == 2**63 - 1 and values.dtype == pl.Int64:
        return pl.repeat(False, values.len(), dtype=pl.Boolean, eager=True)
    kind = pl.Int64() if values.dtype == pl.Int64 and integer_type(low, high) == pl.Int64 else pl.Int128()
    wide = values.cast(kind)
    return ((wide < pl.Series([low], dtype=kind)) | (wide > pl.Series([high], dtype=kind))).fill_null(False)


def decimals(values: pl.Series, precision: int, scale: int) -> tuple[pl.Series, pl.Series]:
    """Numbers as ``Decimal(precision, scale)``, rounded half away from zero as PostgreSQL does, and a mask of those
    that have too many digits before the point. What is no number is null in the first and false in the second.
    """
    target = pl.Decimal(precision, scale)
    nothing = pl.repeat(False, values.len(), dtype=pl.Boolean, eager=True)
    if values.dtype.is_integer() or values.dtype in (pl.Boolean, pl.Null):
        exact = values.cast(pl.Int64).cast(pl.Decimal(38, scale), strict=False) if values.dtype != pl.Int128 else None
        if exact is not None:
            converted = exact.cast(target, strict=False)
            return converted, converted.is_null() & values.is_not_null()
    if values.dtype.is_decimal() and values.dtype.scale <= scale:  # type: ignore[attr-defined]
        converted = values.cast(target, strict=False)
        return converted, converted.is_null() & values.is_not_null()
    text = as_text(values)
    exact_type = pl.Decimal(38, max(scale, SHORT_PLACES))
    fine = text.cast(exact_type, strict=False)
    usual = text
    rest = nothing
    if not _is_exact(text, fine):
        short = text.str.contains(SHORT_SHAPE).fill_null(False)
        usual = text.set(~short, None)
        rest = ~short & text.is_not_null()
        fine = usual.cast(exact_type, strict=False)
    converted = _half_away(fine, scale).cast(target, strict=False)
    out = (converted.is_null() & usual.is_not_null()).fill_null(False)
    if not rest.any():
        return converted, out
    numbers = text.set(~(rest & text.str.contains(PLAIN_SHAPE).fill_null(False)), None)
    limit = Decimal(10) ** (precision - scale)
    unit = Decimal(1).scaleb(-scale)

    def exact_number(number: str) -> Decimal | None:
        parsed = parse_plain(number)
        made = None if parsed is None else parsed.quantize(unit, ROUND_HALF_UP, EXACT)
        return None if made is None or abs(made) >= limit else made

    careful = over_distinct(numbers, exact_number, target)
    out = (out | (numbers.is_not_null() & careful.is_null())).fill_null(False)
    return careful.zip_with(rest, converted), out


def plain_numbers(values: pl.Series, scale: int | None) -> pl.Series:
    """Numbers as text in plain notation with all their digits (or so many decimals); null for what is no number."""
    text = as_text(values)
    usual = text.str.contains(r"\A-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\z").fill_null(False)
    if scale is None and usual.all():
        return text

    def plain(number: str) -> str | None:
        parsed = parse_plain(number)
        if parsed is None:
            return None
        return format(
            parsed if scale is None else parsed.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT), "f"
        )

    others = over_distinct(text.set(usual, None) if scale is None else text, plain, pl.String)
    return text.zip_with(usual, others) if scale is None else others


def _is_exact(text: pl.Series, fine: pl.Series) -> bool:
    """Whether the cast to 18 places rounded nothing away: no text is long enough for that, or has an exponent."""
    return bool(
        fine.null_count() == text.null_count()
        and (text.str.len_bytes().max() or 0) <= SHORT_PLACES + 1  # type: ignore[operator]
        and not text.str.contains("[eE]").any()
    )


def _half_away(fine: pl.Series, scale: int) -> pl.Series:
    """Exact decimals rounded half away from zero."""
    if fine.dtype.scale <= scale:  # type: ignore[attr-defined]
        return fine
    rounded = fine.cast(pl.Decimal(38, scale), strict=False)  # half to even
    frame = pl.DataFrame({"fine": fine, "rounded": rounded})
    if frame.select((pl.col("fine") == pl.col("rounded").cast(fine.dtype)).all()).item():
        return rounded
    half = Decimal(5).scaleb(-(scale + 1))
    step = Decimal(1).scaleb(-scale)
    rest = pl.col("fine") - pl.col("rounded").cast(fine.dtype)
    return frame.select(
        pl.when((pl.col("fine") > 0) & (rest == half))
        .then(pl.col("rounded") + pl.lit(step, dtype=pl.Decimal(38, scale)))
        .when((pl.col("fine") < 0) & (rest == -half))
        .then(pl.col("rounded") - pl.lit(step, dtype=pl.Decimal(38, scale)))
        .otherwise(pl.col("rounded"))
        .cast(pl.Decimal(38, scale))
    ).to_series()
