"""What every run store keeps to: chunks, counts and what is logged of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import Conflict, IngestError, RunNotFound
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.status import RunStatus
from tests.contract.conftest import StoreFactory
from tests.contract.factories import log_line, new_run, plan, planned_run, row_log
from tests.contract.threads import at_once

OUTCOME = ChunkOutcome(
    counts=Counts(created=5, updated=1, skipped=1, failed=3),
    errors=(
        ErrorCount(message="The given data was invalid.", count=3),
        ErrorCount(message="is required", count=2, field="sku"),
        ErrorCount(message="is no number", count=1, field="price"),
    ),
    warnings=("slow target",),
    duration=1.25,
)


def test_a_plan_gives_the_total_and_the_chunks(store: RunStore) -> None:
    run = planned_run(store, 10, 5)
    assert (run.total, run.chunks_total, run.chunks_done) == (15, 2, 0)
    chunks = store.chunks(run.id)
    assert [(chunk.index, chunk.first_row, chunk.rows) for chunk in chunks] == [(0, 1, 10), (1, 11, 5)]
    assert chunks[1].location == {"start": 1, "path": "a.csv"}
    assert store.chunk(run.id, 1) == chunks[1]
    assert (chunks[0].counts, chunks[0].outcome, chunks[0].started_at) == (Counts(), None, None)


def test_planning_again_replaces_chunks_that_nobody_started(store: RunStore) -> None:
    run = planned_run(store, 10, 5, 5)
    store.record_plan(run.id, plan(20), ["cut again"])
    assert (store.get_run(run.id).total, store.get_run(run.id).chunks_total) == (20, 1)
    assert tuple(store.warnings(run.id)) == ("cut again",)


def test_planning_again_is_refused_once_a_chunk_started(store: RunStore) -> None:
    run = planned_run(store, 10, 5)
    store.start_chunk(run.id, 0)
    with pytest.raises(Conflict, match="cannot be planned again") as refused:
        store.record_plan(run.id, plan(20))
    assert refused.value.code == "already_planned"
    assert store.get_run(run.id).chunks_total == 2


def test_settled_counts_are_what_was_done_and_nothing_of_unfinished_chunks(store: RunStore) -> None:
    run = planned_run(store, 10, 5)
    store.change_status(run.id, RunStatus.PROCESSING)
    for index in (0, 1):
        store.start_chunk(run.id, index)
    store.finish_chunk(run.id, 0, OUTCOME)
    store.report_progress(run.id, 1, Counts(created=4))
    assert store.get_run(run.id).counts.created == 9
    store.settle_counts(run.id)
    assert store.get_run(run.id).counts == OUTCOME.counts
    store.settle_counts(run.id, {0: Counts(created=1, updated=5, skipped=1, failed=3), 1: Counts(created=5)})
    assert store.get_run(run.id).counts == Counts(created=1, updated=5, skipped=1, failed=3)
    settled = store.chunk(run.id, 0).outcome
    assert settled is not None
    assert (settled.counts.updated, settled.errors) == (5, OUTCOME.errors)


def test_progress_reported_after_the_end_of_a_run_counts_nothing(store: RunStore) -> None:
    run = planned_run(store, 10)
    store.change_status(run.id, RunStatus.PROCESSING)
    store.start_chunk(run.id, 0)
    store.change_status(run.id, RunStatus.FAILED, summary={"total": 10})
    store.report_progress(run.id, 0, Counts(created=4))
    assert store.get_run(run.id).counts == Counts()


def test_an_empty_file_has_an_empty_plan(store: RunStore) -> None:
    run = planned_run(store)
    assert (run.total, run.chunks_total) == (0, 0)


def test_a_chunk_that_was_not_planned_is_an_error(store: RunStore) -> None:
    run = planned_run(store, 1)
    for call in (
        lambda: store.chunk(run.id, 7),
        lambda: store.start_chunk(run.id, 7),
        lambda: store.finish_chunk(run.id, 7, OUTCOME),
        lambda: store.append_rows(run.id, 7, row_log(log_line(1))),
    ):
        with pytest.raises(IngestError, match="has no chunk 7"):
            call()
    with pytest.raises(RunNotFound):
        store.chunk(404, 0)


def test_progress_shows_while_a_chunk_works_and_stops_with_its_outcome(store: RunStore) -> None:
    run = planned_run(store, 10, 10)
    store.start_chunk(run.id, 0)
    store.report_progress(run.id, 0, Counts(created=4))
    store.report_progress(run.id, 1, Counts(updated=1))
    assert store.get_run(run.id).counts == Counts(created=4, updated=1)
    store.finish_chunk(run.id, 0, OUTCOME)
    store.report_progress(run.id, 0, Counts(created=9))
    assert store.get_run(run.id).counts == OUTCOME.counts + Counts(updated=1)
    assert store.get_run(run.id).chunks_done == 1


def test_an_outcome_is_recorded_whole_and_once(store: RunStore) -> None:
    run = planned_run(store, 10)
    store.start_chunk(run.id, 0)
    store.finish_chunk(run.id, 0, OUTCOME)
    chunk = store.chunk(run.id, 0)
    assert (chunk.outcome, chunk.counts) == (OUTCOME, OUTCOME.counts)
    assert chunk.started_at is not None
    assert chunk.finished_at is not None
    store.finish_chunk(run.id, 0, ChunkOutcome(counts=Counts(created=10), errors=OUTCOME.errors, duration=9.0))
    assert store.chunk(run.id, 0) == chunk
    assert sum(error.count for error in store.error_counts(run.id)) == 6


def test_of_many_reports_at_once_one_counts(new_store: StoreFactory) -> None:
    run = planned_run(new_store(), 10)
    outcomes = [ChunkOutcome(counts=Counts(created=n), errors=(ErrorCount(message="m", count=n),)) for n in range(1, 7)]
    at_once([lambda o=outcome: new_store().finish_chunk(run.id, 0, o) for outcome in outcomes])
    chunk = new_store().chunk(run.id, 0)
    assert chunk.outcome in outcomes
    assert tuple(new_store().error_counts(run.id)) == chunk.outcome.errors


def test_a_second_attempt_forgets_what_the_first_logged(store: RunStore) -> None:
    run = planned_run(store, 10, 10)
    for index in (0, 1):
        store.start_chunk(run.id, index)
        store.append_rows(run.id, index, row_log(log_line(1 + 10 * index), log_line(2 + 10 * index)))
        store.report_progress(run.id, index, Counts(failed=2))
    store.start_chunk(run.id, 0)
    assert store.chunk(run.id, 0).counts == Counts()
    assert [row.row_number for row in store.rows(run.id, page=1, per_page=10).items] == [11, 12]
    store.append_rows(run.id, 0, row_log(log_line(1)))
    assert store.count_rows(run.id) == 3


def test_a_finished_chunk_is_not_started_or_logged_again(store: RunStore) -> None:
    run = planned_run(store, 10)
    store.start_chunk(run.id, 0)
    store.append_rows(run.id, 0, row_log(log_line(3)))
    store.finish_chunk(run.id, 0, OUTCOME)
    finished = store.chunk(run.id, 0)
    store.start_chunk(run.id, 0)
    store.append_rows(run.id, 0, row_log(log_line(4)))
    assert store.chunk(run.id, 0) == finished
    assert [row.row_number for row in store.rows(run.id, page=1, per_page=10).items] == [3]


def test_error_counts_are_added_up_over_the_chunks(store: RunStore) -> None:
    run = planned_run(store, 10, 10, 10)
    for index in (0, 1):
        store.finish_chunk(run.id, index, OUTCOME)
    more = ChunkOutcome(counts=Counts(failed=9), errors=(ErrorCount(message="expected 2 fields, found 3", count=9),))
    store.finish_chunk(run.id, 2, more)
    assert [(error.field, error.message, error.count) for error in store.error_counts(run.id)] == [
        (None, "expected 2 fields, found 3", 9),
        (None, "The given data was invalid.", 6),
        ("sku", "is required", 4),
        ("price", "is no number", 2),
    ]


def test_warnings_of_run_and_chunks_come_together_once(store: RunStore) -> None:
    run = planned_run(store, 10, 10)
    store.add_warning(run.id, "column x is not used")
    store.finish_chunk(run.id, 0, OUTCOME)
    store.finish_chunk(run.id, 1, OUTCOME)
    assert tuple(store.warnings(run.id)) == ("column x is not used", "slow target")


def test_pruning_deletes_the_rows_of_runs_that_ended_before(store: RunStore) -> None:
    open_run, ended = planned_run(store, 10), planned_run(store, 10)
    for run in (open_run, ended):
        store.append_rows(run.id, 0, row_log(log_line(1), log_line(2, "success")))
    store.change_status(ended.id, RunStatus.FAILED)
    future = datetime.now(UTC) + timedelta(days=1)
    assert store.prune_rows(datetime.now(UTC) - timedelta(days=1)) == 0
    assert store.prune_rows(future, dry_run=True) == 2
    assert store.count_rows(ended.id) == 2
    assert store.prune_rows(future) == 2
    assert (store.count_rows(ended.id), store.count_rows(open_run.id)) == (0, 2)
    assert store.prune_rows(future) == 0
    assert store.get_run(ended.id).status is RunStatus.FAILED


CHUNK_ACTIONS = st.lists(
    st.tuples(st.sampled_from(["start", "progress", "log", "finish"]), st.integers(0, 2), st.integers(0, 4)),
    max_size=25,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=CHUNK_ACTIONS)
def test_whatever_happens_the_counts_are_the_sum_of_the_chunks(store: RunStore, actions: list[Any]) -> None:
    run = planned_run(store, 10, 10, 10)
    finished: dict[int, ChunkOutcome] = {}
    working = {0: Counts(), 1: Counts(), 2: Counts()}
    logged: dict[int, set[int]] = {0: set(), 1: set(), 2: set()}
    for action, index, number in actions:
        if action == "start":
            store.start_chunk(run.id, index)
            if index not in finished:
                working[index], logged[index] = Counts(), set()
        elif action == "progress":
            store.report_progress(run.id, index, Counts(created=number, failed=1))
            working[index] = Counts(created=number, failed=1)
        elif action == "log":
            row = 10 * index + number + 1
            if row not in logged[index]:
                if index not in finished and store.chunk(run.id, index).started_at is None:
                    store.start_chunk(run.id, index)
                    working[index] = Counts()
                store.append_rows(run.id, index, row_log(log_line(row)))
                if index not in finished:
                    logged[index].add(row)
        else:
            outcome = ChunkOutcome(counts=Counts(updated=number), duration=0.5)
            store.finish_chunk(run.id, index, outcome)
            finished.setdefault(index, outcome)
    expected = Counts.total(finished[i].counts if i in finished else working[i] for i in working)
    now = store.get_run(run.id)
    assert (now.counts, now.chunks_done) == (expected, len(finished))
    assert {row.row_number for row in store.rows(run.id, page=1, per_page=50).items} == set().union(*logged.values())


def test_a_store_keeps_nothing_of_what_it_was_given(store: RunStore) -> None:
    options: dict[str, Any] = {"force": True}
    run = store.create_run(new_run(options=options))
    options["force"] = False
    assert store.get_run(run.id).options == {"force": True}
