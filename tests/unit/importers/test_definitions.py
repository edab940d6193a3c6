"""Definitions: built step by step, never changed, refused where they cannot work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, Table
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from airflow_provider_ingest import DuplicateStrategy, EventHandler, IngestConfig, NestedConfig, SourceType
from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.importers.schema import SchemaField
from airflow_provider_ingest.transformers import ConcatTransformer, MapTransformer, TrimTransformer
from airflow_provider_ingest.validators import EmailValidator, RequiredValidator


class Base(DeclarativeBase):
    pass


class Category(Base):
    __tablename__ = "categories"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class Product(Base):
    __tablename__ = "products"
    id: Mapped[int] = mapped_column(primary_key=True)
    sku: Mapped[str]
    price_cents: Mapped[int | None] = mapped_column("price")
    category_id: Mapped[int | None] = mapped_column(ForeignKey("categories.id"))
    variants: Mapped[list[Variant]] = relationship()


class Variant(Base):
    __tablename__ = "variants"
    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"))
    sku: Mapped[str]
    size: Mapped[str | None]


def start() -> IngestConfig:
    return IngestConfig.for_(Product, conn_id="shop")


def complete() -> IngestConfig:
    return start().from_source(SourceType.UPLOAD).map("SKU", "sku")


class Shipped:
    """A conditional mapping as the specification describes it."""

    source_field = "tracking"
    attribute = "sku"
    transformer = TrimTransformer
    validator = RequiredValidator()

    def should_apply(self, row: Any) -> bool:
        return bool(row["status"] == "shipped")


class Numbers:
    """A source of one's own."""

    def read(self) -> Any:
        yield {"n": 1}

    def get_schema(self) -> Any:
        return {"n": {"type": "integer", "required": True}}

    def get_source_metadata(self) -> Any:
        return {"source_type": "numbers"}


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


