"""Runs whose DAG run ended or went away without telling."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import AWAITS_PUBLICATION, ChunkPlan, NewRun
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.service.reconciling import reconcile_open_runs
from airflow_provider_ingest.testing import MemoryStore


@pytest.fixture
def store():
    return MemoryStore()


def open_run(store, *statuses):
    run = store.create_run(NewRun(key="k", importer="products", dag_id="ingest_products", dag_run_id="r"))
    for status in statuses:
        assert store.change_status(run.id, status)
    return run.id


@pytest.mark.parametrize("state", [None, "failed", "success"])
def test_a_run_at_work_without_a_working_dag_run_is_failed_with_the_reason(store, state):
    run_id = open_run(store, RunStatus.PROCESSING)
    assert [run.id for run in reconcile_open_runs(store, lambda run: state)] == [run_id]
    run = store.get_run(run_id)
    assert run.status is RunStatus.FAILED
    assert run.summary["error"]["code"] == "dag_run_lost"
    assert run.summary["success_rate"] == 0
    assert run.completed_at is not None


def test_a_run_that_was_being_cancelled_is_cancelled(store):
    run_id = open_run(store, RunStatus.PROCESSING, RunStatus.CANCELLING)
    reconcile_open_runs(store, lambda run: "failed")
    run = store.get_run(run_id)
    assert (run.status, run.summary["error"]) == (RunStatus.CANCELLED, None)


@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_run_whose_dag_run_lives_is_left_alone(store, state):
    run_id = open_run(store, RunStatus.PROCESSING)
    assert reconcile_open_runs(store, lambda run: state) == []
    assert store.get_run(run_id).status is RunStatus.PROCESSING


def test_a_pending_run_may_wait_for_its_dag_run_but_not_for_ever(store):
    run_id = open_run(store)
    assert reconcile_open_runs(store, lambda run: None, lost_after=timedelta(minutes=5)) == []
    later = datetime.now(UTC) + timedelta(minutes=6)
    reconcile_open_runs(store, lambda run: None, lost_after=timedelta(minutes=5), now=lambda: later)
    assert store.get_run(run_id).status is RunStatus.FAILED


def test_a_second_sweep_changes_nothing(store):
    open_run(store, RunStatus.PROCESSING)
    assert len(reconcile_open_runs(store, lambda run: None)) == 1
    assert reconcile_open_runs(store, lambda run: None) == []


def worked_run(store):
    """One chunk of 5 rows has reported, another one is in the middle of its 5."""
    run_id = open_run(store, RunStatus.PROCESSING)
    store.record_plan(run_id, [ChunkPlan(index=n, first_row=1 + 5 * n, rows=5, location={}) for n in (0, 1)])
    for index in (0, 1):
        store.start_chunk(run_id, index)
    store.finish_chunk(run_id, 0, ChunkOutcome(counts=Counts(created=4, failed=1)))
    store.report_progress(run_id, 1, Counts(created=3))
    return run_id


def test_rows_of_a_chunk_that_never_committed_are_unprocessed(store):
    run_id = worked_run(store)
    reconcile_open_runs(store, lambda run: "failed")
    run = store.get_run(run_id)
    assert run.counts == Counts(created=4, failed=1)
    assert (run.summary["created"], run.summary["failed"], run.summary["unprocessed"]) == (4, 1, 5)


def test_a_lost_atomic_run_has_written_nothing(store):
    run_id = worked_run(store)
    store.record_file(run_id, {"name": "a.csv", AWAITS_PUBLICATION: True})
    reconcile_open_runs(store, lambda run: "failed")
    run = store.get_run(run_id)
    assert (run.summary["created"], run.summary["failed"], run.summary["unprocessed"]) == (0, 1, 9)
