"""What every run store keeps to: the row log, read and paged."""

from __future__ import annotations

from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import RowRecord
from airflow_provider_ingest.runs.status import RunStatus
from tests.contract.factories import log_line, planned_run, row_log


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


def test_failed_rows_of_a_chunk_that_was_given_up_are_shown_and_not_among_those_that_the_run_counts(
    store: RunStore,
) -> None:
    run = planned_run(store, 2, 2, 2)
    store.change_status(run.id, RunStatus.PROCESSING)
    for index in (0, 1):
        store.start_chunk(run.id, index)
        store.append_rows(run.id, index, row_log(log_line(2 * index + 1)))
    assert store.count_rows(run.id, "failed") == 2
    store.finish_chunk(run.id, 0, ChunkOutcome(counts=Counts(created=1, failed=1)))
    store.settle_counts(run.id)
    store.change_status(run.id, RunStatus.FAILED, summary={"total": 6})
    assert [row.row_number for batch in store.failed_rows(run.id) for row in batch] == [1]
    assert store.count_rows(run.id, "failed") == store.get_run(run.id).counts.failed == 1
    for status, numbers in (("failed", [1]), ("unprocessed", [3]), (None, [1, 3])):
        page = store.rows(run.id, page=1, per_page=9, status=status)
        assert ([row.row_number for row in page.items], page.total) == (numbers, len(numbers))
    of_field = store.rows(run.id, page=1, per_page=9, status="unprocessed", message="The given data was invalid.")
    assert [row.row_number for row in of_field.items] == [3]


def test_values_are_shown_with_the_names_that_were_given_once(store: RunStore) -> None:
    run = planned_run(store, 10, 10)
    names, others = ["z", "a", 'quote " \u2028', ""], ["a", "z"]
    values = ["1", "", None, [1, {"x": 2.5}]]
    store.append_rows(run.id, 0, row_log(log_line(1, data={"_raw": "?"})))
    store.append_rows(run.id, 0, row_log(log_line(2, data=values), log_line(3, data={"_raw": "?"})), names)
    store.append_rows(run.id, 1, row_log(log_line(11, "success", data=values)), names)
    store.append_rows(run.id, 1, row_log(log_line(12, data=["A", 123456789012345678901]), log_line(13)), others)
    shown = {
        1: {"_raw": "?"},
        2: dict(zip(names, values, strict=True)),
        3: {"_raw": "?"},
        11: dict(zip(names, values, strict=True)),
        12: {"a": "A", "z": 123456789012345678901},
        13: {"sku": "A13"},
    }
    assert {row.row_number: row.data for row in store.rows(run.id, page=1, per_page=10).items} == shown
    assert list(store.row(run.id, 2).data) == names  # type: ignore[union-attr]  # the order of the file
    failed = {row.row_number: row.data for batch in store.failed_rows(run.id) for row in batch}
    assert failed == {number: data for number, data in shown.items() if number != 11}


def test_rows_without_fields_are_shown_as_such(store: RunStore) -> None:
    run = planned_run(store, 2)
    store.append_rows(run.id, 0, row_log(log_line(1, data=[])), [])
    assert store.row(run.id, 1).data == {}  # type: ignore[union-attr]


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


def test_failed_rows_are_found_whatever_was_logged_first(store: RunStore) -> None:
    good, failed = [log_line(1, "success"), log_line(2, "skipped")], [log_line(3), log_line(4, message="broken")]
    for batches in ([good, failed], [failed, good], [[*good, *failed]], [failed], [failed[:1], failed[1:], good]):
        run = planned_run(store, 4)
        for batch in batches:
            store.append_rows(run.id, 0, row_log(*batch))
        page = store.rows(run.id, page=1, per_page=10, status="failed")
        assert ([row.row_number for row in page.items], page.total) == ([3, 4], 2)
        assert [row.row_number for batch in store.failed_rows(run.id) for row in batch] == [3, 4]
        for message, number in (("The given data was invalid.", 3), ("broken", 4)):
            found = store.rows(run.id, page=1, per_page=10, message=message)
            assert [row.row_number for row in found.items] == [number]


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
