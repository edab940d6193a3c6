"""What every target promises, whatever the database behind it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import polars as pl
import pytest

from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.runs.frames import FAILURES, ROW_NUMBER
from tests.contract.target_fixtures import (
    CATEGORIES,
    LOOSE,
    PRODUCTS,
    Shop,
    batch,
    codes,
    counts,
    into,
    outcome,
    write,
)

PRICE = {"price": pl.Decimal(10, 2)}


def products(*attributes: str, **key: Any) -> Any:
    config = into(PRODUCTS, *(attributes or ("sku", "name", "price")))
    return config.keyed_by("sku", **key) if key else config


KEYED: dict[str, Any] = {"on_duplicate": DuplicateStrategy.UPDATE}


def test_rows_without_a_key_are_all_created(shop: Shop) -> None:
    rows = [{"sku": "A", "name": "Äpfel", "price": Decimal("1.50")}, {"sku": "", "name": 'say "hi", ok', "price": None}]
    result = write(shop.target(products()), batch(rows, schema=PRICE))
    assert counts(result) == (2, 0, 0, 0)
    assert shop.rows(PRODUCTS, "sku", "name", "price", "stock") == [
        ("", 'say "hi", ok', None, 7),
        ("A", "Äpfel", Decimal("1.50"), 7),
    ]


def test_a_refused_row_fails_alone_with_a_code_and_its_own_values(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "old"})
    rows = [
        {"sku": sku, "name": name} for sku, name in [("B", "b"), ("A", "again"), ("C", None), ("D", "d"), ("B", "b2")]
    ]
    result = write(shop.target(products("sku", "name")), batch(rows, first=11))
    assert counts(result) == (2, 0, 0, 3)
    assert codes(result) == [(12, "duplicate_key"), (13, "not_null"), (15, "duplicate_key")]
    assert result.refused.schema == pl.Schema(FAILURES)
    refused = result.refused.row(0, named=True)
    assert refused["stage"] == "database"
    assert refused["message"] == "A record with the same sku exists already"
    assert refused["detail"] == 'sku is "A"'
    assert [row[0] for row in shop.rows(PRODUCTS, "sku")] == ["A", "B", "D"]


def test_foreign_keys_and_checks_are_told_by_name(shop: Shop) -> None:
    shop.add(CATEGORIES, {"id": 1, "name": "fruit"})
    rows = [
        {"sku": "A", "name": "a", "price": Decimal("1"), "category_id": 1},
        {"sku": "B", "name": "b", "price": Decimal("-1"), "category_id": 1},
        {"sku": "C", "name": "c", "price": Decimal("1"), "category_id": 99},
    ]
    result = write(shop.target(products("sku", "name", "price", "category_id")), batch(rows, schema=PRICE))
    assert counts(result) == (1, 0, 0, 2)
    assert codes(result) == [(2, "check"), (3, "foreign_key")]
    check, foreign = result.refused.get_column("message").to_list()
    assert "price_not_negative" in check
    assert "category_id" in foreign
    assert "categories" in foreign


@pytest.mark.parametrize("strategy", [None, DuplicateStrategy.UPDATE, DuplicateStrategy.FAIL])
def test_batches_prepared_ahead_end_as_any_other(shop: Shop, strategy: DuplicateStrategy | None) -> None:
    rows = [{"sku": f"S{n % 40}", "name": f"name {n}" if n % 7 else None} for n in range(90)]
    batches = [batch(rows[start : start + 30], first=start + 1) for start in (0, 30, 60)]
    key: dict[str, Any] = {"on_duplicate": strategy} if strategy else {}
    foreseen = write(shop.target(products("sku", "name", **key)), *batches, dry_run=True)
    result = write(shop.target(products("sku", "name", **key)), *batches, ahead=True)
    assert (counts(result), codes(result)) == (counts(foreseen), codes(foreseen))
    expected: dict[str, str] = {}
    for row in rows:
        sku, name = row["sku"], row["name"]
        if name is not None and (strategy is DuplicateStrategy.UPDATE or sku not in expected):
            expected[str(sku)] = name
    assert dict(shop.rows(PRODUCTS, "sku", "name")) == expected


def test_many_refused_rows_leave_all_others(shop: Shop) -> None:
    shop.add(PRODUCTS, *({"sku": f"S{n}", "name": "old"} for n in range(0, 3000, 3)))
    rows = [{"sku": f"S{n}", "name": "x" if n % 50 else None} for n in range(3000)]
    result = write(shop.target(products("sku", "name")), batch(rows))
    refused = {number for number, _ in codes(result)}
    assert refused == {n + 1 for n in range(3000) if n % 3 == 0 or n % 50 == 0}
    assert result.created == 3000 - len(refused)
    assert shop.count(PRODUCTS) == 1000 + result.created


@pytest.mark.parametrize("attempt", ["first", "second"])
def test_update_creates_and_updates(shop: Shop, attempt: str) -> None:
    target = shop.target(products(**KEYED))
    write(target, batch([{"sku": "A", "name": "a", "price": Decimal("1")}], schema=PRICE))
    rows = [{"sku": "A", "name": "a2", "price": Decimal("2")}, {"sku": "B", "name": "b", "price": Decimal("3")}]
    result = write(target, batch(rows, schema=PRICE), want_ends=attempt == "second")
    assert counts(result) == (1, 1, 0, 0)
    assert shop.rows(PRODUCTS, "sku", "name", "price") == [("A", "a2", Decimal("2")), ("B", "b", Decimal("3"))]
    if attempt == "second":
        assert result.ends is not None
        assert result.ends.rows() == [(1, "updated"), (2, "created")]


def test_an_update_that_changes_nothing_counts_as_updated(shop: Shop) -> None:
    target = shop.target(products(**KEYED))
    rows = [{"sku": "A", "name": "a", "price": None}]
    assert counts(write(target, batch(rows, schema=PRICE))) == (1, 0, 0, 0)
    assert counts(write(target, batch(rows, schema=PRICE))) == (0, 1, 0, 0)


def test_skip_keeps_the_record(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "old"})
    target = shop.target(products("sku", "name", on_duplicate=DuplicateStrategy.SKIP))
    rows = [{"sku": "A", "name": "new"}, {"sku": "B", "name": "first"}, {"sku": "B", "name": "second"}]
    result = write(target, batch(rows), want_ends=True)
    assert counts(result) == (1, 0, 2, 0)
    assert result.ends is not None
    assert result.ends.rows() == [(1, "skipped"), (2, "created"), (3, "skipped")]
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "old"), ("B", "first")]


def test_fail_refuses_existing_and_later_rows(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "old"})
    target = shop.target(products("sku", "name", on_duplicate=DuplicateStrategy.FAIL))
    rows = [{"sku": "A", "name": "new"}, {"sku": "B", "name": "first"}, {"sku": "B", "name": "second"}]
    result = write(target, batch(rows))
    assert counts(result) == (1, 0, 0, 2)
    assert codes(result) == [(1, "duplicate_key"), (3, "duplicate_key")]
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "old"), ("B", "first")]


def test_update_if_newer_compares_with_the_record(shop: Shop) -> None:
    old, new = date(2026, 1, 1), date(2026, 2, 1)
    shop.add(
        PRODUCTS,
        {"sku": "A", "name": "a", "changed_on": old},
        {"sku": "B", "name": "b", "changed_on": new},
        {"sku": "N", "name": "n", "changed_on": None},
    )
    config = into(PRODUCTS, "sku", "name", "changed_on").keyed_by(
        "sku", on_duplicate=DuplicateStrategy.UPDATE_IF_NEWER, newer="changed_on"
    )
    rows = [
        {"sku": "A", "name": "a2", "changed_on": new},
        {"sku": "B", "name": "b2", "changed_on": old},
        {"sku": "N", "name": "n2", "changed_on": old},
        {"sku": "C", "name": "c", "changed_on": old},
        {"sku": "A", "name": "a3", "changed_on": old},
    ]
    result = write(shop.target(config), batch(rows), want_ends=True)
    assert counts(result) == (1, 2, 2, 0)
    assert result.ends is not None
    assert result.ends.get_column("end").to_list() == ["updated", "skipped", "updated", "created", "skipped"]
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "a2"), ("B", "b"), ("C", "c"), ("N", "n2")]


def test_a_key_twice_in_a_batch_is_worked_in_file_order(shop: Shop) -> None:
    target = shop.target(products(**KEYED))
    rows = [{"sku": sku, "name": name, "price": None} for sku, name in [("A", "1"), ("B", "1"), ("A", "2"), ("A", "3")]]
    result = write(target, batch(rows, schema=PRICE), want_ends=True)
    assert counts(result) == (2, 2, 0, 0)
    assert result.ends is not None
    assert result.ends.get_column("end").to_list() == ["created", "created", "updated", "updated"]
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "3"), ("B", "1")]


def test_a_key_twice_across_batches_is_worked_in_file_order(shop: Shop) -> None:
    target = shop.target(products("sku", "name", **KEYED))
    result = write(target, batch([{"sku": "A", "name": "1"}]), batch([{"sku": "A", "name": "2"}], first=2))
    assert counts(result) == (0, 1, 0, 0)
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "2")]


def test_an_early_row_that_is_refused_does_not_stand_for_its_key(shop: Shop) -> None:
    target = shop.target(products(**KEYED))
    rows = [{"sku": "A", "name": "1", "price": Decimal("-5")}, {"sku": "A", "name": "2", "price": Decimal("5")}]
    result = write(target, batch(rows, schema=PRICE))
    assert counts(result) == (1, 0, 0, 1)
    assert codes(result) == [(1, "check")]
    assert shop.rows(PRODUCTS, "sku", "name") == [("A", "2")]


def test_an_update_refused_by_another_unique_column_fails_alone(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "a", "barcode": "1"}, {"sku": "B", "name": "b", "barcode": "2"})
    target = shop.target(products("sku", "name", "barcode", **KEYED))
    rows = [
        {"sku": "A", "name": "a2", "barcode": "2"},
        {"sku": "B", "name": "b2", "barcode": "3"},
        {"sku": "C", "name": "c", "barcode": "9"},
    ]
    result = write(target, batch(rows))
    assert counts(result) == (1, 1, 0, 1)
    assert codes(result) == [(1, "duplicate_key")]
    assert shop.rows(PRODUCTS, "sku", "barcode") == [("A", "1"), ("B", "3"), ("C", "9")]


@pytest.mark.parametrize("strategy", [DuplicateStrategy.UPDATE, DuplicateStrategy.SKIP, DuplicateStrategy.FAIL])
def test_keys_work_without_a_unique_constraint(shop: Shop, strategy: DuplicateStrategy) -> None:
    config = into(LOOSE, "store", "sku", "name").keyed_by("store", "sku", on_duplicate=strategy)
    target = shop.target(config)
    write(target, batch([{"store": 1, "sku": "A", "name": "a"}]))
    rows = [{"store": store, "sku": "A", "name": "b"} for store in (1, 2, 2)]
    result = write(target, batch(rows))
    expected = {"update": (1, 2, 0, 0), "skip": (1, 0, 2, 0), "fail": (1, 0, 0, 2)}[strategy]
    assert counts(result) == expected
    first = "b" if strategy is DuplicateStrategy.UPDATE else "a"
    assert shop.rows(LOOSE, "store", "name") == [(1, first), (2, "b")]


def test_a_row_without_a_value_in_its_key_fails(shop: Shop) -> None:
    row = {"sku": None, "name": "a", "price": None}
    result = write(shop.target(products(**KEYED)), batch([row], schema={**PRICE, "sku": pl.String}))
    assert codes(result) == [(1, "not_null")]
    assert shop.count(PRODUCTS) == 0


def test_a_conditional_attribute_keeps_default_or_value(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "a", "stock": 3})
    target = shop.target(products("sku", "name", "stock", **KEYED))
    rows = [
        {"sku": sku, "name": "x", "stock": stock}
        for sku, stock in [("A", None), ("B", None), ("C", 5), ("B", 6), ("B", None)]
    ]
    result = write(target, batch(rows, conditional={"stock": [False, False, True, True, False]}))
    assert counts(result) == (2, 3, 0, 0)
    assert shop.rows(PRODUCTS, "sku", "stock") == [("A", 3), ("B", 6), ("C", 5)]


def test_a_conditional_attribute_without_a_key_gets_its_default(shop: Shop) -> None:
    rows = [{"sku": "A", "name": "a", "stock": None}, {"sku": "B", "name": "b", "stock": 1}]
    result = write(shop.target(products("sku", "name", "stock")), batch(rows, conditional={"stock": [False, True]}))
    assert counts(result) == (2, 0, 0, 0)
    assert shop.rows(PRODUCTS, "sku", "stock") == [("A", 7), ("B", 1)]


def test_ends_leave_out_refused_rows(shop: Shop) -> None:
    rows = [{"sku": "A", "name": "a"}, {"sku": "A", "name": "b"}]
    result = write(shop.target(products("sku", "name")), batch(rows), want_ends=True)
    assert result.ends is not None
    assert result.ends.rows() == [(1, "created")]
    assert result.ends.columns == [ROW_NUMBER, "end"]


def test_a_chunk_that_is_committed_is_only_reported_again(shop: Shop) -> None:
    target, run_key = shop.target(products("sku", "name")), str(uuid4())
    result = write(target, batch([{"sku": "A", "name": "a"}]), run_key=run_key)
    with shop.target(products("sku", "name")).open_chunk(run_key, 0, dry_run=False) as chunk:
        assert chunk.recorded == outcome(result)
    with target.open_chunk(run_key, 1, dry_run=False) as chunk:
        assert chunk.recorded is None
    assert shop.count(PRODUCTS) == 1


def test_a_chunk_that_is_left_without_a_commit_leaves_nothing(shop: Shop) -> None:
    target, run_key = shop.target(products("sku", "name")), str(uuid4())
    with target.open_chunk(run_key, 0, dry_run=False) as chunk:
        chunk.write(batch([{"sku": "A", "name": "a"}]))
    assert shop.count(PRODUCTS) == 0
    assert counts(write(target, batch([{"sku": "A", "name": "a"}]), run_key=run_key)) == (1, 0, 0, 0)


def test_a_dry_run_shows_refusals_and_writes_nothing(shop: Shop) -> None:
    shop.add(PRODUCTS, {"sku": "A", "name": "a"})
    target, run_key = shop.target(products("sku", "name")), str(uuid4())
    rows = [{"sku": "A", "name": "again"}, {"sku": "B", "name": "b"}]
    result = write(target, batch(rows), run_key=run_key, dry_run=True)
    assert counts(result) == (1, 0, 0, 1)
    assert shop.rows(PRODUCTS, "sku") == [("A",)]
    with target.open_chunk(run_key, 0, dry_run=True) as chunk:
        assert chunk.recorded is None


def test_an_empty_batch_is_nothing(shop: Shop) -> None:
    result = write(shop.target(products(**KEYED)), batch([], schema={"sku": pl.String, "name": pl.String, **PRICE}))
    assert counts(result) == (0, 0, 0, 0)
