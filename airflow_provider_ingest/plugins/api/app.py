"""The FastAPI app that Airflow's API server mounts."""

from __future__ import annotations

from fastapi import FastAPI

from airflow_provider_ingest.plugins.api import problems
from airflow_provider_ingest.plugins.api.dependencies import GUARD
from airflow_provider_ingest.plugins.api.middleware import ApiMiddleware
from airflow_provider_ingest.plugins.api.routes import assets, importers, runs, starts


def make_app() -> FastAPI:
    """A new app: every route behind the guard, every error a problem document."""
    app = FastAPI(
        title="Airflow ingest API",
        version="1.0",
        dependencies=GUARD,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    problems.install(app)
    app.add_middleware(ApiMiddleware)
    for routes in (assets, importers, starts, runs):
        app.include_router(routes.router)
    return app
