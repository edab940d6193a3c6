"""Runs, their rows, chunks and errors, and how to start them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from airflow_provider_ingest.plugins.api.datamodels.common import Links, Meta, Timestamp
from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.status import RunStatus


class ProgressResource(BaseModel):
    """How many rows came to which end in this run: a retry counts its rows again, a dry run what it does not keep."""

    total: int = Field(description="Rows of the file, or those that are retried; 0 until they are planned.")
    processed: int = Field(description="successful + failed")
    successful: int = Field(description="created + updated + skipped")
    failed: int
    created: int
    updated: int
    skipped: int
    unprocessed: int


class ChunksResource(BaseModel):
    """How many chunks there are, and how many are done."""

    total: int
    done: int


class RunErrorResource(BaseModel):
    """Why a run failed as a whole."""

    message: str
    code: str


class SummaryResource(BaseModel):
    """The final numbers of a run."""

    model_config = ConfigDict(extra="allow")

    created: int
    updated: int
    skipped: int
    failed: int
    unprocessed: int
    total: int
    duration_seconds: float
    success_rate: float = Field(
        description="In percent of all rows; without rows 100, or 0 if the run failed or was cancelled."
    )
    error: RunErrorResource | None
    warnings: list[str]


class FileResource(BaseModel):
    """The source file as it was staged; ``facts`` are what its source and format told: encoding, delimiter, …"""

    name: str | None
    size: int | None
    sha256: str | None
    format: str | None
    columns: list[str] | None
    facts: dict[str, Any]


class ErrorsResource(BaseModel):
    """Why a row failed."""

    message: str = Field(examples=["The given data was invalid."])
    code: str = Field(examples=["email"])
    stage: Stage
    validation: dict[str, list[str]] = Field(examples=[{"email": ["is no e-mail address"]}])


class RowResource(BaseModel):
    """A logged row; ``data`` are its original fields."""

    row_number: int = Field(description="Data row in the original file, from 1.")
    line_number: int | None = Field(description="Physical line where the record starts.")
    status: Literal["success", "failed", "skipped"]
    data: dict[str, Any]
    errors: ErrorsResource | None
    trace: dict[str, Any] | None


class StatusChange(BaseModel):
    """When a run came into a status."""

    status: RunStatus
    at: str


class RunResource(BaseModel):
    """An ingest run."""

    id: int
    importer: str = Field(description="Slug of the importer.", examples=["products"])
    status: RunStatus
    user_id: int | None
    user_name: str | None
    original_filename: str | None
    is_dry_run: bool
    retry_of: int | None
    root_run: int | None = Field(description="The first run of a family of retries.")
    attempt: int = Field(description="1, and one more with each retry of a retry.")
    progress: ProgressResource
    chunks: ChunksResource
    summary: SummaryResource | None
    file: FileResource | None
    dag_id: str
    dag_run_id: str
    started_at: Timestamp
    cancel_requested_at: Timestamp | None
    completed_at: Timestamp | None
    history: list[StatusChange]


class RunCan(BaseModel):
    """What the caller can do with a run now: by right and by its status."""

    cancel: bool
    retry: bool = Field(description="Retry the failed rows as they are logged.")
    correct: bool = Field(description="Retry the failed rows from a corrected file.")
    needs_file: str | None = Field(description="Why they cannot be retried as they are logged.")
    download: bool


class RunDetail(RunResource):
    """A run with its logged rows, by row number."""

    can: RunCan
    standstill: str | None = Field(description="Why nobody works on an open run, if that will not pass by itself.")
    rows: list[RowResource] = Field(
        default=[], description="Left out where the importer logs no rows, or the caller may not read task logs."
    )
    rows_meta: Meta | None = Field(default=None, description="Paging of `rows`.")


class ChunkResource(BaseModel):
    """A chunk of a run."""

    index: int
    first_row: int
    rows: int
    created: int
    updated: int
    skipped: int
    failed: int
    started_at: Timestamp | None
    finished_at: Timestamp | None
    duration_seconds: float | None


class ChunkList(BaseModel):
    """All chunks of a run in order; empty until it is planned."""

    data: list[ChunkResource]


class RunList(BaseModel):
    """A page of runs."""

    data: list[RunResource]
    links: Links
    meta: Meta


class TotalsResource(BaseModel):
    """What became of the rows of many runs, each row counted once however often it was tried or retried."""

    runs: int = Field(description="All of them, dry runs and retries too.")
    imported: int = Field(description="Rows created or updated; dry runs keep none.")
    failed: int = Field(description="Failed rows of first runs, less those that retries got through; of dry runs none.")


class TotalsEnvelope(BaseModel):
    """Totals."""

    data: TotalsResource


class RunEnvelope(BaseModel):
    """A run."""

    data: RunResource


class RunDetailEnvelope(BaseModel):
    """A run with its rows."""

    data: RunDetail


class MessageCount(BaseModel):
    """How many failed rows have this message."""

    message: str
    count: int


class ErrorSummaryResource(BaseModel):
    """The failed rows of a run by message."""

    total_failed_rows: int
    error_summary: list[MessageCount]
    validation_summary: list[MessageCount] = Field(
        description="By field: `<field>: <message>`.",
        examples=[[{"message": "email: is no e-mail address", "count": 3}]],
    )


class ErrorSummaryEnvelope(BaseModel):
    """An error summary."""

    data: ErrorSummaryResource


class TriggerBody(BaseModel):
    """How to start an importer that fetches its file itself."""

    model_config = ConfigDict(extra="forbid")

    payload: StrictStr | None = Field(
        default=None, description="The file to read, for sources that take a path.", min_length=1, max_length=4096
    )
    dry_run: StrictBool = Field(default=False, description="Do everything but keep the rows.")
    force: StrictBool = Field(default=False, description="Import a file again that the importer has imported before.")


class RetryBody(BaseModel):
    """How to retry the failed rows of a run."""

    model_config = ConfigDict(extra="forbid")

    dry_run: StrictBool = Field(default=False, description="Do everything but keep the rows.")
