"""Runs, rows and importers as the JSON that the API answers with and that ``-o json`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from airflow_provider_ingest.importers.manifest import Manifest
from airflow_provider_ingest.runs.records import (
    AWAITS_PUBLICATION,
    MASKED,
    ChunkRecord,
    RowRecord,
    RunRecord,
    RunRejects,
)

FILE_MEMBERS = ("name", "size", "sha256", "format", "columns")
"""What is known of every staged file; whatever else its source and format told is under ``facts``."""

HIDDEN = ("reference", AWAITS_PUBLICATION, MASKED)
"""Its place in the storage is nobody's business, and what is no fact of the file."""

TIMESTAMP = "%Y-%m-%dT%H:%M:%S.%fZ"


def timestamp(moment: datetime | None) -> str | None:
    """UTC with microseconds: ``2024-01-31T12:00:00.000000Z``.

    >>> timestamp(datetime(2024, 1, 31, 12, tzinfo=UTC))
    '2024-01-31T12:00:00.000000Z'
    """
    return None if moment is None else moment.astimezone(UTC).strftime(TIMESTAMP)


def run_resource(run: RunRecord) -> dict[str, Any]:
    """The run resource, without its rows."""
    return {
        "id": run.id,
        "importer": run.importer,
        "status": str(run.status),
        "user_id": run.user_id,
        "user_name": run.user_name,
        "original_filename": run.original_filename,
        "is_dry_run": run.is_dry_run,
        "retry_of": run.retry_of,
        "root_run": run.root_run,
        "attempt": run.attempt,
        "progress": run.progress.to_dict(),
        "chunks": {"total": run.chunks_total, "done": run.chunks_done},
        "summary": run.summary,
        "file": None if run.file is None else file_resource(run.file),
        "dag_id": run.dag_id,
        "dag_run_id": run.dag_run_id,
        "started_at": timestamp(run.started_at),
        "cancel_requested_at": timestamp(run.cancel_requested_at),
        "completed_at": timestamp(run.completed_at),
        "history": [dict(change) for change in run.history],
    }


def file_resource(file: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of the staged file."""
    shown = {name: file.get(name) for name in FILE_MEMBERS}
    return {**shown, "facts": {name: file[name] for name in sorted(file) if name not in (*FILE_MEMBERS, *HIDDEN)}}


def row_resource(row: RowRecord) -> dict[str, Any]:
    """A logged row."""
    return {
        "row_number": row.row_number,
        "line_number": row.line_number,
        "status": row.status,
        "data": row.data,
        "errors": row.errors,
        "trace": row.trace,
    }


def chunk_resource(chunk: ChunkRecord) -> dict[str, Any]:
    """One chunk: its rows, its counts, its times."""
    return {
        "index": chunk.index,
        "first_row": chunk.first_row,
        "rows": chunk.rows,
        **chunk.counts.to_dict(),
        "started_at": timestamp(chunk.started_at),
        "finished_at": timestamp(chunk.finished_at),
        "duration_seconds": chunk.outcome and round(chunk.outcome.duration, 3),
    }


def rejects_resource(run: RunRejects) -> dict[str, Any]:
    """How many of a run's rows failed."""
    return {
        "id": run.run_id,
        "status": str(run.status),
        "processed": run.processed,
        "failed": run.failed,
        "reject_rate": run.rate,
    }


def importer_resource(
    manifest: Mapping[str, Any], last_run: RunRecord | None, recent: Sequence[RunRejects] = ()
) -> dict[str, Any]:
    """An importer as its manifest declares it, with its DAG's state, its newest run and its last runs' rejects."""
    described = Manifest.from_dict(manifest)
    dag = manifest.get("dag") or {}
    schedule = dag.get("schedule")
    declared = {name: value for name, value in manifest.items() if name not in ("dag", "manifest_version")}
    source = {**manifest["source"], "takes_path": described.takes_path, "default_path": described.default_path}
    return {
        **declared,
        "source": source,
        "title": dag.get("title"),
        "description": dag.get("description"),
        "is_paused": bool(dag.get("is_paused")),
        "schedule": None if schedule in (None, "None") else schedule,  # Airflow writes "None" for no schedule
        "last_run": None if last_run is None else run_resource(last_run),
        "recent_runs": [rejects_resource(run) for run in recent],
    }
