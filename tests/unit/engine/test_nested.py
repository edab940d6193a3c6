"""Collections inside rows: arrays and objects, two levels, failures with their path."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_provider_ingest import IngestConfig
from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.runs.frames import ROW_NUMBER, Kind
from airflow_provider_ingest.transformers import TrimTransformer
from airflow_provider_ingest.validators import RangeValidator, RequiredValidator
from tests.unit.engine.worlds import batch, column, failures, importer, integer, money, plan, process, records, table

PRODUCTS = table("sku")
VARIANTS = table(
    integer("product_id", nullable=False),
    column("sku", nullable=False),
    money("price"),
    foreign_keys={("product_id",): ("products", ("id",))},
)
PRICES = table(integer("variant_id", nullable=False), "country", money("amount"))
SHAPES = {"variants": VARIANTS, "variants.prices": PRICES}


def products() -> IngestConfig:
    return (
        importer()
        .map("sku", "sku")
        .nest(
            "variants",
            lambda nested: (
                nested.for_("variants")
                .map_transform_and_validate("sku", "sku", TrimTransformer, RequiredValidator)
                .map_and_validate("price", "price", RangeValidator(0, 100))
                .keyed_by("sku")
                .nest(
                    "prices",
                    lambda inner: (
                        inner.for_("prices", parent_key="variant_id").map("country", "country").map("amount", "amount")
                    ),
                )
            ),
        )
    )


def work(*variants: str | None) -> Any:
    given = {"sku": [f"p{place}" for place in range(len(variants))], "variants": list(variants)}
    return process(products(), PRODUCTS, batch(given, kinds={"variants": Kind.JSON}), children=SHAPES)


def test_elements_become_rows_with_the_position_of_their_parent() -> None:
    done = work('[{"sku":" a ","price":1.5},{"sku":"b"}]', "[]", None, '[{"sku":"c","price":"7"}]')
    assert failures(done) == []
    (variants,) = done.records.children
    assert variants.name == "variants"
    assert variants.records.rows() == [
        (1, 0, "a", variants.records["price"][0]),
        (1, 0, "b", None),
        (4, 3, "c", variants.records["price"][2]),
    ]


def test_one_object_is_a_collection_of_one() -> None:
    assert work('{"sku":"a"}').records.children[0].records["sku"].to_list() == ["a"]


def test_a_bad_element_fails_its_row_as_a_whole_and_names_its_path() -> None:
    done = work('[{"sku":"a"},{"sku":"b","price":101},{"sku":""}]', '[{"sku":"c"}]')
    assert failures(done) == [(1, "required", "variants[2].sku"), (1, "range", "variants[1].price")]
    assert [row["sku"] for row in records(done)] == ["p1"]
    assert done.records.children[0].records.rows() == [(2, 0, "c", None)]


def test_the_path_of_one_object_has_no_index() -> None:
    assert failures(work('{"sku":""}')) == [(1, "required", "variants.sku")]


def test_collections_inside_collections_are_worked_too() -> None:
    done = work(
        '[{"sku":"a","prices":[{"country":"DE","amount":1},{"country":"FR","amount":2}]}]',
        '[{"sku":"b"},{"sku":"c","prices":[{"country":"DE","amount":"x"}]}]',
        '[{"sku":"d"},{"sku":"e","prices":{"country":"ES","amount":3}}]',
    )
    assert failures(done) == [(2, "type", "variants[1].prices[0].amount")]
    (variants,) = done.records.children
    (prices,) = variants.children
    assert variants.records.select(ROW_NUMBER, "_parent", "sku").rows() == [(1, 0, "a"), (3, 1, "d"), (3, 1, "e")]
    assert prices.name == "variants.prices"
    assert prices.records.select(ROW_NUMBER, "_parent", "country").rows() == [(1, 0, "DE"), (1, 0, "FR"), (3, 2, "ES")]


@pytest.mark.parametrize("value", ['"text"', "7", "[1,2]", '[{"sku":"a"},null]', "no json"])
def test_what_is_no_collection_fails_its_row(value: str) -> None:
    assert failures(work(value, '[{"sku":"a"}]')) == [(1, "type", "variants")]


def test_a_failed_parent_takes_its_elements_along() -> None:
    config = importer().map_and_validate("sku", "sku", RequiredValidator)
    config = config.nest("variants", lambda nested: nested.for_("variants").map("sku", "sku"))
    given = batch({"sku": ["", "b"], "variants": ['[{"sku":"x"}]', '[{"sku":"y"}]']}, kinds={"variants": Kind.JSON})
    done = process(config, PRODUCTS, given, children=SHAPES)
    assert done.records.children[0].records.select("_parent", "sku").rows() == [(0, "y")]


def test_elements_of_different_shape_are_worked_together() -> None:
    done = work('[{"sku":"a","price":1},{"sku":7,"price":"2.50","more":{"x":[1]}},{"sku":true}]')
    assert failures(done) == []
    assert done.records.children[0].records["sku"].to_list() == ["a", "7", "true"]


def test_an_unknown_table_of_a_collection_ends_the_run() -> None:
    with pytest.raises(TargetError, match='nested collection "variants"'):
        plan(products(), PRODUCTS, {})
