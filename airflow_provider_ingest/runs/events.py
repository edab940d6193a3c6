"""The hooks an importer may implement, and what they are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.runs.progress import Counts

if TYPE_CHECKING:
    from airflow_provider_ingest.runs.failure import RowFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRun:
    """A run as its caller and its event handlers see it."""

    id: int
    importer: str
    status: str
    is_dry_run: bool
    dag_id: str
    dag_run_id: str
    original_filename: str | None = None
    user_id: int | None = None
    user_name: str | None = None
    retry_of: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportStats:
    """The final numbers of a run, as ``after_import`` receives them.

    >>> stats = ImportStats(total_rows=4, created_count=2, updated_count=1, failure_count=1, duration=1.5)
    >>> stats.success_count, stats.success_rate, stats.was_fully_successful
    (3, 75.0, False)

    :param duration: seconds from the start of the run to its end.
    :param came_to_its_end: false for a run that failed or was cancelled.
    """

    total_rows: int = 0
    failure_count: int = 0
    created_count: int = 0
    updated_count: int = 0
    skipped_count: int = 0
    unprocessed_count: int = 0
    duration: float = 0.0
    came_to_its_end: bool = True

    @property
    def success_count(self) -> int:
        """Rows created, updated or skipped on purpose."""
        return self.created_count + self.updated_count + self.skipped_count

    @property
    def success_rate(self) -> float:
        """Successful rows in percent of all rows; without rows 100.0, or 0.0 if the run failed or was cancelled."""
        if not self.total_rows:
            return 100.0 if self.came_to_its_end else 0.0
        return round(100.0 * self.success_count / self.total_rows, 2)

    @property
    def was_fully_successful(self) -> bool:
        """Whether the run came to its end, no row failed and none was left unprocessed."""
        return self.came_to_its_end and self.failure_count == 0 and self.unprocessed_count == 0

    def to_dict(self) -> dict[str, Any]:
        """All members as a JSON object."""
        return {
            "total_rows": self.total_rows,
            "success_count": self.success_count,
            "failure_count": self.failure_count,
            "created_count": self.created_count,
            "updated_count": self.updated_count,
            "skipped_count": self.skipped_count,
            "unprocessed_count": self.unprocessed_count,
            "success_rate": self.success_rate,
            "was_fully_successful": self.was_fully_successful,
            "duration": self.duration,
        }

    @classmethod
    def of(cls, counts: Counts, *, total: int, duration: float, came_to_its_end: bool) -> ImportStats:
        """The statistics of a run that ended with these counts."""
        return cls(
            total_rows=total,
            failure_count=counts.failed,
            created_count=counts.created,
            updated_count=counts.updated,
            skipped_count=counts.skipped,
            unprocessed_count=max(total - counts.processed, 0),
            duration=duration,
            came_to_its_end=came_to_its_end,
        )


class EventHandler:
    """Base of lifecycle handlers: override what you need.

    ``before_import`` runs once before the first chunk and ends the run as failed if it raises; ``after_import``
    runs once with the final numbers, before the terminal status shows, on every ending. ``on_error`` and
    ``on_row_processed`` run in the chunk's worker, after the chunk's rows are committed; overriding
    ``on_row_processed`` costs a Python loop over all rows.

    >>> class Announce(EventHandler):
    ...     def after_import(self, run, stats):
    ...         print(f"{run.importer}: {stats.success_count} rows")
    """

    def before_import(self, run: IngestRun) -> None:
        """Before any row is read."""

    def on_row_processed(self, run: IngestRun, row: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        """After a row was written; ``row`` is the source's, ``record`` the target's."""

    def on_error(self, run: IngestRun, row: Mapping[str, Any], error: RowFailure) -> None:
        """When a row failed; ``row`` also carries ``row_number``."""

    def after_import(self, run: IngestRun, stats: ImportStats) -> None:
        """After the last row, whatever the end."""


def overrides(handler: EventHandler, hook: str) -> bool:
    """Whether the handler implements ``hook`` itself."""
    return getattr(type(handler), hook) is not getattr(EventHandler, hook)
