"""Definitions: built step by step, never changed."""

from __future__ import annotations

import polars as pl
from sqlalchemy import Column, Integer, MetaData, String, Table

from airflow_provider_ingest import DuplicateStrategy, IngestConfig, NestedConfig, SourceType
from airflow_provider_ingest.importers.schema import SchemaField
from airflow_provider_ingest.transformers import TrimTransformer
from airflow_provider_ingest.validators import EmailValidator
from tests.unit.importers.definitions import Category, Numbers, Shipped, Variant, complete, start


def test_every_call_returns_a_new_definition_and_leaves_the_old_one() -> None:
    first = start()
    second = first.map("SKU", "sku")
    assert first.mappings == ()
    assert [mapping.attribute for mapping in second.mappings] == ["sku"]


def test_attributes_are_known_by_the_columns_behind_them() -> None:
    mapped = start().map("Price", "price_cents").map("SKU", "sku")
    assert [mapping.attribute for mapping in mapped.mappings] == ["price", "sku"]


def test_a_table_serves_as_well_as_a_class() -> None:
    table = Table("t", MetaData(), Column("id", Integer, primary_key=True), Column("name", String))
    assert IngestConfig.for_(table, "c").map("Name", "name").mappings[0].attribute == "name"


def test_steps_may_be_instances_classes_callables_or_lists_of_these() -> None:
    config = start().map_transform_and_validate("SKU", "sku", [TrimTransformer, str.upper], EmailValidator())
    mapping = config.mappings[0]
    assert [step.name for step in mapping.transformers] == ["TrimTransformer", "str.upper"]
    assert [step.name for step in mapping.validators] == ["EmailValidator"]


def test_a_conditional_mapping_object_brings_condition_and_steps() -> None:
    mapping = start().map_when("tracking", "sku", Shipped()).mappings[0]
    assert callable(mapping.condition)
    assert mapping.condition_name is not None
    assert mapping.condition_name.endswith("Shipped")
    assert [step.name for step in (*mapping.transformers, *mapping.validators)] == [
        "TrimTransformer",
        "RequiredValidator",
    ]


def test_conditional_mappings_may_share_an_attribute() -> None:
    config = start().map_when("a", "sku", pl.col("kind") == "a").map_when("b", "sku", lambda row: row["kind"] == "b")
    assert [mapping.fields for mapping in config.mappings] == [("a",), ("b",)]


def test_a_key_may_be_composite_and_given_as_a_list() -> None:
    assert start().keyed_by("sku", "category_id").key == start().keyed_by(["sku", "category_id"]).key


def test_rows_are_doubled_without_a_key_and_elements_below_a_record_that_is_updated() -> None:
    def nesting(*key: str) -> IngestConfig:
        def variants(variant: NestedConfig) -> NestedConfig:
            mapped = variant.for_(Variant).map("size", "size")
            return mapped.keyed_by(*key) if key else mapped

        return start().map("SKU", "sku").nest("variants", variants)

    assert start().map("SKU", "sku").may_double
    assert not start().map("SKU", "sku").keyed_by("sku").may_double
    assert nesting().keyed_by("sku").may_double
    assert not nesting("size").keyed_by("sku").may_double
    for leaving in (DuplicateStrategy.SKIP, DuplicateStrategy.FAIL):
        assert not nesting().keyed_by("sku", on_duplicate=leaving).may_double


def test_a_key_named_by_its_source_field_means_the_attribute() -> None:
    named = IngestConfig.for_("products", "c").map("Article", "sku").keyed_by("Article")
    assert named.key is not None
    assert named.key.attributes == ("sku",)


def test_newer_maps_its_column_if_nothing_else_does() -> None:
    config = complete().keyed_by("sku", on_duplicate=DuplicateStrategy.UPDATE_IF_NEWER, newer=("Modified", "price"))
    assert config.key is not None
    assert (config.key.newer_field, config.key.newer_column) == ("Modified", "price")
    assert config.mappings[-1].fields == ("Modified",)


def test_a_nested_collection_finds_its_target_by_the_relationship_of_its_name() -> None:
    config = start().nest("variants", lambda nested: nested.map("sku", "sku").keyed_by("sku"))
    nested = config.nested[0]
    assert nested.target is not None
    assert (nested.target.model, nested.target.conn_id, nested.path) == (Variant, "shop", "variants")


def test_a_collection_inside_a_collection_has_the_path_from_the_row() -> None:
    config = start().nest(
        "variants",
        lambda nested: nested.map("sku", "sku").nest(
            "prices", lambda inner: inner.for_("prices").map("amount", "amount")
        ),
    )
    inner = config.nested[0].nested[0]
    assert inner.target is not None
    assert (inner.path, inner.within, inner.target.conn_id) == ("variants.prices", "prices", "shop")


def test_a_relation_knows_table_key_and_value() -> None:
    relation = start().relate("Category", "category_id", Category, key="name").relations[0]
    assert (relation.table, relation.key, relation.value) == ("categories", "name", "id")


def test_the_expected_schema_takes_dicts_and_objects() -> None:
    config = start().expect_schema({"a": {"type": "integer", "required": True}, "b": SchemaField(nullable=False)})
    assert config.schema == {"a": SchemaField(type="integer", required=True), "b": SchemaField(nullable=False)}


def test_tracing_may_be_turned_on_in_parts() -> None:
    assert start().trace_mappings().tracing.mappings
    assert not start().trace_mappings().tracing.transformations
    assert start().trace_mappings().trace_transformations().tracing == start().with_tracing().tracing


def test_settings_are_kept() -> None:
    config = (
        complete()
        .keyed_by("sku")
        .assume_unique_keys()
        .chunk_size(10)
        .log_rows("all")
        .reject_above(rows=5, percent=2.5)
        .atomic()
        .sensitive("SKU")
        .refuse_duplicates()
    )
    assert (config.chunk_rows, config.row_log, config.is_atomic, config.refuses_duplicates) == (10, "all", True, True)
    assert config.sensitive_fields == {"SKU"}
    assert config.reject_limit is not None
    assert (config.reject_limit.rows, config.reject_limit.percent) == (5, 2.5)
    assert config.key is not None
    assert config.key.assume_unique


def test_a_source_object_is_a_custom_source() -> None:
    source = start().from_source(Numbers()).source
    assert source is not None
    assert source.type is SourceType.CUSTOM
