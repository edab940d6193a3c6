"""Looking at importers, and their templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import unquote

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Request, Response
from fastapi.concurrency import run_in_threadpool

from airflow_provider_ingest.exceptions import FormatError, UnsupportedFile
from airflow_provider_ingest.plugins.api import datamodels as models
from airflow_provider_ingest.plugins.api import documents
from airflow_provider_ingest.plugins.api.dependencies import CurrentUser, User, ingest
from airflow_provider_ingest.plugins.api.parameters import Slug
from airflow_provider_ingest.plugins.api.uploads import capped_body
from airflow_provider_ingest.runs.records import RunRecord, RunRejects
from airflow_provider_ingest.service.preview import MAX_HEAD
from airflow_provider_ingest.service.preview import preview as preview_of
from airflow_provider_ingest.service.resources import importer_resource

router = APIRouter(prefix="/importers", tags=["importers"])

PREVIEWS = CapacityLimiter(2)
"""At how many files the server looks at once: they take memory, and the threads that all other answers need."""


@router.get("", response_model=models.ImporterList, responses=documents.problems())
def list_importers(user: CurrentUser) -> Any:
    """The importers that the caller may read, by slug, each with its newest run."""
    with ingest() as service:
        manifests = [manifest for manifest in service.importers() if user.may("GET", manifest["slug"])]
        slugs = [manifest["slug"] for manifest in manifests]
        runs, recent = service.latest_runs(slugs), service.recent_rejects(slugs)
    return {"data": [_resource(each, runs.get(each["slug"]), recent.get(each["slug"], ()), user) for each in manifests]}


@router.get("/{slug}", response_model=models.ImporterEnvelope, responses=documents.problems(404, 422))
def show_importer(slug: Slug, user: CurrentUser) -> Any:
    """One importer."""
    user.check_importer(slug)
    with ingest() as service:
        manifest = service.importer(slug)
        runs, recent = service.latest_runs([slug]), service.recent_rejects([slug])
    return {"data": _resource(manifest, runs.get(slug), recent.get(slug, ()), user)}


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


@router.post(
    "/{slug}/preview",
    response_model=models.PreviewEnvelope,
    responses=documents.problems(404, 413, 415, 422),
    openapi_extra=documents.octets("The first bytes of the file, at most 512 KiB."),
)
async def preview(
    request: Request,
    slug: Slug,
    user: CurrentUser,
    x_file_name: Annotated[
        str | None, Header(alias="X-File-Name", max_length=2000, description="Name of the file, URL-encoded.")
    ] = None,
    x_file_size: Annotated[
        int | None, Header(alias="X-File-Size", ge=0, le=2**63 - 1, description="Size of the whole file.")
    ] = None,
) -> Any:
    """See what a file would be taken for before it is sent: its first rows, and how its columns fit the importer."""
    await run_in_threadpool(user.check_importer, slug, "POST")
    head = await capped_body(request, MAX_HEAD)
    if not head:
        raise UnsupportedFile("The file is empty.")
    name = unquote(x_file_name) if x_file_name else None
    return await run_sync(_preview, slug, head, name, max(x_file_size or 0, len(head)), limiter=PREVIEWS)


def _preview(slug: str, head: bytes, name: str | None, size: int) -> dict[str, Any]:
    with ingest() as service:
        manifest = service.importer(slug)
    try:
        return {"data": preview_of(manifest, head, name, size)}
    except FormatError as error:
        raise UnsupportedFile(str(error)) from error


def _resource(
    manifest: Mapping[str, Any], last_run: RunRecord | None, recent: Sequence[RunRejects], user: User
) -> dict[str, Any]:
    return {**importer_resource(manifest, last_run, recent), "can": {"start": user.may("POST", manifest["slug"])}}
