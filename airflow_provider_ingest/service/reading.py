"""What can be looked at: a run's rows, its error summary, the importers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_provider_ingest.importers.manifest import Manifest
from airflow_provider_ingest.runs.outcome import ErrorCount
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.service.cells import escape_cell
from airflow_provider_ingest.service.failed_rows import write_rows
from airflow_provider_ingest.service.requests import Ports

ROW_STATUSES = ("success", "failed", "skipped")
"""The statuses of logged rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPaging:
    """Which of a run's logged rows to show."""

    page: int = 1
    per_page: int = 100
    status: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSummary:
    """The failed rows of a run by message, most frequent first."""

    total_failed_rows: int
    general: tuple[ErrorCount, ...]
    validation: tuple[ErrorCount, ...]

    def to_dict(self) -> dict[str, Any]:
        """The error summary resource."""
        return {
            "total_failed_rows": self.total_failed_rows,
            "error_summary": [{"message": error.message, "count": error.count} for error in self.general],
            "validation_summary": [
                {"message": f"{error.field}: {error.message}", "count": error.count} for error in self.validation
            ],
        }


def error_summary(ports: Ports, run: RunRecord) -> ErrorSummary:
    """The run's error summary; of a run at work that of the chunks that are finished."""
    errors = ports.store.error_counts(run.id)
    return ErrorSummary(
        total_failed_rows=run.counts.failed,
        general=tuple(error for error in errors if error.field is None),
        validation=tuple(error for error in errors if error.field is not None),
    )


def logs_rows(ports: Ports, run: RunRecord, manifest: Mapping[str, Any] | None) -> bool:
    """Whether the single-run endpoint has ``rows``: the importer logs some, or the run has logged ones anyway."""
    if manifest is None or manifest.get("row_log") != "none":
        return True
    return ports.store.count_rows(run.id) > 0


def template(manifest: Mapping[str, Any]) -> bytes:
    """A CSV with the importer's columns and one example row."""
    described = Manifest.from_dict(manifest)
    header = [escape_cell(column) for column in described.template_header()]
    return write_rows([header, list(described.example_row().values())])
