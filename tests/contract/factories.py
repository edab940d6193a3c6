"""Arranging runs, chunks and row logs."""

from __future__ import annotations

import json
import uuid
from typing import Any

import polars as pl

from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_LOG, ROW_NUMBER
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.records import ChunkPlan, NewRun, RunRecord
from airflow_provider_ingest.runs.status import RunStatus


def new_run(importer: str = "products", **values: Any) -> NewRun:
    key = str(uuid.uuid4())
    defaults: dict[str, Any] = {"dag_id": f"ingest_{importer}", "dag_run_id": f"run__{key}"}
    return NewRun(key=key, importer=importer, **(defaults | values))


def plan(*rows: int) -> list[ChunkPlan]:
    first = [1 + sum(rows[:index]) for index in range(len(rows))]
    return [
        ChunkPlan(index=index, first_row=first[index], rows=count, location={"start": index, "path": "a.csv"})
        for index, count in enumerate(rows)
    ]


def planned_run(store: RunStore, *rows: int, **values: Any) -> RunRecord:
    run = store.create_run(new_run(**values))
    store.record_plan(run.id, plan(*rows))
    return store.get_run(run.id)


def ended_run(store: RunStore, status: RunStatus = RunStatus.COMPLETED, **values: Any) -> RunRecord:
    run = store.create_run(new_run(**values))
    store.change_status(run.id, RunStatus.PROCESSING)
    assert store.change_status(run.id, status, summary={"total": 0})
    return store.get_run(run.id)


def log_line(number: int, status: str = "failed", **values: Any) -> dict[str, Any]:
    """One line of a row log; ``validation`` makes a failed row's errors."""
    validation = values.pop("validation", None)
    message = values.pop("message", "The given data was invalid." if status == "failed" else None)
    errors = None
    if status == "failed":
        errors = {"message": message, "code": "required", "stage": "validate", "validation": validation or {}}
    line = {"data": values.pop("data", {"sku": f"A{number}"}), "errors": errors, "trace": values.pop("trace", None)}
    texts = {name: None if value is None else json.dumps(value) for name, value in line.items()}
    return {ROW_NUMBER: number, LINE_NUMBER: number + 1, "status": status, "message": message, **texts, **values}


def row_log(*lines: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(lines), schema=ROW_LOG, orient="row")
