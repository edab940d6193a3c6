"""What only MySQL and MariaDB have: values cut without strict mode, LOAD DATA that goes on, named locks, collations."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import uuid4

import polars as pl
import pymysql
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.engine.convert import conversion_of
from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.targets import open_target
from tests.contract.target_fixtures import PRODUCTS, Shop, batch, codes, counts, into, write

THINGS = """CREATE TABLE things (
    sku VARCHAR(10) COLLATE utf8mb4_general_ci UNIQUE, note VARCHAR(5), small TINYINT, amount DECIMAL(6, 2),
    day DATE, at TIMESTAMP(6) NULL, colour ENUM('red', 'blue'), share DOUBLE, bytes VARBINARY(20), at_local DATETIME
)"""

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@pytest.fixture(params=["mariadb", "mariadb_load"])
def url(request) -> str:
    found = request.getfixturevalue(f"{request.param}_url")
    execute(found, THINGS)
    return found


def execute(url, statement):
    engine = sa.create_engine(url.partition("?")[0])
    with engine.begin() as connection:
        result = connection.exec_driver_sql(statement)
        rows = [tuple(row) for row in result] if result.returns_rows else []
    engine.dispose()
    return rows


def things(url, *columns, **key):
    config = into("things", *columns)
    return open_target(url, config.keyed_by("sku", **key) if key else config)


@pytest.mark.parametrize(
    ("column", "value", "code", "message"),
    [
        ("note", "longer", "too_long", "note"),
        ("small", 300, "out_of_range", "small"),
        ("amount", Decimal("12345.00"), "out_of_range", "amount"),
        ("colour", "green", "type", "colour"),
        ("day", "2026-02-30", "type", "day"),
        ("share", float("nan"), "out_of_range", "NaN"),
    ],
)
def test_a_value_that_does_not_fit_fails_its_row_and_is_never_cut(url, column, value, code, message):
    rows = [{"sku": "a", column: None}, {"sku": "b", column: value}]
    result = write(things(url, "sku", column), batch(rows))
    assert codes(result) == [(2, code)]
    assert message in result.refused.item(0, "message")
    assert execute(url, f"SELECT sku, {column} FROM things") == [("a", None)]


def test_each_type_comes_back_as_it_went_in(url):
    at = datetime(2026, 3, 29, 1, 30, 0, 250000)
    row = {
        "sku": "NULL",
        "note": "",
        "small": True,
        "amount": Decimal("0.10"),
        "at": at.replace(tzinfo=UTC),
        "at_local": at.replace(microsecond=0),
        "share": 0.1,
        "bytes": b"\0\xff,\"'\\\n",
    }
    assert counts(write(things(url, *row), batch([row]))) == (1, 0, 0, 0)
    found = execute(url, "SELECT sku, note, small, amount, unix_timestamp(at), at_local, share, bytes FROM things")
    stamp = Decimal(str(at.replace(tzinfo=UTC).timestamp()))
    assert found == [("NULL", "", 1, Decimal("0.10"), stamp, row["at_local"], 0.1, row["bytes"])]


@pytest.mark.parametrize("strategy", [None, *DuplicateStrategy])
@pytest.mark.parametrize(("type_", "size"), [("TINYTEXT", 255), ("TEXT", 65_535), ("BLOB", 65_535)])
def test_a_text_longer_than_its_column_counts_is_refused_and_never_cut(url, strategy, type_, size):
    execute(url, f"ALTER TABLE things ADD COLUMN body {type_}")
    key = {"on_duplicate": strategy} if strategy else {}
    if strategy is DuplicateStrategy.UPDATE_IF_NEWER:
        key["newer"] = "day"
    target = things(url, "sku", "body", "day", **key)
    fill = (lambda n: b"x" * n) if type_ == "BLOB" else (lambda n: "x" * n)
    day = date(2026, 1, 1)
    rows = [{"sku": "a", "body": fill(size), "day": day}, {"sku": "b", "body": fill(size + 145), "day": day}]
    assert codes(write(target, batch(rows))) == [(2, "too_long")]
    if strategy in (DuplicateStrategy.UPDATE, DuplicateStrategy.UPDATE_IF_NEWER):
        longer = {"sku": "a", "body": fill(size + 145), "day": date(2026, 1, 2)}
        assert codes(write(target, batch([longer]))) == [(1, "too_long")]
    assert execute(url, "SELECT sku, LENGTH(body) FROM things") == [("a", size)]


@pytest.mark.parametrize("is_keyed", [False, True])
def test_bits_are_truth_and_numbers(url, is_keyed):
    execute(url, "ALTER TABLE things ADD COLUMN flag BIT(1), ADD COLUMN mask BIT(8)")
    target = things(url, "sku", "flag", "mask", **({"on_duplicate": DuplicateStrategy.UPDATE} if is_keyed else {}))
    shape = target.shape()
    flags, refused_flags = conversion_of(shape.column("flag"), is_key=False)(pl.Series(["yes", "0", "", "1", "2"]))
    masks, refused_masks = conversion_of(shape.column("mask"), is_key=False)(pl.Series(["5", "255", "", "0", "256"]))
    assert [one.code for one in (*refused_flags, *refused_masks)] == ["type", "out_of_range"]
    rows = {"sku": list("abcde"), "flag": flags, "mask": masks}
    rows = batch(pl.DataFrame(rows).to_dicts(), schema={"flag": pl.Boolean, "mask": pl.Int64})
    assert counts(write(target, rows)) == (5, 0, 0, 0)
    if is_keyed:
        assert counts(write(target, rows)) == (0, 5, 0, 0)
    found = execute(url, "SELECT flag + 0, mask + 0 FROM things ORDER BY sku")
    assert found == [(1, 5), (0, 255), (None, None), (1, 0), (None, None)]


def test_keys_that_the_collation_calls_equal_are_one_record(url):
    target = things(url, "sku", "note", on_duplicate=DuplicateStrategy.UPDATE)
    rows = [{"sku": sku, "note": note} for sku, note in [("Ab", "1"), ("aB", "2"), ("c", "3")]]
    assert counts(write(target, batch(rows))) == (2, 1, 0, 0)
    assert execute(url, "SELECT sku, note FROM things ORDER BY 1") == [("Ab", "2"), ("c", "3")]
    assert counts(write(target, batch([{"sku": "AB", "note": "2"}]))) == (0, 1, 0, 0)


@pytest.mark.parametrize("create_missing", [True, False])
def test_relations_are_found_under_each_spelling_that_the_collation_calls_equal(url, create_missing):
    execute(url, "INSERT INTO things (sku, note) VALUES ('Ab', 'x')")
    keys = pl.Series(["AB", "Ab", "aB"])
    found = things(url, "note").lookup("things", "sku", "note", keys, create_missing=create_missing)
    assert sorted(found.rows()) == [("AB", "x"), ("Ab", "x"), ("aB", "x")]
    assert execute(url, "SELECT sku FROM things") == [("Ab",)]


def test_an_update_of_case_alone_is_written(url):
    target = things(url, "sku", "note", on_duplicate=DuplicateStrategy.UPDATE)
    write(target, batch([{"sku": "a", "note": "x"}]))
    assert counts(write(target, batch([{"sku": "a", "note": "X"}]))) == (0, 1, 0, 0)
    assert execute(url, "SELECT note FROM things") == [("X",)]


def test_a_trigger_that_refuses_speaks_for_itself(url):
    execute(
        url,
        "CREATE TRIGGER no_tea BEFORE INSERT ON things FOR EACH ROW "
        "IF NEW.note = 'tea' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'No tea today'; END IF",
    )
    result = write(things(url, "sku", "note"), batch([{"sku": "a", "note": "tea"}, {"sku": "b", "note": "milk"}]))
    assert codes(result) == [(1, "database")]
    assert result.refused.item(0, "detail") == "No tea today"


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.none() | TEXTS, min_size=1, max_size=20))
def test_any_text_comes_back_as_it_went_in(url, texts):
    execute(url, "DROP TABLE IF EXISTS texts")
    execute(url, "CREATE TABLE texts (n INT, text LONGTEXT CHARACTER SET utf8mb4)")
    rows = [{"n": n, "text": text} for n, text in enumerate(texts)]
    target = open_target(url, into("texts", "n", "text"))
    assert counts(write(target, batch(rows, schema={"text": pl.String}))) == (len(rows), 0, 0, 0)
    assert execute(url, "SELECT n, text FROM texts ORDER BY n") == [(row["n"], row["text"]) for row in rows]


def test_a_server_that_takes_no_files_gets_statements(url):
    execute(url, "SET GLOBAL local_infile = OFF")
    try:
        assert counts(write(things(url, "sku"), batch([{"sku": "a"}]))) == (1, 0, 0, 0)
    finally:
        execute(url, "SET GLOBAL local_infile = ON")


def test_a_server_cannot_ask_for_files_while_nothing_is_sent(url, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("1\n")
    target = things(url, "sku")
    with target.engine.connect() as connection:
        cursor = connection.connection.cursor()
        with pytest.raises((RuntimeError, pymysql.err.Error)):
            cursor.execute(f"LOAD DATA LOCAL INFILE '{secret}' INTO TABLE things (sku)")


def test_a_connection_that_is_cut_is_a_retryable_error_without_addresses(mariadb_url):
    shop = Shop(mariadb_url, open_target)
    target, run_key = shop.target(into(PRODUCTS, "sku", "name")), str(uuid4())

    def write_and_cut():
        with target.open_chunk(run_key, 0, dry_run=False) as chunk:
            chunk.write(batch([{"sku": "a", "name": "a"}]))
            number = chunk.connection.exec_driver_sql("SELECT connection_id()").scalar()
            execute(mariadb_url, f"KILL {number}")
            chunk.write(batch([{"sku": "b", "name": "b"}], first=2))

    with pytest.raises(TargetError) as cut:
        write_and_cut()
    assert cut.value.retryable
    assert shop.count(PRODUCTS) == 0


def test_a_server_that_does_not_answer_is_told_without_its_address():
    target = open_target("mysql://someone:s3cret@127.0.0.1:9/shop", into("things", "sku"))
    with pytest.raises(TargetError, match="refused") as failed:
        target.shape()
    assert failed.value.retryable
    assert not any(word in str(failed.value) for word in ("s3cret", "127.0.0.1", "someone"))
