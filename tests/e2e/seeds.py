"""Runs that tests need and that no task has to work for."""

from __future__ import annotations

from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from tests.contract.factories import log_line, new_run, plan, row_log

INVALID = "The given data was invalid."


def failed_run(store: RunStore, importer: str, failed: int = 2) -> RunRecord:
    """A run that ended with failed rows only."""
    run = store.create_run(new_run(importer, original_filename=f"{importer}.csv", user_name="admin"))
    store.change_status(run.id, RunStatus.PROCESSING)
    store.record_plan(run.id, plan(failed))
    store.start_chunk(run.id, 0)
    lines = [log_line(number, validation={"sku": ["is required"]}) for number in range(1, failed + 1)]
    store.append_rows(run.id, 0, row_log(*lines))
    errors = (ErrorCount(message=INVALID, count=failed), ErrorCount(field="sku", message="is required", count=failed))
    store.finish_chunk(run.id, 0, ChunkOutcome(counts=Counts(failed=failed), errors=errors))
    summary = {**Counts(failed=failed).to_dict(), "unprocessed": 0, "total": failed, "duration_seconds": 1.0}
    summary |= {"success_rate": 0.0, "error": None, "warnings": []}
    store.change_status(run.id, RunStatus.COMPLETED_WITH_ERRORS, summary=summary)
    return store.get_run(run.id)
