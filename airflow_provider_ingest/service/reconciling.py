"""Ending runs whose DAG run ended, or went away, without telling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import AWAITS_PUBLICATION, RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.runs.summary import stats_of, summary_of
from airflow_provider_ingest.service.requests import utc_now

DagRunState = Callable[[RunRecord], str | None]
"""The state of a run's DAG run (``queued``, ``running``, ``success``, ``failed``); ``None`` if it is gone."""

_ENDED = frozenset({"success", "failed"})


def reconcile_open_runs(
    store: RunStore,
    state_of: DagRunState,
    *,
    lost_after: timedelta = timedelta(minutes=60),
    now: Callable[[], datetime] = utc_now,
) -> list[RunRecord]:
    """End every open run that nobody works on any more; returns them as they are now.

    :param lost_after: how long a run without a DAG run may be pending: its starter may be about to create one.
    """
    ended = []
    for run in store.open_runs():
        state = state_of(run)
        if state is None:
            if run.status is RunStatus.PENDING and now() - run.started_at < lost_after:
                continue
            reason = "Its DAG run was deleted before the run had ended."
        elif state in _ENDED:
            reason = (
                f"Its DAG run ended as {state!r} before the run had ended: it was marked by hand, or 'finish' failed."
            )
        else:
            continue
        if end_lost_run(store, run, reason):
            ended.append(store.get_run(run.id))
    return ended


def end_lost_run(store: RunStore, run: RunRecord, reason: str) -> bool:
    """End an open run as what is true of it: ``cancelled`` if that was asked for, else ``failed``.

    Its counts are those of the chunks that reported; of an atomic run that was not published nothing is in the
    target. Returns whether this call ended it.
    """
    if run.status.is_terminal:
        return False
    store.settle_counts(run.id, unpublished_counts(store, run))
    run = replace(store.get_run(run.id), status=run.status)
    is_cancelled = run.status is RunStatus.CANCELLING
    error = None if is_cancelled else {"message": reason, "code": "dag_run_lost"}
    end = RunStatus.CANCELLED if is_cancelled else RunStatus.FAILED
    summary = summary_of(run, stats_of(run, end), error=error, warnings=store.warnings(run.id))
    return store.change_status(run.id, end, origins={run.status}, summary=summary)


def unpublished_counts(store: RunStore, run: RunRecord) -> dict[int, Counts]:
    """The counts of an atomic run's chunks as they are without a publication: only failed rows; else none."""
    if not (run.file or {}).get(AWAITS_PUBLICATION):
        return {}
    return {chunk.index: Counts(failed=chunk.counts.failed) for chunk in store.chunks(run.id)}
