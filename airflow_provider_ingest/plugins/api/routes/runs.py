"""Looking at runs: list, one run with its rows, its error summary, its failed rows as a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from airflow_provider_ingest.plugins.api import datamodels as models
from airflow_provider_ingest.plugins.api import documents, paging
from airflow_provider_ingest.plugins.api.dependencies import CurrentUser, User, ingest
from airflow_provider_ingest.plugins.api.parameters import InUtc, NoNul, RunId, RunNumber
from airflow_provider_ingest.runs.records import RunFilter, RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.service import FailedRows, IngestService, RowPaging
from airflow_provider_ingest.service.resources import chunk_resource, row_resource, run_resource
from airflow_provider_ingest.settings import load_settings

router = APIRouter(tags=["runs"])

Importer = Annotated[str | None, Query(max_length=200, description="Slug of an importer."), NoNul]
StartedAfter = Annotated[datetime | None, Query(description="Only runs recorded at or after this time."), InUtc]
StartedBefore = Annotated[datetime | None, Query(description="Only runs recorded before this time."), InUtc]

RowStatus = Literal["success", "failed", "skipped", "unprocessed"]
UNPROCESSED = "`unprocessed` are those that chunks logged which did not finish."


@router.get("/", response_model=models.RunList, responses=documents.problems(422))
def list_runs(
    request: Request,
    reader: CurrentUser,
    page: paging.PageNumber = 1,
    per_page: paging.PageSize = paging.PER_PAGE,
    importer: Importer = None,
    status: Annotated[list[RunStatus] | None, Query(description="One or more statuses.")] = None,
    user: Annotated[
        str | None, Query(max_length=250, description="Name of the user who started the run."), NoNul
    ] = None,
    started_after: StartedAfter = None,
    started_before: StartedBefore = None,
    dag_run_id: Annotated[str | None, Query(max_length=250, description="The run of this DAG run."), NoNul] = None,
    root_run: Annotated[RunNumber | None, Query(description="A run and all retries that came from it.")] = None,
) -> Any:
    """The runs of all importers that the caller may read, most recent first."""
    with ingest() as service:
        which = RunFilter(
            importers=readable_importers(service, reader, importer),
            importer=importer,
            statuses=frozenset(status) if status else None,
            user_name=user,
            started_after=started_after,
            started_before=started_before,
            dag_run_id=dag_run_id,
            root_run=root_run,
        )
        found = service.runs(which, page, per_page)
    return {
        "data": [run_resource(run) for run in found.items],
        "links": paging.links(request, found),
        "meta": paging.meta(found),
    }


@router.get("/totals", response_model=models.TotalsEnvelope, responses=documents.problems(422))
def show_totals(
    reader: CurrentUser,
    importer: Importer = None,
    started_after: StartedAfter = None,
    started_before: StartedBefore = None,
) -> Any:
    """What became of the rows of the runs that the caller may read."""
    with ingest() as service:
        which = RunFilter(
            importers=readable_importers(service, reader, importer),
            importer=importer,
            started_after=started_after,
            started_before=started_before,
        )
        return {"data": asdict(service.totals(which))}


@router.get(
    "/{run_id}",
    response_model=models.RunDetailEnvelope,
    response_model_exclude_unset=True,
    responses=documents.problems(404, 422),
)
def show_run(
    run_id: RunId,
    user: CurrentUser,
    rows_page: paging.PageNumber = 1,
    rows_per_page: Annotated[int | None, Query(ge=1, le=1000, description="At most [ingest] max_show_rows.")] = None,
    rows_status: Annotated[RowStatus | None, Query(description=f"Only rows that ended so; {UNPROCESSED}")] = None,
    rows_message: Annotated[
        str | None, Query(max_length=2000, description="Only rows of one line of the error summary."), NoNul
    ] = None,
) -> Any:
    """One run with a page of its logged rows, by row number."""
    most = load_settings().max_show_rows
    paged = RowPaging(
        page=rows_page, per_page=min(rows_per_page or most, most), status=rows_status, message=rows_message
    )
    with ingest() as service:
        run = user.check_run(service.run(run_id))
        rows = service.rows(run, paged) if user.may_read_rows(run.importer) else None
        can, standstill = abilities(service, user, run), service.standstill(run)
    data = {**run_resource(run), "can": can, "standstill": standstill}
    if rows is not None:
        data |= {"rows": [row_resource(row) for row in rows.items], "rows_meta": paging.meta(rows)}
    return {"data": data}


@router.get("/{run_id}/chunks", response_model=models.ChunkList, responses=documents.problems(404, 422))
def list_chunks(run_id: RunId, user: CurrentUser) -> Any:
    """The chunks of a run: where they begin, how far they are, how long they took."""
    with ingest() as service:
        user.check_run(service.run(run_id))
        return {"data": [chunk_resource(chunk) for chunk in service.chunks(run_id)]}


@router.get(
    "/{run_id}/errors/summary", response_model=models.ErrorSummaryEnvelope, responses=documents.problems(404, 422)
)
def error_summary(run_id: RunId, user: CurrentUser) -> Any:
    """The failed rows of a run, counted by message."""
    with ingest() as service:
        user.check_run(service.run(run_id))
        return {"data": service.error_summary(run_id).to_dict()}


@router.get(
    "/{run_id}/failed-rows/download",
    response_class=StreamingResponse,
    responses={**documents.csv_answer("The failed rows."), **documents.problems(404, 409, 422)},
)
def download_failed_rows(run_id: RunId, user: CurrentUser) -> StreamingResponse:
    """The failed rows as a CSV: the original columns, `_error_message` and `_row_number`.

    Cells that a spreadsheet would take for a formula begin with an apostrophe; the same file uploaded to retry loses
    them again.
    """
    with ingest() as service:
        user.check_rows(user.check_run(service.run(run_id)))
        download = service.failed_rows(run_id)
    headers = {"Content-Disposition": f'attachment; filename="{download.filename}"'}
    return StreamingResponse(_stream(download), media_type="text/csv; charset=utf-8", headers=headers)


def readable_importers(service: IngestService, user: User, importer: str | None) -> frozenset[str] | None:
    """The importers whose runs the caller may read; ``None`` if that is all of them."""
    if importer is not None:
        return frozenset({importer} if user.may("GET", importer) else ())
    slugs = service.known_importers()
    readable = frozenset(slug for slug in slugs if user.may("GET", slug))
    return None if len(readable) == len(slugs) else readable


def abilities(service: IngestService, user: User, run: RunRecord) -> dict[str, Any]:
    """What the caller can do with the run now."""
    has_ended = run.status.is_terminal
    kept = service.kept_rows(run) if has_ended and run.counts.failed else None
    may_retry = kept is not None and user.may("POST", run.importer)
    refusal = kept.refusal if kept is not None and may_retry else None
    return {
        "cancel": not has_ended and user.may("PUT", run.importer),
        "retry": may_retry and refusal is None,
        "correct": kept is not None and may_retry and kept.can_correct,
        "needs_file": refusal and str(refusal),
        "download": kept is not None and kept.logged > 0 and user.may_read_rows(run.importer),
    }


def _stream(download: FailedRows) -> Iterator[bytes]:
    """The file, over a session that lives as long as the download."""
    with ingest() as service:
        yield from service.stream(download)
