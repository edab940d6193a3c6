"""Importers, and files that are looked at before they are sent."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from airflow_provider_ingest.plugins.api.datamodels.runs import RunResource
from airflow_provider_ingest.runs.status import RunStatus


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


class RecentRun(BaseModel):
    """How many rows of one of an importer's last runs failed."""

    id: int
    status: RunStatus
    processed: int
    failed: int
    reject_rate: float | None = Field(description="`failed` / `processed`, from 0 to 1; null if no row was processed.")


class ImporterResource(BaseModel):
    """An importer: its definition as its DAG carries it, and the DAG's state."""

    model_config = ConfigDict(extra="allow")

    slug: str
    dag_id: str
    source: SourceResource
    target: TargetResource
    mappings: list[dict[str, Any]]
    fingerprint: str = Field(description="SHA-256 of the definition.")
    title: str | None = Field(description="The display name of its DAG, where it has one.")
    description: str | None = Field(description="That of its DAG.")
    is_paused: bool
    schedule: str | None
    last_run: RunResource | None
    recent_runs: list[RecentRun] = Field(description="The last 20 runs at most, newest first.")
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
