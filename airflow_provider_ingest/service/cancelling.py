"""Cancelling a run: a request that chunks in flight outlive."""

from __future__ import annotations

from airflow_provider_ingest.exceptions import Conflict
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.runs.summary import stats_of, summary_of
from airflow_provider_ingest.service.reconciling import end_lost_run
from airflow_provider_ingest.service.requests import Ports

WORKING = frozenset({"queued", "running"})
"""States of a DAG run whose tasks will see the request."""

LOST = "Its DAG run ended or was deleted before the run had ended."


def cancel(ports: Ports, run: RunRecord) -> RunRecord:
    """Ask for the end of a run; asking again changes nothing.

    A run that nobody works on yet is ``cancelled`` at once, one at work becomes ``cancelling`` until the chunks in
    flight have finished. None are where its DAG run was deleted or has ended: then it is ``cancelled`` at once too.
    Raises :class:`Conflict` for a run that has ended otherwise.
    """
    if run.status is RunStatus.PENDING and _cancel_waiting(ports, run):
        return ports.store.get_run(run.id)
    if ports.store.change_status(run.id, RunStatus.CANCELLING):
        ports.launcher.skip_waiting(ports.store.get_run(run.id))
    current = ports.store.get_run(run.id)
    if current.status is RunStatus.CANCELLING and ports.launcher.state_of(current) not in WORKING:
        end_lost_run(ports.store, current, LOST)
        current = ports.store.get_run(run.id)
    if current.status in (RunStatus.CANCELLING, RunStatus.CANCELLED):
        return current
    raise Conflict(f"Run {run.id} has ended as {current.status}; it cannot be cancelled.", "run_finished")


def _cancel_waiting(ports: Ports, run: RunRecord) -> bool:
    """End a run that is still pending; ``False`` if it began to work meanwhile."""
    stats = stats_of(run, RunStatus.CANCELLED, ports.now())
    summary = summary_of(run, stats, warnings=ports.store.warnings(run.id))
    return ports.store.change_status(run.id, RunStatus.CANCELLED, origins={RunStatus.PENDING}, summary=summary)


def cancel_message(run: RunRecord) -> str:
    """What a caller is told after :func:`cancel`."""
    if run.status is RunStatus.CANCELLED:
        return f"Ingest run {run.id} is cancelled."
    return f"Cancellation of ingest run {run.id} was requested; chunks in flight finish first."
