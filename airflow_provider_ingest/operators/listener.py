"""Listening to DAG runs: one that ends without its ``finish`` task takes its ingest run along.

Registered by the plugin. The calls run inside the scheduler's (or the API server's) own transaction: nothing here
commits, opens a savepoint or a second session, which would break the scheduler's locks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_provider_ingest.runs.records import RunRecord

DAG_PREFIX = "ingest_"

_tables_seen: set[str] = set()


@hookimpl  # type: ignore[untyped-decorator]
def on_dag_run_success(dag_run: Any, msg: str) -> None:
    """A DAG run that was marked as success by hand while its ingest run was open."""
    _end(dag_run, "success", msg)


@hookimpl  # type: ignore[untyped-decorator]
def on_dag_run_failed(dag_run: Any, msg: str) -> None:
    """A DAG run that failed without ``finish``, or was marked as failed by hand."""
    _end(dag_run, "failed", msg)


def _end(dag_run: Any, state: str, msg: str | None) -> None:
    if not dag_run.dag_id.startswith(DAG_PREFIX):
        return
    from sqlalchemy.orm import object_session

    session = object_session(dag_run)
    if session is None or not _has_tables(session):
        return
    from airflow_provider_ingest.bootstrap import session_store
    from airflow_provider_ingest.service.reconciling import end_lost_run

    with session.no_autoflush:
        store = session_store(session)
        run = store.find_run(dag_run.dag_id, dag_run.run_id)
        if run is None:
            return
        if not run.status.is_terminal:
            end_lost_run(store, run, _reason(state, msg or ""))
        elif _was_cleared_behind(dag_run, run) and not dag_run.note:
            from airflow_provider_ingest.operators.base import START_ANEW

            dag_run.note = f"Ingest run {run.id} had ended as {run.status} before its DAG run was cleared. {START_ANEW}"


def _was_cleared_behind(dag_run: Any, run: RunRecord) -> bool:
    """Whether the DAG run began once more behind the end of its run: nobody is to take it for another import."""
    if not dag_run.clear_number or dag_run.start_date is None or run.completed_at is None:
        return False
    return bool(run.completed_at < dag_run.start_date)


def _reason(state: str, msg: str) -> str:
    """Why the run ends, by what Airflow tells its listeners."""
    if msg == "timed_out":
        return "Its DAG run took longer than the importer's 'dagrun_timeout' allows; its tasks were stopped."
    if "manually" in msg:
        return f"Its DAG run was marked as {state!r} by hand before it was finished."
    return f"Its DAG run ended as {state!r} without finishing it: the task 'finish' failed or was marked by hand."


def _has_tables(session: Session) -> bool:
    """Whether ``airflow db migrate`` has made the tables; a failing statement would end the scheduler's transaction."""
    url = str(session.get_bind())
    if url not in _tables_seen:
        from sqlalchemy import inspect

        if not inspect(session.connection()).has_table("ingest_runs"):
            return False
        _tables_seen.add(url)
    return True