def no_return(nested: NestedConfig) -> Any:
    nested.map("sku", "sku")


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown attribute": (
        lambda: start().map("a", "prise_cents"),
        'no attribute "prise_cents". Did you mean "price_cents"',
    ),
    "attribute mapped twice": (lambda: complete().map("b", "sku"), "mapped twice"),
    "condition beside a plain mapping": (lambda: complete().map_when("b", "sku", lambda row: True), "mapped twice"),
    "no source": (lambda: start().map("a", "sku").check("x"), 'importer "x": it has no source'),
    "no mappings": (lambda: start().from_source("upload").check("x"), "maps nothing"),
    "no target": (lambda: IngestConfig().from_source("upload").check("x"), "no target"),
    "wrong model": (lambda: IngestConfig.for_(object(), "c"), "is no target"),
    "wrong table name": (lambda: IngestConfig.for_("a..b", "c"), "no table name"),
    "no connection": (lambda: IngestConfig.for_("t", ""), "conn_id"),
    "wrong type name": (
        lambda: start().expect_schema({"a": {"type": "int"}}),
        '"int" is no type. Did you mean "integer"',
    ),
    "wrong schema member": (lambda: start().expect_schema({"a": {"requierd": True}}), 'Did you mean "required"'),
    "wrong schema": (lambda: start().expect_schema([]), "takes a map"),
    "wrong source type": (lambda: start().from_source("uplaod"), 'Did you mean "upload"'),
    "unknown option": (lambda: start().from_source(SourceType.SFTP, disk="d", pth="p"), 'Did you mean "path"'),
    "missing option": (lambda: start().from_source(SourceType.URL), 'needs the option "url"'),
    "wrong url": (lambda: start().from_source(SourceType.URL, url="ftp://x"), "http://"),
    "credentials in an url": (lambda: start().from_source(SourceType.URL, url="https://u:p@x/y"), "credentials"),
    "source class": (lambda: start().from_source(Numbers), "give an instance"),  # type: ignore[arg-type]
    "no source at all": (lambda: start().from_source(object()), "lacks"),  # type: ignore[arg-type]
    "null field without a step": (lambda: start().map(None, "sku"), "nothing builds the value"),
    "null field with a step that needs one": (
        lambda: start().map_and_transform(None, "sku", TrimTransformer),
        "needs one",
    ),
    "field before a step that ignores it": (
        lambda: start().map_and_transform("a", "sku", ConcatTransformer(["a", "b"])),
        "give None",
    ),
    "building step in the middle": (
        lambda: start().map_and_transform("a", "sku", [TrimTransformer, ConcatTransformer(["a"])]),
        "only be the first",
    ),
    "reserved field": (lambda: start().map("_row_number", "sku"), "the service itself uses"),
    "no transformer": (lambda: start().map_and_transform("a", "sku", 7), "7 is no transformer"),
    "empty transformers": (lambda: start().map_and_transform("a", "sku", []), "use map()"),
    "transformer that needs arguments": (
        lambda: start().map_and_transform("a", "sku", MapTransformer),
        "needs arguments",
    ),
    "validator among transformers": (
        lambda: start().map_and_transform("a", "sku", RequiredValidator),
        "is a validator",
    ),
    "wrong condition": (lambda: start().map_when("a", "sku", True), "the condition is True"),
    "conditional object with steps": (
        lambda: start().map_when("tracking", "sku", Shipped(), str.upper),
        "brings its own",
    ),
    "conditional object for another field": (lambda: start().map_when("a", "sku", Shipped()), "source field"),
    "unmapped key": (lambda: complete().keyed_by("price_cents").check("x"), "is not mapped"),
    "unknown key": (lambda: complete().keyed_by("ksu"), 'Did you mean "sku"'),
    "wrong strategy": (lambda: complete().keyed_by("sku", on_duplicate="replace"), "on_duplicate"),
    "newer without its strategy": (lambda: complete().keyed_by("sku", newer="sku"), "need each other"),
    "strategy without newer": (
        lambda: complete().keyed_by("sku", on_duplicate=DuplicateStrategy.UPDATE_IF_NEWER),
        "need each other",
    ),
    "unique without a key": (lambda: complete().assume_unique_keys(), "keyed_by() first"),
    "nest without return": (lambda: start().nest("variants", no_return), "must return"),
    "nest without target": (lambda: start().nest("parts", lambda nested: nested), "has no target"),
    "nest that maps nothing": (lambda: start().nest("variants", lambda nested: nested), "maps nothing"),
    "nested attribute": (lambda: start().nest("variants", lambda n: n.map("a", "siez")), 'Did you mean "size"'),
    "nested twice": (
        lambda: start().nest("variants", lambda n: n.map("a", "sku")).nest("variants", lambda n: n.map("a", "sku")),
        "nested twice",
    ),
    "chunk of nothing": (lambda: start().chunk_size(0), "chunk_size"),
    "chunk of a text": (lambda: start().chunk_size("10"), "chunk_size"),  # type: ignore[arg-type]
    "wrong row log": (lambda: start().log_rows("fail"), 'Did you mean "failed"'),
    "atomic and create missing": (
        lambda: (
            complete()
            .relate("category", "category_id", Category, key="name", create_missing=True)
            .atomic()
            .check("products")
        ),
        "exclude each other",
    ),
    "no reject limit": (lambda: start().reject_above(), "needs rows="),
    "reject everything": (lambda: start().reject_above(percent=100), "below 100"),
    "sensitive nothing": (lambda: start().sensitive(), "names of one or more"),
    "handler class": (lambda: start().with_event_handler(EventHandler), "give an instance"),  # type: ignore[arg-type]
    "no handler": (lambda: start().with_event_handler(object()), "no event handler"),  # type: ignore[arg-type]
    "slug with a space": (lambda: complete().check("my products"), "is no slug"),
    "long slug": (lambda: complete().check("a" * 201), "is no slug"),
    "reserved slug": (lambda: complete().check("prune"), "used by the service"),
    "column that nothing sets": (lambda: start().from_source("upload").map("a", "price_cents").check("x"), '"sku"'),
    "relation to an unknown key": (
        lambda: start().relate("a", "category_id", Category, key="nam"),
        'Did you mean "name"',
    ),
    "relation over a mapping": (lambda: complete().relate("a", "sku", Category, key="name"), "mapped twice"),
}


@pytest.mark.parametrize(("mistake", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_a_definition_that_cannot_work_is_refused_with_the_way_out(mistake: Callable[[], Any], says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        mistake()
    assert says in str(refused.value)


def test_messages_name_importer_and_attribute() -> None:
    with pytest.raises(ConfigError, match=r'importer into "products", attribute "sku": '):
        start().map_and_transform("a", "sku", 7)
    with pytest.raises(ConfigError, match=r'nested collection "variants", attribute "siez": '):
        start().nest("variants", lambda nested: nested.map("a", "siez"))
