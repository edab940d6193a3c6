"""COPY: whatever the format, PostgreSQL gets the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.postgres.binary import BinaryRows
from airflow_provider_ingest.postgres.copy import CopyRows, copy_frame

TYPES = {
    "small": "smallint",
    "whole": "integer",
    "big": "bigint",
    "money": "numeric(12,3)",
    "exact": "numeric",
    "count": "numeric(20,0)",
    "rate": "double precision",
    "flag": "boolean",
    "day": "date",
    "moment": "timestamp without time zone",
    "instant": "timestamp with time zone",
    "word": "character varying(20)",
    "fixed": "character(8)",
    "words": "text",
    "bytes": "bytea",
}
SCHEMA: dict[str, Any] = {
    "small": pl.Int64,
    "whole": pl.Int64,
    "big": pl.Int64,
    "money": pl.Decimal(12, 3),
    "exact": pl.Decimal(38, 5),
    "count": pl.Int64,
    "rate": pl.Float64,
    "flag": pl.Boolean,
    "day": pl.Date,
    "moment": pl.Datetime("us"),
    "instant": pl.Datetime("us", "UTC"),
    "word": pl.String,
    "fixed": pl.String,
    "words": pl.String,
    "bytes": pl.Binary,
}


def decimals(digits: int, places: int) -> st.SearchStrategy[Decimal]:
    return st.integers(-(10**digits) + 1, 10**digits - 1).map(lambda number: Decimal(number).scaleb(-places))


def texts(longest: int | None = None) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=longest)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "small": st.integers(-(2**15), 2**15 - 1),
    "whole": st.integers(-(2**31), 2**31 - 1),
    "big": st.integers(-(2**63), 2**63 - 1),
    "money": decimals(12, 3),
    "exact": decimals(14, 5),
    "count": st.integers(-(10**14), 10**14),
    "rate": st.floats(),
    "flag": st.booleans(),
    "day": st.dates(),
    "moment": st.datetimes(),
    "instant": st.datetimes(timezones=st.just(UTC)),
    "word": texts(20),
    "fixed": texts(8),
    "words": texts(),
    "bytes": st.binary(),
}
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), min_size=1)


@pytest.fixture(scope="module")
def cursor(postgres_server: str) -> Iterator[psycopg.Cursor[Any]]:
    with psycopg.connect(postgres_server) as connection:
        columns = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
        connection.execute(f"CREATE TEMPORARY TABLE one ({columns})")
        connection.execute("CREATE TEMPORARY TABLE other (LIKE one)")
        yield connection.cursor()
        connection.rollback()


@settings(max_examples=60)
@given(ROWS, st.sets(st.sampled_from(sorted(TYPES)), min_size=1))
def test_both_formats_leave_the_same_rows(cursor: psycopg.Cursor[Any], rows: list[Any], names: set[str]) -> None:
    frame = pl.DataFrame(rows, schema=SCHEMA).select(sorted(names))
    assert BinaryRows.of(frame, TYPES) is not None
    cursor.execute("TRUNCATE one, other")
    copy_frame(cursor, "one", frame, TYPES)
    copy_frame(cursor, "other", frame, {})
    cursor.execute("SELECT count(*) FROM one")
    assert cursor.fetchone() == (len(rows),)
    cursor.execute("SELECT one::text FROM one EXCEPT ALL SELECT other::text FROM other")
    assert cursor.fetchall() == []


@given(st.lists(st.tuples(st.sampled_from(["AB-1", "é-1", "€1"]), st.sampled_from([b"\0\1", b"\xff\xfe"])), min_size=1))
def test_texts_of_equally_many_bytes_leave_the_same_rows_in_both_formats(
    cursor: psycopg.Cursor[Any], rows: list[tuple[str, bytes]]
) -> None:
    frame = pl.DataFrame(rows, schema={"word": pl.String, "bytes": pl.Binary}, orient="row").with_columns(
        pl.col("word").alias("words"), pl.int_range(pl.len()).alias("big")
    )
    cursor.execute("TRUNCATE one, other")
    copy_frame(cursor, "one", frame[1:], TYPES)
    copy_frame(cursor, "other", frame[1:], {})
    cursor.execute("SELECT count(*) FROM one WHERE word = words")
    assert cursor.fetchone() == (len(rows) - 1,)
    cursor.execute("SELECT one::text FROM one EXCEPT ALL SELECT other::text FROM other")
    assert cursor.fetchall() == []


def test_slices_of_a_frame_follow_each_other(cursor: psycopg.Cursor[Any]) -> None:
    numbers = pl.int_range(25_001)
    day, code = pl.lit(date(2024, 1, 1)) + pl.duration(days=numbers), numbers.cast(pl.String).str.zfill(5)
    frame = pl.select(big=numbers, words=numbers.cast(pl.String), day=day, word=code)
    cursor.execute("TRUNCATE one")
    copy_frame(cursor, "one", frame, TYPES)
    cursor.execute(
        "SELECT count(*), sum(big), count(DISTINCT words) FROM one "
        "WHERE words = big::text AND word = lpad(words, 5, '0') AND day = date '2024-01-01' + big::integer"
    )
    assert cursor.fetchone() == (25_001, 25_000 * 25_001 // 2, 25_001)


@pytest.mark.parametrize(
    ("column", "type_"),
    [
        (pl.Series([2**15]), "smallint"),
        (pl.Series([-(2**31) - 1]), "integer"),
        (pl.Series([2**63], dtype=pl.UInt64), "bigint"),
        (pl.Series([Decimal(10) ** 18], dtype=pl.Decimal(38, 5)), "numeric"),
        (pl.Series([1], dtype=pl.Int128), "bigint"),
        (pl.Series([1], dtype=pl.Int128), "numeric"),
        (pl.Series(["1"]), "integer"),
        (pl.Series([1]), "text"),
        (pl.Series([1.5]), "real"),
        (pl.Series([datetime(2024, 1, 1)]), "timestamp with time zone"),
        (pl.Series([datetime(2024, 1, 1, tzinfo=UTC)]), "timestamp without time zone"),
        (pl.Series([date(2024, 1, 1)]), "timestamp without time zone"),
        (pl.Series(["sad"]), "mood"),
    ],
)
def test_what_has_no_room_or_another_type_goes_as_text(column: pl.Series, type_: str) -> None:
    assert BinaryRows.of(column.alias("a").to_frame(), {"a": type_}) is None


@pytest.mark.parametrize("at_once", [False, True])
def test_rows_are_sent_once(cursor: psycopg.Cursor[Any], at_once: bool) -> None:
    rows = CopyRows(pl.select(big=pl.int_range(25_001)), TYPES, at_once=at_once)
    cursor.execute("TRUNCATE one")
    rows.send(cursor, "one")
    cursor.execute("SELECT count(*) FROM one")
    assert cursor.fetchone() == (25_001,)
    with pytest.raises(RuntimeError, match="sent already"):
        rows.send(cursor, "one")
