"""What operators of an Airflow see of the runs: metrics, and the ids on every log line of a task.

Metrics go wherever Airflow's own go (``[metrics]``: StatsD, Datadog, OpenTelemetry). Only counts, times and names of
importers are sent, never row values.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from airflow.sdk.observability import stats
from structlog.contextvars import bind_contextvars

if TYPE_CHECKING:
    from airflow_provider_ingest.runs.outcome import ChunkOutcome
    from airflow_provider_ingest.runs.records import RunRecord

ROWS = "ingest.rows"
FAILED_ROWS = "ingest.failed_rows"
CHUNK_SECONDS = "ingest.chunk_seconds"
RUN_SECONDS = "ingest.run_seconds"


def name_in_logs(run: RunRecord, chunk: int | None = None) -> None:
    """Put the run's id and importer, and the chunk's index, on every log line that the task writes from here on."""
    bind_contextvars(ingest_run=run.id, importer=run.importer)
    if chunk is not None:
        bind_contextvars(chunk=chunk)


def measure_chunk(run: RunRecord, outcome: ChunkOutcome) -> None:
    """Count the rows of a chunk that was just worked, and send its time."""
    tags = _tags(run)
    stats.incr(ROWS, outcome.counts.processed, tags=tags)
    stats.incr(FAILED_ROWS, outcome.counts.failed, tags=tags)
    stats.timing(CHUNK_SECONDS, timedelta(seconds=outcome.duration), tags=tags)


def measure_run(run: RunRecord) -> None:
    """Send the time from the start of a run to its end, tagged with how it ended."""
    took = (run.completed_at or datetime.now(UTC)) - run.started_at
    stats.timing(RUN_SECONDS, max(took, timedelta()), tags={**_tags(run), "status": str(run.status)})


def _tags(run: RunRecord) -> dict[str, str]:
    return {"importer": run.importer, "dry_run": str(run.is_dry_run).lower()}
