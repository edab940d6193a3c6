"""Dates and times in ISO 8601 text, as whole columns."""

from __future__ import annotations

import polars as pl

from airflow_provider_ingest.transformers.values import sure

DATE_SHAPE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
ZONE = r"Z|z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?"
TIMESTAMP_SHAPE = rf"^([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})(?:[T ]({CLOCK}) ?({ZONE})?)?$"
TIME_SHAPE = rf"^{CLOCK}$"
DURATION_SHAPE = r"^([+-]?)([0-9]{1,3}):([0-5][0-9])(?::([0-5][0-9])([.,][0-9]{1,9})?)?$"
MOST_HOURS = 838
"""Of a ``TIME`` of MySQL, with 59 minutes and 59 seconds, either way."""

PLAIN_TIMESTAMP = "%Y-%m-%d %H:%M:%S"
MICROSECONDS_OF_MINUTE = 60_000_000


def dates(text: pl.Series) -> pl.Series:
    """``2026-01-31`` as dates, also with a time of midnight behind it; null for anything else."""
    shaped = text.set(~text.str.contains(DATE_SHAPE).fill_null(False), None)
    plain = shaped.str.to_date("%Y-%m-%d", strict=False)
    rest = plain.is_null() & text.is_not_null()
    if not rest.any():
        return _in_calendar(plain)
    instants = timestamps(text.filter(rest))
    midnight = instants.dt.time() == pl.Series([0]).cast(pl.Time).item()
    found = instants.set(~midnight.fill_null(False), None).dt.date()
    return _in_calendar(laid_out(found, rest, plain))


def timestamps(text: pl.Series) -> pl.Series:
    """ISO 8601 dates and timestamps as naive UTC with microseconds; null for anything else.

    A blank or ``T`` between date and time, seconds and fractions optional, ``Z`` or an offset taken into account.
    """
    plain = text.str.to_datetime(PLAIN_TIMESTAMP, strict=False, time_unit="us")
    usual = text.str.len_bytes() == len("2026-01-31 12:00:00")
    plain = plain.set(~(usual & (text.str.slice(17, 2) != "60")).fill_null(False), None)
    rest = plain.is_null() & text.is_not_null()
    if not rest.any():
        return _in_calendar(plain)
    return _in_calendar(laid_out(_careful(text.filter(rest)), rest, plain))


def times(text: pl.Series) -> pl.Series:
    """``12:30``, ``9:30``, ``12:30:15`` and ``12:30:15.5`` as times; null for anything else."""
    shaped = text.set(~text.str.contains(TIME_SHAPE).fill_null(False), None)
    return timestamps("2000-01-01 " + shaped).dt.time()


def durations(text: pl.Series) -> pl.Series:
    """Times of day and longer ones of both signs as ``-838:59:59.5``; null for anything else.

    >>> durations(pl.Series(["9:30", "-12:30:00", "+30:00:00,5", "839:00"])).to_list()
    ['09:30:00', '-12:30:00', '30:00:00.5', None]
    """
    parts = [text.str.extract(DURATION_SHAPE, part) for part in range(1, 6)]
    sign, hours, minutes, seconds, fraction = parts
    whole = sign.str.replace("+", "", literal=True) + hours.str.zfill(2) + ":" + minutes
    clock = whole + ":" + seconds.fill_null("00") + fraction.fill_null("").str.replace(",", ".", literal=True)
    return clock.set(sure(hours.cast(pl.Int64) > MOST_HOURS), None)


def _careful(text: pl.Series) -> pl.Series:
    parts = text.to_frame("text").select(
        pl.col("text").str.extract(TIMESTAMP_SHAPE, 1).alias("date"),
        pl.col("text")
        .str.extract(TIMESTAMP_SHAPE, 2)
        .fill_null("00:00")
        .str.replace(",", ".")
        .str.replace("^([0-9]):", "0${1}:")
        .alias("time"),
        pl.col("text").str.extract(TIMESTAMP_SHAPE, 3).fill_null("Z").alias("zone"),
    )
    offset = pl.col("zone").str.replace(":", "", literal=True)
    return parts.select(
        (
            (
                pl.col("date")
                + " "
                + pl.when(pl.col("time").str.len_bytes() == 5).then(pl.col("time") + ":00").otherwise(pl.col("time"))
            )
            .pipe(lambda clock: pl.when(pl.col("time").str.slice(6, 2) == "60").then(None).otherwise(clock))
            .str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")
            - pl.when(offset.str.contains(r"^[+-]"))
            .then(
                pl.when(offset.str.starts_with("-")).then(-1).otherwise(1)
                * (
                    offset.str.slice(1, 2).cast(pl.Int64, strict=False) * 60
                    + offset.str.slice(3, 2).cast(pl.Int64, strict=False).fill_null(0)
                )
                * MICROSECONDS_OF_MINUTE
            )
            .otherwise(0)
            .cast(pl.Duration("us"))
        ).alias("instant")
    ).to_series()


def laid_out(found: pl.Series, where: pl.Series, base: pl.Series) -> pl.Series:
    """``base`` with ``found`` put where the mask is true."""
    places = (where.cast(pl.Int64).cum_sum() - 1).set(~where, None)
    return found.gather(places.cast(pl.UInt32)).zip_with(where, base)


def _in_calendar(values: pl.Series) -> pl.Series:
    """Without the years 0 and 10000, which neither Python nor every database knows."""
    years = values.dt.year()
    outside = ((years < 1) | (years > 9999)).fill_null(False)
    return values.set(outside, None) if outside.any() else values
