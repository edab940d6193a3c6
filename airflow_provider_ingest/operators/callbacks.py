"""Callbacks and notifiers at the end of a run, which are told what came of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.runs.summary import event_of

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_provider_ingest.runs.records import RunRecord

Callback = Callable[["Context"], Any]
"""A function of the context, or a notifier."""

INGEST_RUN = "ingest_run"
"""What callbacks find the run under in their context, and templates of notifiers by name."""

log = logging.getLogger(__name__)


class RunCallback:
    """Calls an Airflow callback with ``ingest_run`` in its context.

    It is looked up when the callback is called, since that is not always the process that has ended the run.
    """

    def __init__(self, callback: Callback) -> None:
        self.callback = callback
        self.__name__ = getattr(callback, "__name__", type(callback).__name__)

    def __call__(self, context: Context) -> Any:
        """Add the run and pass the context on."""
        given: dict[str, Any] = context  # type: ignore[assignment]  # a TypedDict to which callbacks may add
        given[INGEST_RUN] = _look_up(context)
        return self.callback(context)


def run_callbacks(callbacks: Callback | Sequence[Callback] | None) -> list[RunCallback]:
    """One callback, several or none, each told of the run."""
    if callbacks is None:
        return []
    several = callbacks if isinstance(callbacks, Sequence) else [callbacks]
    return [RunCallback(callback) for callback in several]


def told_run(run: RunRecord) -> dict[str, Any]:
    """The run as callbacks see it: who and what, counts, error, warnings."""
    summary = run.summary or {}
    return {
        **asdict(event_of(run)),
        **run.progress.to_dict(),
        "duration_seconds": summary.get("duration_seconds"),
        "error": (summary.get("error") or {}).get("message"),
        "warnings": list(summary.get("warnings") or ()),
    }


def _look_up(context: Context) -> dict[str, Any] | None:
    from airflow_provider_ingest import bootstrap

    try:
        dag_run = context["dag_run"]
        run = bootstrap.task_store().find_run(dag_run.dag_id, dag_run.run_id)
    except Exception:  # a notification without the counts is better than none
        log.warning("The run could not be looked up for a callback", exc_info=True)
        return None
    return None if run is None else told_run(run)
