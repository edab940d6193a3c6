"""Retrying the failed rows of a run in a new run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from airflow_provider_ingest.exceptions import Conflict, ImporterNotFound, NothingFailed
from airflow_provider_ingest.runs.records import MASKED, RunRecord
from airflow_provider_ingest.service.requests import GONE, Caller, Ports, StagedUpload, fingerprint_of
from airflow_provider_ingest.service.starting import (
    SHA256,
    Start,
    check_idempotency_key,
    check_startable,
    earlier_run,
    record,
)

CORRECTED = "corrected"
"""Run option: the payload is a corrected file of failed rows, matched by ``_row_number``."""

RETRY_WITH_FILE = "retry with a corrected file."
IMPORT_ANEW = "import them as a file of their own."


def check_retry(ports: Ports, run: RunRecord, *, dry_run: bool, corrected: bool) -> None:
    """Raise unless the failed rows of the run can be worked again.

    :param corrected: whether the caller brings the rows in a file; else they come from the row log.
    """
    if not run.status.is_terminal:
        raise Conflict(f"Run {run.id} is still {run.status}; retry it when it has ended.", "run_not_finished")
    if not run.counts.failed:
        raise NothingFailed(f"Run {run.id} has no failed rows to retry.")
    if run.is_dry_run and not dry_run:
        raise Conflict(f"Run {run.id} was a dry run: it can only be retried as a dry run.", "dry_run")
    manifest = _manifest(ports, run)
    check_startable(manifest)
    kept = kept_rows(ports, run, manifest)
    if kept.refusal is not None and not (corrected and kept.can_correct):
        raise kept.refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """What is left of a run's failed rows.

    :param logged: how many are in the row log.
    :param refusal: why they cannot be retried as they are logged; ``None`` if they can.
    :param can_correct: whether they can be retried from a corrected file: only the log tells which rows failed.
    """

    logged: int
    refusal: Conflict | None
    can_correct: bool


def kept_rows(ports: Ports, run: RunRecord, manifest: Mapping[str, Any] | None) -> KeptRows:
    """The failed rows of a run as its log has them; the manifest is that of its importer, if that is still there."""
    logged = ports.store.count_rows(run.id, "failed")
    failed, refusal = f"The failed rows of run {run.id}", None
    is_gone = logged < run.counts.failed
    if is_gone:
        refusal = Conflict(f"{failed} are not (or no longer) logged; {IMPORT_ANEW}", "rows_gone")
    elif (run.file or {}).get(MASKED) or (manifest is not None and manifest.get("sensitive_fields")):
        refusal = Conflict(f"{failed} have sensitive fields, which are not kept; {RETRY_WITH_FILE}", "sensitive_rows")
    return KeptRows(logged=logged, refusal=refusal, can_correct=not is_gone)


def retry(
    ports: Ports,
    run: RunRecord,
    caller: Caller,
    *,
    dry_run: bool = False,
    corrected: StagedUpload | None = None,
    key: str | None = None,
) -> RunRecord:
    """Start a run that holds only the failed rows of ``run``.

    While a retry of the run is open, the same request answers with it and another one is a :class:`Conflict`.
    """
    check_idempotency_key(key)
    start = Start(
        slug=run.importer,
        dag_id=run.dag_id,
        caller=caller,
        payload=corrected.ref if corrected else None,
        filename=corrected.name if corrected else run.original_filename,
        dry_run=dry_run,
        idempotency_key=key,
        fingerprint=fingerprint_of(
            start="retry", run=run.id, file=corrected.sha256 if corrected else None, dry_run=dry_run
        ),
        retry_of=run,
        options={CORRECTED: True, SHA256: corrected.sha256} if corrected else {},
    )
    if (earlier := earlier_run(ports, start)) is not None:
        return earlier
    check_retry(ports, run, dry_run=dry_run, corrected=corrected is not None)
    definition = _manifest(ports, run).get("fingerprint")
    for number in count(1):
        dag_run_id = f"ingest_retry__{run.id}__{number}"
        existing = ports.store.find_run(run.dag_id, dag_run_id)
        if existing is None:
            # The id is the same for two retries at once: the second finds the first's run under it.
            started = record(ports, replace(start, dag_run_id=dag_run_id, definition=definition))
            return _same_retry(started, start)
        if not existing.status.is_terminal:
            return _same_retry(existing, start)
    raise AssertionError("count() never ends")


def _same_retry(run: RunRecord, start: Start) -> RunRecord:
    if run.request_fingerprint != start.fingerprint:
        raise Conflict(f"Run {run.id} is already retrying these rows; wait for its end.", "retry_running")
    return run


def _manifest(ports: Ports, run: RunRecord) -> Mapping[str, Any]:
    try:
        return ports.catalog.manifest(run.importer)
    except ImporterNotFound:
        raise Conflict(
            f"The DAG of the importer {run.importer!r} of run {run.id} is not there: {GONE}", "importer_gone"
        ) from None
