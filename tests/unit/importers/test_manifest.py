"""Manifests: deterministic, without secrets, complete for those who cannot import the user's code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airflow_provider_ingest import EventHandler, IngestConfig, SourceType
from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.importers.manifest import Manifest
from airflow_provider_ingest.transformers import ConcatTransformer, MapTransformer
from airflow_provider_ingest.validators import RangeValidator


class Announce(EventHandler):
    pass


def importer(**options: Any) -> IngestConfig:
    return (
        IngestConfig.for_("shop.products", conn_id="shop")
        .from_source(SourceType.FILESYSTEM, **options)
        .expect_schema({"sku": {"type": "string"}, "qty": {"type": "integer"}})
        .map(["sku", "article"], "sku")
        .map_and_transform("size", "size", [MapTransformer({"S": {1, 2}}), lambda value: value])
        .map_and_transform(None, "name", ConcatTransformer(["brand", "model"]))
        .map_and_validate("price", "price", RangeValidator(0, 10))
        .map_when("extra", "extra", lambda row: True)
        .nest("variants", lambda nested: nested.for_("shop.variants").map("sku", "sku"))
        .keyed_by("sku")
        .with_event_handler(Announce())
        .sensitive("b", "a")
    )


def test_two_parses_of_one_definition_give_the_same_text() -> None:
    assert importer().manifest("products").to_json() == importer().manifest("products").to_json()


def test_it_is_json_without_addresses() -> None:
    text = importer().manifest("products").to_json()
    assert " at 0x" not in text
    assert Manifest.from_dict(json.loads(text)).fingerprint == importer().manifest("products").fingerprint


def test_a_changed_definition_has_another_fingerprint() -> None:
    assert importer().manifest("a").fingerprint != importer().chunk_size(5).manifest("a").fingerprint


def test_it_answers_what_interfaces_ask() -> None:
    manifest = importer(path="in/products.csv").manifest("products")
    assert (manifest.slug, manifest.dag_id, manifest.source_type) == ("products", "ingest_products", "filesystem")
    assert (manifest.takes_upload, manifest.takes_path, manifest.has_default_path) == (False, True, True)
    assert manifest.default_path == "in/products.csv"
    assert manifest.fields == ("sku", "size", "price", "extra", "brand", "model", "qty", "variants")
    assert manifest.attributes == ("sku", "size", "name", "price", "extra")
    assert manifest.sensitive_fields == {"a", "b"}
    assert (manifest.target_label, manifest.conn_id) == ("shop.products", "shop")


def test_the_template_shows_an_example_where_the_type_is_known() -> None:
    manifest = importer().manifest("products")
    assert manifest.template_header() == manifest.fields
    assert manifest.example_row() == dict.fromkeys(manifest.fields, "") | {"sku": "text", "qty": "1"}


def test_the_query_of_an_url_is_no_part_of_it() -> None:
    config = (
        IngestConfig.for_("t", "c").from_source(SourceType.URL, url="https://x.org/f.csv?token=secret").map("a", "a")
    )
    manifest = config.manifest("x")
    assert manifest.source_options == {"url": "https://x.org/f.csv"}
    assert "secret" not in manifest.to_json()


def test_an_incomplete_definition_has_no_manifest() -> None:
    with pytest.raises(ConfigError, match="no source"):
        IngestConfig.for_("t", "c").map("a", "a").manifest("x")
