"""What every run store keeps to: chunks, counts and the row log."""

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
from airflow_provider_ingest.runs.records import RowRecord
from airflow_provider_ingest.runs.status import RunStatus
from tests.contract.conftest import StoreFactory
from tests.contract.factories import log_line, new_run, plan, planned_run, row_log
from tests.contract.test_run_store_contract import at_once

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


def test_the_rows_of_two_runs_do_not_mix(store: RunStore) -> None:
    runs = [planned_run(store, 3) for _ in range(2)]
    for run in runs:
        store.append_rows(run.id, 0, row_log(log_line(1, data={"run": run.id})))
    assert [store.row(run.id, 1).data for run in runs] == [{"run": run.id} for run in runs]  # type: ignore[union-attr]


def test_a_row_is_logged_and_shown_as_it_was(store: RunStore) -> None:
    run = planned_run(store, 3)
    data = {"z": "1", "a": "", "m": None, "ü": 'quote " comma , \\N \n\r\t \u2028', "nul": "a\0b", "n": [1, {"x": 2.5}]}
    line = log_line(2, data=data, validation={"a": ["is required"]}, trace={"a": [{"step": "input", "value": ""}]})
    store.append_rows(run.id, 0, row_log(line))
    expected = RowRecord(
        row_number=2,
        line_number=3,
        status="failed",
        data=data,
        errors={
            "message": "The given data was invalid.",
            "code": "required",
            "stage": "validate",
            "validation": {"a": ["is required"]},
        },
        trace={"a": [{"step": "input", "value": ""}]},
    )
    assert store.row(run.id, 2) == expected
    assert list(store.row(run.id, 2).data) == list(data)  # type: ignore[union-attr]  # the order of the file
    assert store.row(run.id, 1) is None


def test_long_integers_keep_their_digits(store: RunStore) -> None:
    run = planned_run(store, 1)
    store.append_rows(run.id, 0, row_log(log_line(1, data={"id": 12345678901234567890123, "text": "0" * 30})))
    assert store.row(run.id, 1).data == {"id": 12345678901234567890123, "text": "0" * 30}  # type: ignore[union-attr]


def test_a_row_without_line_errors_or_trace_has_none(store: RunStore) -> None:
    run = planned_run(store, 1)
    store.append_rows(run.id, 0, row_log(log_line(1, "success", _line_number=None)))
    row = store.row(run.id, 1)
    assert row is not None
    assert (row.line_number, row.errors, row.trace, row.status) == (None, None, None, "success")


def test_rows_are_paged_by_row_number_and_filtered_by_status(store: RunStore) -> None:
    run = planned_run(store, 10, 10)
    store.append_rows(run.id, 1, row_log(*(log_line(n, "success") for n in range(11, 16))))
    store.append_rows(run.id, 0, row_log(*(log_line(n) for n in (9, 2, 5))))
    page = store.rows(run.id, page=2, per_page=3)
    assert ([row.row_number for row in page.items], page.total, page.last) == ([11, 12, 13], 8, 3)
    failed = store.rows(run.id, page=1, per_page=3, status="failed")
    assert ([row.row_number for row in failed.items], failed.total) == ([2, 5, 9], 3)
    assert (store.count_rows(run.id), store.count_rows(run.id, "success")) == (8, 5)


def test_rows_are_found_by_the_line_of_the_error_summary_that_counts_them(store: RunStore) -> None:
    run = planned_run(store, 10)
    store.append_rows(
        run.id,
        0,
        row_log(
            log_line(1, validation={"e: mail": ["is required"], "price": ['is no number (got "\\u0000 12a")']}),
            log_line(2, validation={"price": ["is no number", 'must be below 9 (got "12")']}),
            log_line(3, message="expected 2 fields, found 3"),
            log_line(4, validation={"price": ["is no number at all"]}),
            log_line(5, "success"),
            log_line(6, validation={"prices": ["is no number (got \0)"]}),
        ),
    )

    def rows(message: str, status: str | None = None) -> list[int]:
        page = store.rows(run.id, page=1, per_page=10, message=message, status=status)
        assert page.total == len(page.items)
        return [row.row_number for row in page.items]

    assert rows("expected 2 fields, found 3") == [3]
    assert rows("The given data was invalid.") == [1, 2, 4, 6]
    assert rows("price: is no number") == [1, 2]
    assert rows("e: mail: is required") == [1]
    assert rows("prices: is no number") == [6]
    assert rows("price: %") == []
    assert rows("nothing like it") == []
    assert rows("price: is no number", "success") == []


def test_failed_rows_are_streamed_in_order_whatever_their_number_and_size(store: RunStore) -> None:
    run = planned_run(store, 20_000)
    numbers = list(range(1, 9_001, 2))
    lines = [log_line(n, data={"text": "x" * (400_000 if n in (401, 403) else 20)}) for n in numbers]
    store.append_rows(run.id, 0, row_log(*lines))
    store.append_rows(run.id, 0, row_log(*(log_line(n, "success") for n in range(2, 100, 2))))
    batches = list(store.failed_rows(run.id))
    assert [row.row_number for batch in batches for row in batch] == numbers
    assert all(batches)
    assert len(batches) > 1


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
