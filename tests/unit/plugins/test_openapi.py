from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute

from airflow_provider_ingest.plugins.api import documents
from airflow_provider_ingest.plugins.api.app import make_app
from airflow_provider_ingest.plugins.api.dependencies import GUARD
from airflow_provider_ingest.plugins.api.write_openapi import document_text

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "openapi.json"


def test_the_written_document_is_the_one_that_is_served() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document_text(), (
        "write it again: python -m airflow_provider_ingest.plugins.api.write_openapi docs/reference/openapi.json"
    )


def test_every_route_is_behind_the_guard() -> None:
    guard = [dependency.dependency for dependency in GUARD]
    for route in make_app().routes:
        assert isinstance(route, APIRoute), f"{route} is a mount or a plain route, which the guard does not reach"
        assert [dependency.dependency for dependency in route.dependencies[: len(guard)]] == guard, route.path


def test_every_reference_of_the_document_has_a_schema() -> None:
    document = documents.openapi(make_app(), "/x")

    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            return [part["$ref"]] if "$ref" in part else [ref for value in part.values() for ref in references(value)]
        return [ref for value in part for ref in references(value)] if isinstance(part, list) else []

    for reference in references(document):
        assert reference.removeprefix("#/components/schemas/") in document["components"]["schemas"], reference
