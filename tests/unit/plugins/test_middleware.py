from __future__ import annotations

import asyncio
from typing import Any

import pytest

from airflow_provider_ingest.plugins.api.middleware import ApiMiddleware, MountPathMiddleware


def passed_on(layer: Any, **scope: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The scope that the app behind the layer sees, and the headers that the client gets."""
    seen: list[dict[str, Any]] = []
    sent: list[dict[str, Any]] = []

    async def app(inner: dict[str, Any], receive: Any, send: Any) -> None:
        seen.append(inner)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"private")]})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(layer(app)({"type": "http", "root_path": "", **scope}, None, send))
    return seen[0], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize(
    ("root", "path", "seen"),
    [
        ("", "/api/v1/ingest", "/api/v1/ingest/"),
        ("/airflow", "/airflow/api/v1/ingest", "/airflow/api/v1/ingest/"),
        ("/airflow", "/api/v1/ingest", "/api/v1/ingest/"),
        ("", "/api/v1/ingest/", "/api/v1/ingest/"),
        ("", "/api/v1/ingest/7", "/api/v1/ingest/7"),
        ("", "/api/v1/ingest/a\nb", "/api/v1/ingest/a\ufffdb"),
        ("", "/api/v1/ingestion", "/api/v1/ingestion"),
        ("", "/api/v2/dags\n", "/api/v2/dags\n"),
    ],
)
def test_the_mounted_app_sees_its_own_paths_and_no_other_is_touched(root: str, path: str, seen: str) -> None:
    def layer(app: Any) -> Any:
        return MountPathMiddleware(app, "/api/v1/ingest")

    scope, _ = passed_on(layer, root_path=root, path=path)
    assert scope["path"] == seen


@pytest.mark.parametrize(
    ("path", "seen"),
    [("/x/importers/", "/x/importers"), ("/x/importers", "/x/importers"), ("/x/", "/x/"), ("/x/7/", "/x/7")],
)
def test_a_slash_at_the_end_is_no_other_path(path: str, seen: str) -> None:
    scope, _ = passed_on(ApiMiddleware, root_path="/x", path=path)
    assert scope["path"] == seen


def test_answers_are_not_sniffed_and_not_cached_unless_they_say_so() -> None:
    _, headers = passed_on(ApiMiddleware, path="/x")
    assert headers == {"cache-control": "private", "x-content-type-options": "nosniff"}
