"""Looking at importers, and their templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from airflow_provider_ingest.plugins.api import datamodels as models
from airflow_provider_ingest.plugins.api import documents
from airflow_provider_ingest.plugins.api.dependencies import CurrentUser, User, ingest
from airflow_provider_ingest.plugins.api.parameters import Slug
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.service.resources import importer_resource

router = APIRouter(prefix="/importers", tags=["importers"])


@router.get("", response_model=models.ImporterList, responses=documents.problems())
def list_importers(user: CurrentUser) -> Any:
    """The importers that the caller may read, by slug, each with its newest run."""
    with ingest() as service:
        manifests = [manifest for manifest in service.importers() if user.may("GET", manifest["slug"])]
        runs = service.latest_runs([manifest["slug"] for manifest in manifests])
    return {"data": [_resource(manifest, runs.get(manifest["slug"]), user) for manifest in manifests]}


@router.get("/{slug}", response_model=models.ImporterEnvelope, responses=documents.problems(404, 422))
def show_importer(slug: Slug, user: CurrentUser) -> Any:
    """One importer."""
    user.check_importer(slug)
    with ingest() as service:
        manifest = service.importer(slug)
        runs = service.latest_runs([slug])
    return {"data": _resource(manifest, runs.get(slug), user)}


@router.get(
    "/{slug}/template",
    response_class=Response,
    responses={**documents.csv_answer("Header and an example row."), **documents.problems(404, 422)},
)
def template(slug: Slug, user: CurrentUser) -> Response:
    """A CSV with the importer's columns and an example row."""
    user.check_importer(slug)
    with ingest() as service:
        content = service.template(slug)
        name = service.importer(slug)["slug"]
    headers = {"Content-Disposition": f'attachment; filename="{name}-template.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _resource(manifest: Mapping[str, Any], last_run: RunRecord | None, user: User) -> dict[str, Any]:
    return {**importer_resource(manifest, last_run), "can": {"start": user.may("POST", manifest["slug"])}}
