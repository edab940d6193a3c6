"""The Airflow plugin: the API and the pages in the API server, nothing anywhere else.

Every Airflow process imports this module, so what needs FastAPI is imported on first use only.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar
from urllib.parse import urlsplit

from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin

from airflow_provider_ingest.fab import runs_fab
from airflow_provider_ingest.operators import listener

DEFAULT_PREFIX = "/api/v1/ingest"
NAME = "Ingest"
"""Name of the pages: the shell calls ``globalThis[NAME]``, so all entries share it."""


def url_prefix() -> str:
    """Where the API is mounted: ``[ingest] url_prefix`` with one slash at its start and none at its end."""
    return "/" + (conf.get("ingest", "url_prefix", fallback="") or DEFAULT_PREFIX).strip("/")


def base_path() -> str:
    """The path of ``[api] base_url``, without a slash at its end."""
    return urlsplit(conf.get("api", "base_url", fallback="") or "/").path.rstrip("/")


@cache
def _apps() -> list[dict[str, Any]]:
    from airflow_provider_ingest.plugins.api.app import make_app
    from airflow_provider_ingest.settings import load_settings

    load_settings()  # a value that cannot be used keeps the API server from starting, with the key's name
    return [{"app": make_app(), "url_prefix": url_prefix(), "name": "Ingest API"}]


@cache
def _root_middlewares() -> list[dict[str, Any]]:
    from airflow_provider_ingest.plugins.api.middleware import MountPathMiddleware
    from airflow_provider_ingest.plugins.api.startup import AtStartMiddleware, end_lost_runs

    return [
        {"middleware": MountPathMiddleware, "kwargs": {"prefix": url_prefix()}, "name": "Ingest API mount path"},
        {"middleware": AtStartMiddleware, "kwargs": {"work": end_lost_runs}, "name": "Ingest lost runs"},
    ]


@cache
def _pages() -> list[dict[str, Any]]:
    from importlib.metadata import version

    bundle = f"{base_path()}{url_prefix()}/static/{version('airflow-provider-ingest')}/main.js"
    shared = {"name": NAME, "bundle_url": bundle}
    return [
        {**shared, "destination": "nav", "url_route": "ingest", "nav_top_level": True},
        {**shared, "destination": "dag", "url_route": "ingest-dag"},
        {**shared, "destination": "dag_run", "url_route": "ingest-run"},
        {**shared, "destination": "dashboard", "url_route": "ingest-dashboard"},
    ]


@cache
def _fab_views() -> list[dict[str, Any]]:
    if not runs_fab():
        return []
    from airflow_provider_ingest.plugins.fab_views import status_views

    return status_views()


@cache
def _fab_links() -> list[dict[str, Any]]:
    if not runs_fab():
        return []
    href = f"{base_path()}/pluginsv2/ingest-runs/list/"
    return [{"name": "Ingest tables", "href": href, "destination": "nav", "category": "browse"}]


class _Lazy:
    """A list that is made when Airflow asks for it."""

    def __init__(self, make: Any) -> None:
        self._make = make

    def __get__(self, instance: Any, owner: Any) -> list[dict[str, Any]]:
        return self._make()  # type: ignore[no-any-return]


class IngestPlugin(AirflowPlugin):  # type: ignore[misc]  # Airflow is untyped to mypy here
    """Adds the REST API and the pages, and the status tables where FAB runs."""

    name = "ingest"
    listeners: ClassVar[list[Any]] = [listener]
    fastapi_apps = _Lazy(_apps)
    fastapi_root_middlewares = _Lazy(_root_middlewares)
    react_apps = _Lazy(_pages)
    appbuilder_views = _Lazy(_fab_views)
    external_views = _Lazy(_fab_links)
