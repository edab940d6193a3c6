"""The end of a run: the summary that stays, and the limits on failed rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import RejectLimitExceeded
from airflow_provider_ingest.runs.events import ImportStats, IngestRun
from airflow_provider_ingest.runs.outcome import ErrorCount
from airflow_provider_ingest.runs.progress import in_rows
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.runs.status import RunStatus

if TYPE_CHECKING:
    from typing import Protocol

    class Limit(Protocol):
        """A reject limit as an importer declares it."""

        @property
        def rows(self) -> int | None:
            """Most failed rows."""

        @property
        def percent(self) -> float | None:
            """Most failed rows in percent of all rows."""


TOLD_REASONS = 3


def event_of(run: RunRecord) -> IngestRun:
    """The run as its caller and its event handlers see it."""
    return IngestRun(
        id=run.id,
        importer=run.importer,
        status=str(run.status),
        is_dry_run=run.is_dry_run,
        dag_id=run.dag_id,
        dag_run_id=run.dag_run_id,
        original_filename=run.original_filename,
        user_id=run.user_id,
        user_name=run.user_name,
        retry_of=run.retry_of,
    )


def stats_of(run: RunRecord, end: RunStatus, now: datetime | None = None) -> ImportStats:
    """The run's numbers as they are now, when it is about to become ``end``."""
    duration = max(((now or datetime.now(UTC)) - run.started_at).total_seconds(), 0.0)
    came_to_its_end = end in (RunStatus.COMPLETED, RunStatus.COMPLETED_WITH_ERRORS)
    return ImportStats.of(run.counts, total=run.total, duration=round(duration, 3), came_to_its_end=came_to_its_end)


def summary_of(
    run: RunRecord,
    stats: ImportStats,
    *,
    error: dict[str, str] | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """The ``summary`` of a run that ends with these numbers.

    :param error: ``{"message", "code"}`` of what ended a failed run.
    """
    return {
        **run.counts.to_dict(),
        "unprocessed": stats.unprocessed_count,
        "total": run.total,
        "duration_seconds": stats.duration,
        "success_rate": stats.success_rate,
        "error": error,
        "warnings": list(warnings),
    }


def check_reject_limit(limit: Limit | None, run: RunRecord, errors: Sequence[ErrorCount] = ()) -> None:
    """Raise :class:`RejectLimitExceeded` if more of the run's rows failed than the limit allows.

    :param errors: what was wrong with them; the most frequent reasons are told, since the rows of a chunk that is
        given up are not logged.
    """
    if limit is None:
        return
    failed, total = run.counts.failed, run.total
    if limit.rows is not None and failed > limit.rows:
        raise RejectLimitExceeded(
            f"{in_rows(failed)} failed; the importer allows {limit.rows:,}.{_most_frequent(errors)}"
        )
    if limit.percent is not None and total and failed * 100 > limit.percent * total:
        raise RejectLimitExceeded(
            f"{failed:,} of {in_rows(total)} failed ({100 * failed / total:.1f} %); "
            f"the importer allows {limit.percent:g} %.{_most_frequent(errors)}"
        )


def _most_frequent(errors: Sequence[ErrorCount]) -> str:
    of_fields = [error for error in errors if error.field is not None] or list(errors)
    first = sorted(of_fields, key=lambda error: error.count, reverse=True)[:TOLD_REASONS]
    reasons = "; ".join(f"{error.field}: {error.message}" if error.field else error.message for error in first)
    return f" Most often: {reasons}" if reasons else ""
