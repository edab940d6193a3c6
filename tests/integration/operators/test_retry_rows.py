"""What a retry takes from the row log of the run before."""

from __future__ import annotations

import polars as pl

from airflow_provider_ingest.formats import read_chunk
from airflow_provider_ingest.operators.retry_rows import plan_logged_rows
from airflow_provider_ingest.runs.frames import ROW_LOG, ROW_NUMBER
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan, NewRun
from airflow_provider_ingest.testing.memory_store import MemoryStore

LOGGED = [
    (3, 4, '{"sku":"A","price":"x"}', '{"message":"The given data was invalid.","code":"numeric","stage":"transform"}'),
    (7, 9, '{"sku":"B","_raw":"B"}', '{"message":"expected 2 fields, found 1","code":"malformed_row","stage":"parse"}'),
]


def test_a_record_that_was_no_row_does_not_become_one_by_retrying_it(tmp_path):
    store = MemoryStore()
    run = store.create_run(NewRun(key="key", importer="stock", dag_id="ingest_stock", dag_run_id="one"))
    store.record_plan(run.id, [ChunkPlan(index=0, first_row=1, rows=9, location={})])
    store.start_chunk(run.id, 0)
    logged = [(row, line, "failed", "m", data, errors, None) for row, line, data, errors in LOGGED]
    store.append_rows(run.id, 0, pl.DataFrame(logged, schema=ROW_LOG, orient="row"))
    store.finish_chunk(run.id, 0, ChunkOutcome(counts=Counts(created=7, failed=2)))
    plan = plan_logged_rows(store, store.get_run(run.id), chunk_rows=10, scratch=tmp_path)
    (batch,) = [batch for chunk in plan.chunks for batch in read_chunk(plan.reader, chunk)]
    assert batch.frame.to_dicts() == [{ROW_NUMBER: 3, "_line_number": 4, "sku": "A", "price": "x"}]
    assert batch.malformed.select(ROW_NUMBER, "_line_number", "reason", "raw").row(0) == (
        7,
        9,
        "expected 2 fields, found 1",
        "B",
    )
