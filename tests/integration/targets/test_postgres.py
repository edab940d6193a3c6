"""What PostgreSQL has and others do not: its types, triggers, row-level security, deferred constraints, identities."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import polars as pl
import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.importers.table import ColumnKind
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.targets import open_target
from tests.contract.target_fixtures import batch, codes, counts, into, nested, write


class Database:
    def __init__(self, url: str) -> None:
        self.url = url

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def target(self, config: IngestConfig) -> Any:
        return open_target(self.url, config)


@pytest.fixture
def database(postgres_url: str) -> Database:
    return Database(postgres_url)


TYPES = """CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE TABLE kinds (id integer PRIMARY KEY, small smallint, big bigint, real_ real, num numeric,
  money numeric(10,2), flag boolean, day date, moment timestamp, instant timestamptz, hour time, word varchar(5),
  fixed char(3), key uuid, doc jsonb, raw json, bytes bytea, mood mood, address inet, tags text[],
  small_one positive)"""


@pytest.mark.parametrize("keyed", [False, True])
def test_every_type_arrives_as_it_was(database: Database, keyed: bool) -> None:
    database.run(*TYPES.split(";"))
    key = UUID("0b6f0a2e-7a4b-4b44-8c0e-2f6d6f5c9a11")
    row = {
        "id": 1, "small": 7, "big": 2**62, "real_": 0.5, "num": "12345678901234567890.123", "money": Decimal("1.25"),
        "flag": True, "day": date(2024, 2, 29), "moment": datetime(2024, 1, 1, 12, 30, 0, 5),
        "hour": time(23, 59, 59, 1),
        "instant": datetime(2024, 1, 1, 12, tzinfo=UTC), "word": 'a"\\,\n', "fixed": "ab", "key": str(key),
        "doc": '{"a": [1, "ü"]}', "raw": "[1]", "bytes": b"\x00\xff\\", "mood": "sad", "address": "10.0.0.1",
        "tags": '{a,"b c"}', "small_one": 3,
    }  # fmt: skip
    config = into("kinds", *row)
    target = database.target(config.keyed_by("id") if keyed else config)
    first = write(target, batch([row], schema={"money": pl.Decimal(10, 2)}))
    assert counts(first) == (1, 0, 0, 0)
    if keyed:
        again = write(target, batch([row | {"word": "b"}], schema={"money": pl.Decimal(10, 2)}))
        assert counts(again) == (0, 1, 0, 0)
    (found,) = database.run(f"SELECT {', '.join(row)} FROM kinds")
    values = dict(zip(row, found, strict=True))
    assert values.pop("key") == key
    assert values.pop("doc") == {"a": [1, "ü"]}
    assert values.pop("num") == Decimal("12345678901234567890.123")
    assert str(values.pop("address")) == "10.0.0.1"
    assert values.pop("fixed") == "ab "
    assert values.pop("tags") == ["a", "b c"]
    assert values.pop("raw") == [1]
    assert values.pop("word") == ("b" if keyed else 'a"\\,\n')
    assert values == {name: row[name] for name in values}


def test_the_shape_knows_postgres_types(database: Database) -> None:
    database.run(*TYPES.split(";"))
    shape = database.target(into("kinds", "id")).shape()
    kinds = {column.name: column.kind for column in shape.columns}
    assert kinds["doc"] is kinds["raw"] is ColumnKind.JSON
    assert kinds["instant"] is ColumnKind.TIMESTAMPTZ
    assert kinds["moment"] is ColumnKind.TIMESTAMP
    assert kinds["key"] is ColumnKind.UUID
    assert kinds["mood"] is ColumnKind.ENUM
    assert kinds["address"] is ColumnKind.OTHER
    assert kinds["tags"] is ColumnKind.ARRAY
    assert kinds["small_one"] is ColumnKind.INTEGER
    small = shape.column("small")
    assert small is not None
    assert (small.minimum, small.maximum, small.sql_type) == (-32768, 32767, "smallint")
    mood = shape.column("mood")
    assert mood is not None
    assert mood.choices == ("glad", "sad")


@pytest.mark.parametrize("keyed", [False, True])
def test_values_that_only_the_database_can_judge_fail_alone(database: Database, keyed: bool) -> None:
    database.run(*TYPES.split(";"))
    config = into("kinds", "id", "small", "word", "address", "small_one")
    good = {"id": 0, "small": 1, "word": "ok", "address": "10.0.0.1", "small_one": 1}
    rows = [
        good,
        good | {"id": 1, "small": 70_000},
        good | {"id": 2, "word": "too long"},
        good | {"id": 3, "address": "nowhere"},
        good | {"id": 4, "small_one": -1},
        good | {"id": 5},
    ]
    result = write(database.target(config.keyed_by("id") if keyed else config), batch(rows))
    assert codes(result) == [(2, "out_of_range"), (3, "too_long"), (4, "type"), (5, "check")]
    assert database.run("SELECT id, word FROM kinds ORDER BY 1") == [(0, "ok"), (5, "ok")]


def test_a_trigger_refuses_rows_in_its_own_words(database: Database) -> None:
    database.run(
        "CREATE TABLE t (id integer PRIMARY KEY, name text)",
        "CREATE FUNCTION no_bob() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.name = 'bob' THEN "
        "RAISE EXCEPTION 'bob may not come'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION no_bob()",
    )
    rows = [{"id": n, "name": "bob" if n % 300 == 7 else "ann"} for n in range(1000)]
    result = write(database.target(into("t", "id", "name")), batch(rows, first=0))
    assert codes(result) == [(7, "database"), (307, "database"), (607, "database"), (907, "database")]
    assert result.refused.item(0, "detail") == "bob may not come"
    assert counts(result) == (996, 0, 0, 4)


def test_deferred_constraints_are_checked_with_the_batch(database: Database) -> None:
    database.run(
        "CREATE TABLE a (id integer PRIMARY KEY)",
        "CREATE TABLE b (id integer PRIMARY KEY, a_id integer REFERENCES a DEFERRABLE INITIALLY DEFERRED)",
        "INSERT INTO a VALUES (1)",
    )
    result = write(database.target(into("b", "id", "a_id")), batch([{"id": 1, "a_id": 1}, {"id": 2, "a_id": 9}]))
    assert codes(result) == [(2, "foreign_key")]


def test_row_level_security_refuses_rows_not_the_batch(database: Database) -> None:
    database.run(
        "CREATE TABLE t (id integer PRIMARY KEY, owner text)",
        "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON t USING (true) WITH CHECK (owner = 'me')",
        "DROP ROLE IF EXISTS ingest_limited",
        "CREATE ROLE ingest_limited LOGIN",
        "GRANT ALL ON t TO ingest_limited",
        "GRANT CREATE ON SCHEMA public TO ingest_limited",
    )
    try:
        url = sa.make_url(database.url).set(username="ingest_limited").render_as_string(hide_password=False)
        target = open_target(url, into("t", "id", "owner"))
        result = write(target, batch([{"id": 1, "owner": "me"}, {"id": 2, "owner": "you"}]))
        assert codes(result) == [(2, "database")]
        assert database.run("SELECT id FROM t") == [(1,)]
    finally:
        database.run("DROP OWNED BY ingest_limited", "DROP ROLE ingest_limited")


def test_generated_identities_number_the_parents_of_nested_rows(database: Database) -> None:
    database.run(
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, number text UNIQUE)",
        "CREATE TABLE shop.lines (order_id bigint NOT NULL REFERENCES shop.orders, item text)",
        "INSERT INTO shop.orders (number) VALUES ('old')",
    )
    config = into("shop.orders", "number").nest("lines", lambda one: one.for_("shop.lines").map("item", "item"))
    lines = nested("lines", [{"_row_number": n, "_parent": n - 1, "item": f"i{n}"} for n in (1, 2, 3)])
    result = write(database.target(config), batch([{"number": n} for n in ("A", "old", "C")], children=(lines,)))
    assert codes(result) == [(2, "duplicate_key")]
    found = database.run("SELECT number, item FROM shop.orders JOIN shop.lines ON order_id = orders.id ORDER BY 1")
    assert found == [("A", "i1"), ("C", "i3")]
    assert database.run("SELECT count(*) FROM shop.ingest_commits") == [(1,)]


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(sa.String(50), unique=True)
    state: Mapped[str] = mapped_column(sa.String(10), default="new")
    token: Mapped[UUID] = mapped_column(default=uuid4)


def test_defaults_of_a_mapped_class_are_for_new_records_only(database: Database) -> None:
    engine = sa.create_engine(database.url.replace("postgresql://", "postgresql+psycopg://"))
    Base.metadata.create_all(engine)
    engine.dispose()
    target = database.target(into(Account, "email").keyed_by("email"))  # type: ignore[arg-type]
    assert counts(write(target, batch([{"email": "a"}, {"email": "b"}]))) == (2, 0, 0, 0)
    before = database.run("SELECT email, state, token FROM accounts ORDER BY 1")
    assert [row[:2] for row in before] == [("a", "new"), ("b", "new")]
    assert before[0][2] != before[1][2]
    database.run("UPDATE accounts SET state = 'old'")
    assert counts(write(target, batch([{"email": "a"}, {"email": "c"}]))) == (1, 1, 0, 0)
    after = database.run("SELECT email, state, token FROM accounts ORDER BY 1")
    assert after[:2] == [("a", "old", before[0][2]), ("b", "old", before[1][2])]


def test_hostile_names_are_only_names(database: Database) -> None:
    database.run('CREATE TABLE "we""ird; DROP TABLE x" ("b."" --" text UNIQUE, "%s" text, "t" integer DEFAULT 4)')
    name = 'b." --'
    config = into('we"ird; DROP TABLE x', name, "%s", "t").keyed_by(name)
    rows = [{name: "1", "%s": "%(x)s", "t": None}, {name: "2", "%s": "\\N", "t": 5}]
    target = database.target(config)
    assert counts(write(target, batch(rows, conditional={"t": [False, True]}))) == (2, 0, 0, 0)
    assert counts(write(target, batch(rows))) == (0, 2, 0, 0)
    found = database.run('SELECT * FROM "we""ird; DROP TABLE x" ORDER BY 1')
    assert found == [("1", "%(x)s", None), ("2", "\\N", 5)]


def test_one_column_of_end_markers_is_data(database: Database) -> None:
    database.run("CREATE TABLE t (a text)")
    values = ["\\.", "", "\\N", '"', "a\nb", "\r", None]
    result = write(database.target(into("t", "a")), batch([{"a": value} for value in values]))
    assert result.created == len(values)
    assert [row[0] for row in database.run("SELECT a FROM t")] == values


def test_a_table_that_is_gone_meanwhile_ends_the_run_not_the_rows(database: Database) -> None:
    database.run("CREATE TABLE t (a text)")
    target = database.target(into("t", "a"))
    target.shape()
    database.run("DROP TABLE t")
    with pytest.raises(TargetError, match='relation "t" does not exist') as failed:
        write(target, batch([{"a": "1"}]))
    assert not failed.value.retryable


@pytest.mark.parametrize("merge_since", [0, 10**9])
def test_both_statements_of_the_upsert_do_the_same(
    database: Database, merge_since: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airflow_provider_ingest.targets.postgres_upsert.MERGE_SINCE", merge_since)
    database.run(
        "CREATE TABLE goods (sku text PRIMARY KEY, stock int CHECK (stock >= 0), day date, note text DEFAULT 'new')",
        "INSERT INTO goods VALUES ('A', 1, '2024-01-01', 'old'), ('B', 2, NULL, 'old'), ('C', 3, NULL, 'old')",
    )
    target = database.target(into("goods", "sku", "stock", "day").keyed_by("sku"))
    day = date(2024, 1, 1)
    rows = [("A", 1, day), ("B", 2, day), ("C", -1, day), ("D", 4, day), ("B", 5, None), ("E", -5, day)]
    frame = batch([{"sku": sku, "stock": stock, "day": day} for sku, stock, day in rows])
    result = write(target, frame)
    assert counts(result) == (1, 3, 0, 2)
    assert codes(result) == [(3, "check"), (6, "check")]
    assert database.run("SELECT * FROM goods ORDER BY sku") == [
        ("A", 1, day, "old"), ("B", 5, None, "old"), ("C", 3, None, "old"), ("D", 4, day, "new"),
    ]  # fmt: skip


def test_records_that_the_table_numbers_are_numbered_in_the_order_of_the_file(database: Database) -> None:
    database.run("CREATE TABLE goods (id bigserial PRIMARY KEY, sku text UNIQUE, stock integer)")
    target = database.target(into("goods", "sku", "stock").keyed_by("sku"))
    skus = [f"{(7919 * number) % 100_003:06}" for number in range(20_000)]
    database.run(f"INSERT INTO goods (sku, stock) VALUES ('{skus[0]}', 0)")
    write(target, batch([{"sku": sku, "stock": 1} for sku in skus]))
    assert [sku for (sku,) in database.run("SELECT sku FROM goods ORDER BY id")] == skus


def test_numbers_beyond_64_bits_are_stored_or_refused_by_themselves(database: Database) -> None:
    database.run("CREATE TABLE sums (id integer, total numeric, small bigint)")
    rows = [
        {"id": 1, "total": 2**70, "small": 1},
        {"id": 2, "total": 3, "small": 2**70},
        {"id": 3, "total": 4, "small": 5},
    ]
    wide = {"total": pl.Int128, "small": pl.Int128}
    result = write(database.target(into("sums", "id", "total", "small")), batch(rows, schema=wide))
    assert counts(result) == (2, 0, 0, 1)
    assert database.run("SELECT * FROM sums ORDER BY id") == [(1, 2**70, 1), (3, 4, 5)]


def test_upserts_count_right_where_a_pooled_session_had_temporary_tables_before(database: Database) -> None:
    database.run("CREATE TABLE items (id integer PRIMARY KEY, name varchar(5))", "INSERT INTO items VALUES (1, 'old')")
    target = database.target(into("items", "id", "name").keyed_by("id"))
    rows = [{"id": 1, "name": "new"}, {"id": 2, "name": "b"}, {"id": None, "name": "c"}, {"id": 3, "name": "too long"}]
    with target.open_chunk(str(uuid4()), 0, dry_run=False) as chunk:
        chunk.connection.exec_driver_sql("CREATE TEMPORARY TABLE of_another AS SELECT 1")
        result = chunk.write(chunk.prepare(batch(rows)))
        chunk.commit(ChunkOutcome(counts=Counts()))
    assert counts(result) == (1, 1, 0, 2)
    assert codes(result) == [(3, "not_null"), (4, "too_long")]
    assert database.run("SELECT * FROM items ORDER BY 1") == [(1, "new"), (2, "b")]
