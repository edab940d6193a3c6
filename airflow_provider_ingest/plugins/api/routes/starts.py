"""Starting runs: upload, trigger, retry; and cancelling them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.concurrency import run_in_threadpool

from airflow_provider_ingest import bootstrap
from airflow_provider_ingest.importers.suggestions import did_you_mean
from airflow_provider_ingest.plugins.api import datamodels as models
from airflow_provider_ingest.plugins.api import documents
from airflow_provider_ingest.plugins.api.dependencies import CurrentUser, User, ingest
from airflow_provider_ingest.plugins.api.multipart import invalid
from airflow_provider_ingest.plugins.api.parameters import RunId, Slug
from airflow_provider_ingest.plugins.api.uploads import Form, json_body, received_form
from airflow_provider_ingest.service.cancelling import cancel_message
from airflow_provider_ingest.service.resources import run_resource

router = APIRouter(tags=["runs"])

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="The same key with the same request within 24 hours answers with the first run.",
        pattern=r"^[!-~]([ -~]*[!-~])?$",
        max_length=255,
    ),
]


def no_flag_in_query(request: Request) -> None:
    """Refuse ``?dry_run=1``: overlooked, it would start a real run."""
    for name in request.query_params:
        if did_you_mean(name, ("dry_run", "force")):
            raise invalid(name, f"{name!r} belongs into the body of a start, not into its address.")


IN_BODY = [Depends(no_flag_in_query)]


@router.post(
    "/upload/{slug}",
    status_code=202,
    dependencies=IN_BODY,
    response_model=models.RunEnvelope,
    responses=documents.problems(404, 409, 413, 415, 422, 429),
    openapi_extra=documents.body(form=documents.UPLOAD_FORM),
)
async def upload_file(request: Request, slug: Slug, user: CurrentUser, idempotency_key: IdempotencyKey = None) -> Any:
    """Upload a file and start a run with it."""
    await run_in_threadpool(_check_upload, user, slug, idempotency_key)
    async with received_form(request, "dry_run", "force") as form:
        return await run_in_threadpool(_start_upload, user, slug, form, idempotency_key)


@router.post(
    "/trigger/{slug}",
    status_code=202,
    dependencies=IN_BODY,
    response_model=models.RunEnvelope,
    responses=documents.problems(400, 404, 409, 413, 422, 429),
    openapi_extra=documents.body(model=models.TriggerBody),
)
async def trigger(request: Request, slug: Slug, user: CurrentUser, idempotency_key: IdempotencyKey = None) -> Any:
    """Start a run of an importer that fetches its file itself."""
    await run_in_threadpool(user.check_importer, slug, "POST")
    body = await json_body(request, models.TriggerBody)
    return await run_in_threadpool(_trigger, user, slug, body, idempotency_key)


@router.post(
    "/{run_id}/retry",
    status_code=202,
    dependencies=IN_BODY,
    response_model=models.RunEnvelope,
    responses=documents.problems(400, 404, 409, 413, 415, 422, 429),
    openapi_extra=documents.body(form=documents.CORRECTED_FORM, model=models.RetryBody),
)
async def retry(request: Request, run_id: RunId, user: CurrentUser, idempotency_key: IdempotencyKey = None) -> Any:
    """Start a run of the failed rows of a run: as they were logged, or corrected in an uploaded file."""
    await run_in_threadpool(_check_retry, user, run_id)
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        async with received_form(request, "dry_run") as form:
            return await run_in_threadpool(_retry, user, run_id, form.flag("dry_run"), form, idempotency_key)
    body = await json_body(request, models.RetryBody)
    return await run_in_threadpool(_retry, user, run_id, body.dry_run, None, idempotency_key)


@router.post("/{run_id}/cancel", response_model=models.Message, responses=documents.problems(404, 409, 422))
def cancel(run_id: RunId, user: CurrentUser) -> Any:
    """Ask for the end of a run: no new chunk starts, those in flight finish, rows already written stay."""
    with ingest() as service:
        user.check_run(service.run(run_id), "PUT")
        return {"message": cancel_message(service.cancel(run_id))}


def _check_upload(user: User, slug: str, key: str | None) -> None:
    user.check_importer(slug, "POST")
    with ingest() as service:
        service.check_upload(slug, user.caller, key)


def _start_upload(user: User, slug: str, form: Form, key: str | None) -> dict[str, Any]:
    dry_run, force = form.flag("dry_run"), form.flag("force")
    with ingest() as service:
        run = service.start_upload(slug, form.upload, user.caller, dry_run=dry_run, force=force, key=key)
    return _started(run, form)


def _trigger(user: User, slug: str, body: models.TriggerBody, key: str | None) -> dict[str, Any]:
    with ingest() as service:
        run = service.trigger(slug, user.caller, payload=body.payload, dry_run=body.dry_run, force=body.force, key=key)
    return {"data": run_resource(run)}


def _check_retry(user: User, run_id: int) -> None:
    with ingest() as service:
        user.check_run(service.run(run_id), "POST")


def _retry(user: User, run_id: int, dry_run: bool, form: Form | None, key: str | None) -> dict[str, Any]:
    with ingest() as service:
        corrected = form.upload if form else None
        run = service.retry(run_id, user.caller, dry_run=dry_run, corrected=corrected, key=key)
    return _started(run, form)


def _started(run: Any, form: Form | None) -> dict[str, Any]:
    """The answer; an upload that an earlier request has brought already is not kept twice."""
    if form is not None and run.payload != form.upload.ref:
        bootstrap.staging().remove(form.upload.ref)
    return {"data": run_resource(run)}
