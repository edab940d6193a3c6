"""Waiting for the end of a run without a worker slot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from airflow_provider_ingest.runs.records import RunRecord


class IngestRunTrigger(BaseTrigger):  # type: ignore[misc]  # Airflow is followed as Any
    """Fires when the run of a DAG run has ended, with what :func:`result_of` tells of it.

    :param poll_interval: seconds between two looks at the ingest tables.
    """

    def __init__(self, dag_id: str, dag_run_id: str, poll_interval: float = 5.0) -> None:
        super().__init__()
        self.dag_id = dag_id
        self.dag_run_id = dag_run_id
        self.poll_interval = poll_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """What the triggerer needs to make this trigger again."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {"dag_id": self.dag_id, "dag_run_id": self.dag_run_id, "poll_interval": self.poll_interval},
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look until the run has ended."""
        while True:
            run = await asyncio.to_thread(find_run, self.dag_id, self.dag_run_id)
            if run is not None and run.status.is_terminal:
                yield TriggerEvent(result_of(run))
                return
            await asyncio.sleep(self.poll_interval)


def find_run(dag_id: str, dag_run_id: str) -> RunRecord | None:
    """The run of a DAG run, through the tables as tasks reach them."""
    from airflow_provider_ingest import bootstrap

    return bootstrap.task_store().find_run(dag_id, dag_run_id)


def result_of(run: RunRecord) -> dict[str, Any]:
    """What another DAG may want to know of a run: its id, status, error and counts."""
    error = (run.summary or {}).get("error") or {}
    return {
        "ingest_run_id": run.id,
        "dag_run_id": run.dag_run_id,
        "status": str(run.status),
        "error": error.get("message"),
        **run.progress.to_dict(),
    }
