"""The daily DAG that removes what has expired and ends runs that were lost."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import DAG, BaseOperator, Param

from airflow_provider_ingest.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from airflow.sdk import Context

    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord

PRUNE_DAG = "ingest_prune"

log = logging.getLogger(__name__)


def prune_files(store: RunStore, hours: int, *, dry_run: bool = False) -> dict[str, Any]:
    """Delete expired uploads and temporary files, never those of open runs; returns ``{"files", "bytes"}``."""
    from airflow_provider_ingest import bootstrap

    keep = [name for run in store.open_runs() for name in (run.key, run.payload or "") if name]
    removed = bootstrap.staging().prune(datetime.now(UTC) - timedelta(hours=hours), keep=keep, dry_run=dry_run)
    for file in removed:
        log.info("%s %s (%s bytes)", "Would remove" if dry_run else "Removed", file.reference, f"{file.size:,}")
    return {"files": len(removed), "bytes": sum(file.size for file in removed)}


def prune_rows(store: RunStore, days: int, *, dry_run: bool = False) -> int:
    """Delete the logged rows of runs that ended more than ``days`` ago; returns how many."""
    count = store.prune_rows(datetime.now(UTC) - timedelta(days=days), dry_run=dry_run)
    log.info("%s %s logged rows", "Would remove" if dry_run else "Removed", f"{count:,}")
    return count


class PruneOperator(BaseOperator):  # type: ignore[misc]  # Airflow is followed as Any
    """Ends lost runs, then prunes files and row logs."""

    def execute(self, context: Context) -> dict[str, Any]:
        """Return what was done, as counts."""
        from airflow_provider_ingest import bootstrap
        from airflow_provider_ingest.service.reconciling import reconcile_open_runs

        params, settings = context["params"], load_settings()
        store = bootstrap.task_store()
        dry_run = bool(params.get("dry_run"))
        lost = []
        if not dry_run:
            lost_after = timedelta(minutes=settings.lost_after_minutes)
            lost = reconcile_open_runs(store, dag_run_states(context), lost_after=lost_after)
        for run in lost:
            log.warning("Run %s of %s was lost; it is %s now", run.id, run.importer, run.status)
        hours = settings.prune_hours if params.get("hours") is None else params["hours"]
        days = settings.prune_days if params.get("days") is None else params["days"]
        return {
            "ended_runs": len(lost),
            **prune_files(store, hours, dry_run=dry_run),
            "rows": prune_rows(store, days, dry_run=dry_run),
        }


def dag_run_states(context: Context) -> Callable[[RunRecord], str | None]:
    """The states of DAG runs as a task can ask for them."""
    ti: Any = context["ti"]

    def state_of(run: RunRecord) -> str | None:
        if not ti.get_dr_count(dag_id=run.dag_id, run_ids=[run.dag_run_id]):
            return None
        return str(getattr(state := ti.get_dagrun_state(run.dag_id, run.dag_run_id), "value", state))

    return state_of


def ingest_prune_dag(*, schedule: Any = "@daily", **dag_options: Any) -> DAG:
    """The maintenance DAG ``ingest_prune``: call it once, at the top level of a file in the DAGs folder.

    >>> dag = ingest_prune_dag()  # doctest: +SKIP
    """
    options: dict[str, Any] = {
        "description": "Removes expired files and row logs of ingest runs, ends runs that were lost",
        "catchup": False,
        "max_active_runs": 1,
        "is_paused_upon_creation": False,
        "start_date": datetime(2026, 1, 1, tzinfo=UTC),
        "tags": ["ingest-maintenance"],
        **dag_options,
    }
    params = {
        "hours": Param(None, type=["null", "integer"], minimum=0, title="Hours",
                       description="Age of files to remove; empty: `[ingest] prune_hours`."),
        "days": Param(None, type=["null", "integer"], minimum=0, title="Days",
                      description="Age of row logs to remove; empty: `[ingest] prune_days`."),
        "dry_run": Param(False, type="boolean", title="Dry run", description="Only say what would be removed."),
    }  # fmt: skip
    with DAG(dag_id=PRUNE_DAG, schedule=schedule, params=params, **options) as dag:
        PruneOperator(task_id="prune", retries=2, retry_delay=timedelta(minutes=1))
    return dag
