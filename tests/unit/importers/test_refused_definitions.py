"""Definitions that cannot work are refused where they are made, with the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from airflow_provider_ingest import DuplicateStrategy, EventHandler, IngestConfig, NestedConfig, SourceType
from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.transformers import ConcatTransformer, MapTransformer, TrimTransformer
from airflow_provider_ingest.validators import RequiredValidator
from tests.unit.importers.definitions import Category, Numbers, Shipped, complete, start


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
