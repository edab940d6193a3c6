"""The bodies of the API, as its OpenAPI document describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.status import RunStatus

Timestamp = Annotated[
    str, Field(json_schema_extra={"format": "date-time", "examples": ["2024-01-31T12:00:00.000000Z"]})
]


class Problem(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Conflict"])
    status: int = Field(examples=[409])
    detail: str = Field(description="For people.", examples=["Run 7 is still processing; retry it when it has ended."])
    code: str = Field(description="For programs; stable.", examples=["run_not_finished"])
    errors: list[FieldError] | None = Field(default=None, description="With 422: what is wrong with which parameter.")


class FieldError(BaseModel):
    """One malformed parameter."""

    field: str
    message: str


class ProgressResource(BaseModel):
    """How many rows came to which end."""

    total: int = Field(description="Rows of the file; 0 until it is planned.")
    processed: int
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
    success_rate: float = Field(description="In percent.")
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


class Links(BaseModel):
    """Other pages of a listing."""

    first: str
    last: str
    prev: str | None
    next: str | None


class Meta(BaseModel):
    """Where a page stands in its listing; ``from`` and ``to`` count from 1 and are null on an empty page."""

    current_page: int
    per_page: int
    last_page: int
    from_: int | None = Field(alias="from")
    to: int | None
    total: int


class RunCan(BaseModel):
    """What the caller can do with a run now: by right and by its status."""

    cancel: bool
    retry: bool
    download: bool


class RunDetail(RunResource):
    """A run with its logged rows, by row number."""

    can: RunCan
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


class RunEnvelope(BaseModel):
    """A run."""

    data: RunResource


class RunDetailEnvelope(BaseModel):
    """A run with its rows."""

    data: RunDetail


class Message(BaseModel):
    """A sentence."""

    message: str


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


class SourceResource(BaseModel):
    """Where an importer's rows come from."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["upload"])
    options: dict[str, Any]
    takes_path: bool = Field(description="Whether a start may name the file to read.")
    default_path: str | None


class TargetResource(BaseModel):
    """Where they go."""

    table: str
    conn_id: str


class ImporterCan(BaseModel):
    """What the caller can do with an importer, by right."""

    start: bool


class ImporterResource(BaseModel):
    """An importer: its definition as its DAG carries it, and the DAG's state."""

    model_config = ConfigDict(extra="allow")

    slug: str
    dag_id: str
    source: SourceResource
    target: TargetResource
    mappings: list[dict[str, Any]]
    fingerprint: str = Field(description="SHA-256 of the definition.")
    is_paused: bool
    schedule: str | None
    last_run: RunResource | None
    can: ImporterCan


class ImporterList(BaseModel):
    """All importers that the caller may read."""

    data: list[ImporterResource]


class ImporterEnvelope(BaseModel):
    """An importer."""

    data: ImporterResource


class PreviewColumn(BaseModel):
    """A column of the file, and the attributes that it fills."""

    name: str
    attributes: list[str]


class MissingField(BaseModel):
    """A field of the importer that the file has under none of its names."""

    field: str
    did_you_mean: str | None


class PreviewResource(BaseModel):
    """What a file would be taken for."""

    format: str
    format_label: str = Field(examples=["csv (gzip)"])
    facts: dict[str, Any]
    columns: list[PreviewColumn]
    missing: list[MissingField]
    rows: list[dict[str, Any]] = Field(description="The first rows.")
    malformed: int = Field(description="Records of the looked-at part that are no rows.")
    warnings: list[str]
    is_partial: bool = Field(description="Whether only the beginning of the file was looked at.")


class PreviewEnvelope(BaseModel):
    """A preview."""

    data: PreviewResource


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
