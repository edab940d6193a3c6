"""Types of PostgreSQL with which no engine computes: their text is the database's to read, and to refuse."""

from __future__ import annotations

from datetime import time, timedelta, timezone
from typing import Any

import polars as pl
import psycopg
import pytest

from airflow_provider_ingest.engine.convert import conversion_of
from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.targets import open_target
from tests.contract.target_fixtures import batch, codes, counts, into, write

KINDS = """CREATE TABLE kinds (id integer PRIMARY KEY, at timetz, flags bit(4), mask bit varying(6),
  codes varchar(3)[], marks char(2)[], place inet, span interval, document tsvector, share real, years int4range)"""

GOOD = {"at": "12:30+02", "flags": "1010", "mask": "101", "codes": "{abc,d}", "marks": "{ab,c}", "place": "10.0.0.1"}


def run(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture(params=[False, True], ids=["without_key", "keyed"])
def target(request: pytest.FixtureRequest, postgres_url: str) -> Any:
    run(postgres_url, KINDS)
    config = into("kinds", "id", *GOOD, "span", "document", "share", "years")
    return open_target(postgres_url, config.keyed_by("id") if request.param else config)


def rows(*changed: dict[str, str]) -> list[dict[str, Any]]:
    """A good row, and others that differ from it in something."""
    return [{"id": number, **GOOD, **change} for number, change in enumerate(({}, *changed), 1)]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"flags": "10101"}, "type"),  # PostgreSQL calls that a mismatch: a shorter one is refused as well
        ({"flags": "101"}, "type"),
        ({"mask": "1010101"}, "too_long"),
        ({"codes": "{abc,abcd}"}, "too_long"),
        ({"marks": "{abc}"}, "too_long"),
    ],
)
def test_what_does_not_fit_is_refused_and_never_cut(
    target: Any, postgres_url: str, change: dict[str, str], code: str
) -> None:
    result = write(target, batch(rows(change, {})))
    assert codes(result) == [(2, code)]
    assert run(postgres_url, "SELECT id, flags, mask FROM kinds ORDER BY 1") == [(n, "1010", "101") for n in (1, 3)]


def test_a_time_keeps_its_offset(target: Any, postgres_url: str) -> None:
    column = target.shape().column("at")
    converted, refused = conversion_of(column, is_key=False)(batch([{"at": " 12:30+02 "}, {"at": ""}]).records["at"])
    assert (converted.to_list(), refused) == (["12:30+02", None], ())
    assert counts(write(target, batch(rows()))) == (1, 0, 0, 0)
    assert run(postgres_url, "SELECT at FROM kinds") == [(time(12, 30, tzinfo=timezone(timedelta(hours=2))),)]


@pytest.mark.parametrize(
    ("change", "code", "message", "detail"),
    [
        ({"place": "nowhere"}, "type", "A value does not fit the type of place", 'place is "nowhere"'),
        ({"span": "1 dya"}, "type", "A value does not fit the type of span", 'span is "1 dya"'),
        ({"mask": "1010101"}, "too_long", "A value is longer than mask takes", 'mask is "1010101"'),
        ({"years": "[5,1)"}, "type", "A value does not fit the type of years", 'years is "[5,1)"'),
        ({"document": "'"}, "type", "A value does not fit the type of document", 'document is "\'"'),
        ({"share": 1e39}, "out_of_range", "A number is out of the range of share", 'share is "1e+39"'),
        (
            {"codes": "[1]"},
            "type",
            "A value does not fit the type of codes or marks",
            'codes is "[1]", marks is "{ab,c}"',
        ),
    ],
)
def test_the_column_of_a_value_that_only_the_database_can_read_is_named(
    target: Any, change: dict[str, Any], code: str, message: str, detail: str
) -> None:
    result = write(target, batch(rows({"span": "1 day", "share": 0.5, "document": "a", "years": "[1,5)"}, change)))
    assert codes(result) == [(3, code)]
    assert result.refused.select("message", "detail").row(0) == (message, detail)


@pytest.mark.parametrize("is_keyed", [False, True])
def test_a_view_is_written_through_and_refuses_what_it_would_not_show(postgres_url: str, is_keyed: bool) -> None:
    run(postgres_url, KINDS)
    run(postgres_url, "CREATE VIEW few AS SELECT id, place FROM kinds WHERE id < 10 WITH CHECK OPTION")
    config = into("few", "id", "place")
    target = open_target(postgres_url, config.keyed_by("id") if is_keyed else config)
    result = write(target, batch([{"id": 1, "place": "10.0.0.1"}, {"id": 20, "place": "10.0.0.1"}]))
    assert (counts(result), codes(result)) == ((1, 0, 0, 1), [(2, "check")])
    assert run(postgres_url, "SELECT id FROM kinds") == [(1,)]


@pytest.mark.parametrize("create_missing", [False, True])
@pytest.mark.parametrize(
    ("type_", "stored", "found", "unknown"),
    [
        ("boolean", "true", "TRUE", "perhaps"),
        ("timestamptz", "2026-01-01 10:00Z", "2026-01-01 10:00", "soon"),
        ("timestamp", "2026-01-01 10:00", "2026-01-01T12:00+02:00", "soon"),
        ("inet", "10.0.0.1", "10.0.0.1", "10.0.0.300"),
        ("uuid", "0b6f0a2e-7a4b-4b44-8c0e-2f6d6f5c9a11", "{0B6F0A2E7A4B4B448C0E2F6D6F5C9A11}", "zz"),
        ("mood", "glad", "glad", "mad"),
    ],
)
def test_a_key_of_any_type_is_looked_up_and_what_is_none_is_not_there(
    postgres_url: str, type_: str, stored: str, found: str, unknown: str, create_missing: bool
) -> None:
    run(postgres_url, "CREATE TYPE mood AS ENUM ('glad', 'sad')")
    run(postgres_url, f"CREATE TABLE keys (id serial PRIMARY KEY, key {type_} UNIQUE NOT NULL)")
    run(postgres_url, f"INSERT INTO keys (key) VALUES ('{stored}')")
    target = open_target(postgres_url, into("keys", "id"))
    keys = pl.Series([unknown, found])
    assert target.lookup("keys", "key", "id", keys, create_missing=create_missing).rows() == [(found, 1)]
    assert run(postgres_url, "SELECT count(*) FROM keys") == [(1,)]


def test_a_sequence_that_lags_behind_is_named_and_not_the_keys(postgres_url: str) -> None:
    run(postgres_url, "CREATE TABLE keys (id serial PRIMARY KEY, key text UNIQUE NOT NULL)")
    run(postgres_url, "INSERT INTO keys SELECT number, 'old ' || number FROM generate_series(1, 9) AS number")
    target = open_target(postgres_url, into("keys", "id"))
    with pytest.raises(TargetError, match="Its sequence lags behind") as raised:
        target.lookup("keys", "key", "id", pl.Series(["new"]), create_missing=True)
    run(postgres_url, str(raised.value).partition("To set it right: ")[2])
    assert target.lookup("keys", "key", "id", pl.Series(["new"]), create_missing=True).rows() == [("new", 10)]
    run(postgres_url, "ALTER SEQUENCE keys_id_seq RESTART WITH 9")
    assert target.lookup("keys", "key", "id", pl.Series(["a", "b", "c"]), create_missing=True).height == 3
