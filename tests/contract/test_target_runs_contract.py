"""What every target promises of nested collections, relations and atomic runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
import sqlalchemy as sa

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.runs.frames import SET_PREFIX
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.targets.atomic import PublishRefused
from tests.contract.target_fixtures import (
    CATEGORIES,
    PRICES,
    PRODUCTS,
    VARIANTS,
    Shop,
    batch,
    codes,
    counts,
    into,
    nested,
    outcome,
    write,
)


def with_variants(*, key: bool = True, strategy: DuplicateStrategy = DuplicateStrategy.UPDATE) -> Any:
    config = into(PRODUCTS, "sku", "name").nest(
        "variants", lambda one: one.for_(VARIANTS).map("size", "size").map("stock", "stock").keyed_by("size")
    )
    return config.keyed_by("sku", on_duplicate=strategy) if key else config


def variants(*rows: tuple[int, int, str, int]) -> Any:
    return nested(
        "variants",
        [{"_row_number": number, "_parent": at, "size": size, "stock": stock} for number, at, size, stock in rows],
    )


def joined(shop: Shop) -> list[tuple[Any, ...]]:
    query = sa.select(PRODUCTS.c.sku, VARIANTS.c.size, VARIANTS.c.stock).join_from(PRODUCTS, VARIANTS)
    with shop.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(query.order_by(PRODUCTS.c.sku, VARIANTS.c.size))]


@pytest.mark.parametrize("key", [True, False])
def test_nested_rows_refer_to_their_parents(shop: Shop, key: bool) -> None:
    shop.add(PRODUCTS, {"sku": "X", "name": "x"})
    rows = [{"sku": "A", "name": "a"}, {"sku": "B", "name": "b"}, {"sku": "C", "name": "c"}]
    children = variants((1, 0, "S", 1), (1, 0, "M", 2), (3, 2, "S", 3))
    result = write(shop.target(with_variants(key=key)), batch(rows, children=(children,)))
    assert counts(result) == (3, 0, 0, 0)
    assert joined(shop) == [("A", "M", 2), ("A", "S", 1), ("C", "S", 3)]


def test_nested_rows_are_updated_within_their_parent(shop: Shop) -> None:
    target = shop.target(with_variants())
    rows = [{"sku": "A", "name": "a"}, {"sku": "B", "name": "b"}]
    write(target, batch(rows, children=(variants((1, 0, "S", 1), (2, 1, "S", 2)),)))
    result = write(target, batch(rows, children=(variants((1, 0, "S", 5), (1, 0, "M", 6)),)))
    assert counts(result) == (0, 2, 0, 0)
    assert joined(shop) == [("A", "M", 6), ("A", "S", 5), ("B", "S", 2)]


def test_a_refused_nested_row_fails_its_root_row_as_a_whole(shop: Shop) -> None:
    rows = [{"sku": "A", "name": "a"}, {"sku": "B", "name": "b"}, {"sku": "C", "name": "c"}]
    children = variants((11, 0, "S", 1), (12, 1, "S", 1), (12, 1, "M", -1), (13, 2, "S", 1))
    result = write(shop.target(with_variants()), batch(rows, first=11, children=(children,)), want_ends=True)
    assert counts(result) == (2, 0, 0, 1)
    assert codes(result) == [(12, "check")]
    assert result.refused.item(0, "message").startswith("variants: ")
    assert result.ends is not None
    assert result.ends.rows() == [(11, "created"), (13, "created")]
    assert shop.rows(PRODUCTS, "sku") == [("A",), ("C",)]
    assert joined(shop) == [("A", "S", 1), ("C", "S", 1)]


def test_a_refused_root_row_takes_its_nested_rows_with_it(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "a"})
    target = shop.target(with_variants(strategy=DuplicateStrategy.FAIL))
    rows = [{"sku": "A", "name": "a"}, {"sku": "B", "name": "b"}]
    result = write(target, batch(rows, children=(variants((1, 0, "S", 1), (2, 1, "S", 2)),)))
    assert counts(result) == (1, 0, 0, 1)
    assert joined(shop) == [("B", "S", 2)]


def test_nested_rows_of_a_skipped_row_are_not_written(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "a"})
    target = shop.target(with_variants(strategy=DuplicateStrategy.SKIP))
    result = write(target, batch([{"sku": "A", "name": "a"}], children=(variants((1, 0, "S", 1)),)))
    assert counts(result) == (0, 0, 1, 0)
    assert joined(shop) == []


def test_a_conditional_attribute_of_a_nested_row_keeps_default_or_value(shop: Shop) -> None:
    target = shop.target(with_variants())
    parent = {"sku": "A", "name": "a"}
    write(target, batch([parent], children=(variants((1, 0, "S", 1)),)))
    given = [
        {"_row_number": 1, "_parent": 0, "size": size, "stock": stock, f"{SET_PREFIX}stock": stock is not None}
        for size, stock in (("L", 3), ("M", None), ("S", None))
    ]
    write(target, batch([parent], children=(nested("variants", given),)))
    assert joined(shop) == [("A", "L", 3), ("A", "M", 4), ("A", "S", 1)]


def test_two_levels_are_nested(shop: Shop) -> None:
    def prices(one: Any) -> Any:
        return one.for_(PRICES).map("currency", "currency").map("amount", "amount")

    config = into(PRODUCTS, "sku", "name").nest(
        "variants", lambda one: one.for_(VARIANTS).map("size", "size").map("stock", "stock").nest("prices", prices)
    )
    inner = nested(
        "variants.prices",
        [
            {"_row_number": 1, "_parent": 1, "currency": "EUR", "amount": Decimal("1.50")},
            {"_row_number": 2, "_parent": 2, "currency": "USD", "amount": Decimal("2.50")},
        ],
    )
    outer = nested(
        "variants",
        [
            {"_row_number": 1, "_parent": 0, "size": "S", "stock": 1},
            {"_row_number": 1, "_parent": 0, "size": "M", "stock": 1},
            {"_row_number": 2, "_parent": 1, "size": "L", "stock": 1},
        ],
        (inner,),
    )
    rows = [{"sku": "A", "name": "a"}, {"sku": "B", "name": "b"}]
    assert counts(write(shop.target(config), batch(rows, children=(outer,)))) == (2, 0, 0, 0)
    query = sa.select(PRODUCTS.c.sku, VARIANTS.c.size, PRICES.c.currency, PRICES.c.amount).select_from(
        PRODUCTS.join(VARIANTS).join(PRICES)
    )
    with shop.engine.connect() as connection:
        found = sorted(tuple(row) for row in connection.execute(query))
    assert found == [("A", "M", "EUR", Decimal("1.50")), ("B", "L", "USD", Decimal("2.50"))]


def test_relations_are_looked_up_in_bulk(shop: Shop) -> None:
    shop.add(CATEGORIES, *({"id": n, "name": f"c{n}"} for n in range(1, 2001)))
    keys = pl.Series([f"c{n}" for n in range(1500, 2500)] + ["c1500", None])
    found = shop.target(into(PRODUCTS, "sku")).lookup("categories", "name", "id", keys, create_missing=False)
    assert found.columns == ["key", "value"]
    assert sorted(found.rows()) == sorted((f"c{n}", n) for n in range(1500, 2001))


def test_text_finds_the_keys_of_a_number_column(shop: Shop) -> None:
    shop.add(CATEGORIES, {"id": 7, "name": "c"})
    keys = pl.Series(["7", "07", "x", " 7"])
    found = shop.target(into(PRODUCTS, "sku")).lookup("categories", "id", "name", keys, create_missing=False)
    assert sorted(found.rows()) == [(" 7", "c"), ("07", "c"), ("7", "c")]


def test_missing_relations_are_created_once(shop: Shop) -> None:
    shop.add(CATEGORIES, {"id": 7, "name": "old"})
    target = shop.target(into(PRODUCTS, "sku"))
    for _ in range(2):
        keys = pl.Series(["old", "new", "new"])
        found = dict(target.lookup("categories", "name", "id", keys, create_missing=True).rows())
        assert set(found) == {"old", "new"}
    assert found["old"] == 7
    assert shop.count(CATEGORIES) == 2


def test_a_key_that_the_database_does_not_take_is_one_that_is_not_there(shop: Shop) -> None:
    shop.add(CATEGORIES, {"id": 700, "name": "old"})
    target = shop.target(into(PRODUCTS, "sku"))
    keys = pl.Series(["old", "n" * 51, "nu\0l", *(f"new {n}" for n in range(5)), "refused"])
    found = dict(target.lookup("categories", "name", "id", keys, create_missing=True).rows())
    assert set(found) == {"old", *(f"new {n}" for n in range(5))}
    assert shop.count(CATEGORIES) == 6
    numbers = pl.Series(["700", "99999999999", "9" * 30])
    assert target.lookup("categories", "id", "name", numbers, create_missing=False).rows() == [("700", "old")]


def test_a_table_that_needs_more_than_the_key_is_told_and_no_row_is_blamed(shop: Shop) -> None:
    target = shop.target(into(PRODUCTS, "sku"))
    with pytest.raises(TargetError, match="No record can be made in products of its sku alone: name must have a value"):
        target.lookup("products", "sku", "id", pl.Series(["A"]), create_missing=True)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_dry_run_leaves_no_created_relations(shop: Shop, dry_run: bool) -> None:
    target = shop.target(into(PRODUCTS, "sku", "name", "category_id"))
    with target.open_chunk(str(uuid4()), 0, dry_run=dry_run) as chunk:
        found = chunk.lookup("categories", "name", "id", pl.Series(["new"]), create_missing=True)
        row = {"sku": "A", "name": "a", "category_id": found.item(0, "value")}
        result = chunk.write(batch([row]))
        assert counts(result) == (1, 0, 0, 0)
        chunk.commit(outcome(result))
    assert shop.count(CATEGORIES) == shop.count(PRODUCTS) == (0 if dry_run else 1)


def atomic(**key: Any) -> Any:
    config = into(PRODUCTS, "sku", "name").atomic()
    return config.keyed_by("sku", **key) if key else config


def tables(shop: Shop) -> list[str]:
    return [name for name in sa.inspect(shop.engine).get_table_names() if name.startswith("_ingest_")]


def test_nothing_of_an_atomic_run_shows_before_it_is_published(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "old"})
    target, run_key = shop.target(atomic(on_duplicate="update")), str(uuid4())
    first = write(target, batch([{"sku": "A", "name": "a"}, {"sku": "B", "name": None}]), run_key=run_key)
    second = write(target, batch([{"sku": "C", "name": "c"}]), run_key=run_key, index=1)
    assert counts(first) == (0, 1, 0, 1)
    assert counts(second) == (1, 0, 0, 0)
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "old")]
    published = {0: Counts(updated=1, failed=1), 1: Counts(created=1)}
    assert target.publish(run_key) == published
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "a"), ("C", "c")]
    assert tables(shop) == []
    assert target.publish(run_key) == published
    assert shop.count(PRODUCTS) == 2


def test_publishing_says_what_it_did_and_not_what_the_chunks_foresaw(shop: Shop) -> None:
    target, run_key = shop.target(atomic(on_duplicate="update")), str(uuid4())
    foreseen = write(target, batch([{"sku": "A", "name": "a"}, {"sku": "B", "name": "b"}]), run_key=run_key)
    assert counts(foreseen) == (2, 0, 0, 0)
    shop.add(PRODUCTS, {"sku": "A", "name": "meanwhile"})
    assert target.publish(run_key) == {0: Counts(created=1, updated=1)}
    assert target.publish(run_key) == {0: Counts(created=1, updated=1)}
    with target.open_chunk(run_key, 0, dry_run=False) as chunk:
        assert chunk.recorded is not None
        assert chunk.recorded.counts == Counts(created=1, updated=1)


def test_a_conflict_while_publishing_leaves_nothing(shop: Shop) -> None:
    target, run_key = shop.target(atomic()), str(uuid4())
    write(target, batch([{"sku": "A", "name": "a"}, {"sku": "B", "name": "b"}]), run_key=run_key)
    shop.add(PRODUCTS, {"sku": "A", "name": "meanwhile"})
    with pytest.raises(PublishRefused, match="row 1: A record with the same sku exists already") as refused:
        target.publish(run_key)
    assert refused.value.refused.height == 1
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "meanwhile")]
    target.discard(run_key)
    assert tables(shop) == []
    assert target.publish(run_key) is None


def test_an_atomic_run_takes_nested_rows_along(shop: Shop) -> None:
    target, run_key = shop.target(with_variants().atomic()), str(uuid4())
    rows = [{"sku": "A", "name": None}, {"sku": "B", "name": "b"}, {"sku": "C", "name": "c"}]
    children = variants((1, 0, "S", 1), (2, 1, "S", 2), (3, 2, "S", 3))
    assert counts(write(target, batch(rows, children=(children,)), run_key=run_key)) == (2, 0, 0, 1)
    assert joined(shop) == []
    assert target.publish(run_key) == {0: Counts(created=2, failed=1)}
    assert joined(shop) == [("B", "S", 2), ("C", "S", 3)]


def test_a_missing_table_is_told_with_the_way_out(shop: Shop) -> None:
    with pytest.raises(TargetError, match=r"product does not exist; did you mean products\?"):
        shop.target(into("product", "sku")).shape()
    other = sa.Table("gone", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True))
    with pytest.raises(TargetError, match="To create it: CREATE TABLE gone"):
        shop.target(into(other, "id")).shape()


def test_a_missing_column_is_told_with_the_way_out(shop: Shop) -> None:
    more = sa.Table("loose", sa.MetaData(), sa.Column("sku", sa.String(20)), sa.Column("colour", sa.String(9)))
    with pytest.raises(TargetError, match=r"has no column colour.*ALTER TABLE loose ADD COLUMN colour VARCHAR"):
        shop.target(into(more, "sku")).shape()


def test_the_shape_has_what_the_engine_needs(shop: Shop) -> None:
    target = shop.target(with_variants())
    shape = target.shape()
    assert shape.names == ("id", "sku", "name", "price", "stock", "barcode", "category_id", "changed_on")
    assert shape.primary_key == ("id",)
    assert ("sku",) in shape.unique_keys
    assert shape.foreign_keys[("category_id",)] == ("categories", ("id",))
    facts = {column.name: column for column in shape.columns}
    assert facts["id"].has_default
    assert facts["stock"].has_default
    assert not facts["name"].nullable
    assert facts["name"].length == 40
    assert (facts["price"].precision, facts["price"].scale) == (10, 2)
    assert [str(facts[name].kind) for name in ("id", "sku", "price", "changed_on")] == [
        "integer",
        "text",
        "numeric",
        "date",
    ]
    assert target.child_shapes()["variants"].names == ("id", "product_id", "size", "stock")
