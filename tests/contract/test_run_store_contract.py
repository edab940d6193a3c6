"""What every run store keeps to: runs and their status."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from airflow_provider_ingest.exceptions import IllegalTransition, RunNotFound
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import RunFilter
from airflow_provider_ingest.runs.status import TERMINAL, TRANSITIONS, RunStatus, origins
from tests.contract.conftest import StoreFactory
from tests.contract.factories import ended_run, new_run, planned_run
from tests.contract.threads import at_once

DAY = timedelta(days=1)


def test_a_recorded_run_is_pending_and_keeps_what_was_said(store: RunStore) -> None:
    new = new_run(
        payload="in/a.csv",
        original_filename="ä.csv",
        is_dry_run=True,
        user_id=7,
        user_name="ann",
        idempotency_key="k",
        request_fingerprint="f" * 64,
        fingerprint="d" * 64,
        options={"force": True, "nested": {"b": [1, 2.5, None]}},
    )
    before = datetime.now(UTC)
    run = store.create_run(new)
    assert store.get_run(run.id) == run
    assert {name: getattr(run, name) for name in new.__dataclass_fields__} == {
        name: getattr(new, name) for name in new.__dataclass_fields__
    }
    assert (run.status, run.total, run.counts, run.summary, run.completed_at) == ("pending", 0, Counts(), None, None)
    assert before <= run.started_at <= datetime.now(UTC)
    assert run.started_at.utcoffset() == timedelta(0)
    assert [change["status"] for change in run.history] == ["pending"]


def test_times_keep_their_microseconds(store: RunStore) -> None:
    runs = [store.create_run(new_run()) for _ in range(20)]
    assert [store.get_run(run.id).started_at for run in runs] == [run.started_at for run in runs]
    assert any(run.started_at.microsecond % 1000 for run in runs)


def test_a_second_run_of_one_dag_run_is_the_first(store: RunStore) -> None:
    first = store.create_run(new_run(dag_run_id="manual__1"))
    second = store.create_run(new_run(dag_run_id="manual__1"))
    assert second == first
    assert store.list_runs(RunFilter(), 1, 10).total == 1


def test_the_id_of_a_deleted_dag_run_can_be_taken_by_another_run(store: RunStore) -> None:
    first = store.create_run(new_run(dag_run_id="m" * 250))
    store.release_dag_run(first.id)
    second = store.create_run(new_run(dag_run_id="m" * 250))
    assert second.id != first.id
    assert store.find_run(second.dag_id, second.dag_run_id) == second
    kept = store.get_run(first.id).dag_run_id
    assert (kept.endswith(f"__deleted_{first.id}"), len(kept) <= 250) == (True, True)


def test_equal_dag_run_ids_of_two_dags_are_two_runs(store: RunStore) -> None:
    first = store.create_run(new_run("a", dag_run_id="manual__1"))
    assert store.create_run(new_run("b", dag_run_id="manual__1")).id != first.id


def test_an_unknown_run_is_not_found(store: RunStore) -> None:
    with pytest.raises(RunNotFound, match="no run 404"):
        store.get_run(404)
    with pytest.raises(RunNotFound):
        store.change_status(404, RunStatus.PROCESSING)
    with pytest.raises(RunNotFound):
        store.add_warning(404, "w")
    assert store.find_run("ingest_x", "y") is None
    assert store.count_rows(404) == 0
    assert list(store.failed_rows(404)) == []
    assert tuple(store.chunks(404)) == ()


def test_a_run_is_found_by_its_dag_run(store: RunStore) -> None:
    run = store.create_run(new_run("orders", dag_run_id="scheduled__1"))
    assert store.find_run("ingest_orders", "scheduled__1") == run


def test_an_idempotency_key_belongs_to_its_user_and_to_its_time(store: RunStore) -> None:
    run = store.create_run(new_run(user_name="ann", idempotency_key="k"))
    anonymous = store.create_run(new_run(idempotency_key="k"))
    since = run.started_at - DAY
    assert store.find_idempotent("ann", "k", since) == run
    assert store.find_idempotent(None, "k", since) == anonymous
    assert store.find_idempotent("bob", "k", since) is None
    assert store.find_idempotent("ann", "other", since) is None
    assert store.find_idempotent("ann", "k", run.started_at + DAY) is None


def test_the_open_retry_of_a_run_is_found_until_it_ends(store: RunStore) -> None:
    run = ended_run(store, RunStatus.COMPLETED_WITH_ERRORS)
    assert store.find_retry(run.id) is None
    retry = store.create_run(new_run(retry_of=run.id, root_run=run.id, attempt=2))
    assert store.find_retry(run.id) == retry
    store.change_status(retry.id, RunStatus.FAILED)
    assert store.find_retry(run.id) is None


def test_a_retry_beside_an_open_one_is_that_one(store: RunStore) -> None:
    run = ended_run(store, RunStatus.COMPLETED_WITH_ERRORS)
    retry = store.create_run(new_run(retry_of=run.id))
    assert store.create_run(new_run(retry_of=run.id)) == retry
    store.change_status(retry.id, RunStatus.CANCELLED)
    assert store.create_run(new_run(retry_of=run.id)).id != retry.id


def test_the_same_file_is_found_among_real_completed_runs_only(store: RunStore) -> None:
    file = {"sha256": "s" * 64, "name": "a.csv"}
    kept = ended_run(store, RunStatus.COMPLETED_WITH_ERRORS, fingerprint="f")
    store.record_file(kept.id, file)
    for run in (
        ended_run(store, fingerprint="f", is_dry_run=True),
        ended_run(store, fingerprint="other"),
        ended_run(store, RunStatus.FAILED, fingerprint="f"),
        ended_run(store, fingerprint="f", importer="orders"),
        store.create_run(new_run(fingerprint="f")),
    ):
        store.record_file(run.id, file)
    found = store.find_same_file("products", "s" * 64, "f", before=10**9)
    assert found is not None
    assert found.id == kept.id
    assert store.find_same_file("products", "s" * 64, "f", before=kept.id) is None
    assert store.find_same_file("products", "t" * 64, "f", before=10**9) is None


def test_the_same_file_is_looked_for_by_the_definition_that_works_it(store: RunStore) -> None:
    run = ended_run(store, fingerprint="as it was started")
    store.record_file(run.id, {"sha256": "s" * 64, "name": "a.csv"})
    store.record_definition(run.id, "as it was worked")
    assert store.get_run(run.id).fingerprint == "as it was worked"
    assert store.find_same_file("products", "s" * 64, "as it was started", before=10**9) is None
    assert store.find_same_file("products", "s" * 64, "as it was worked", before=10**9) is not None


def test_runs_of_the_same_file_are_rivals_while_they_work_and_once_they_are_completed(store: RunStore) -> None:
    file = {"sha256": "s" * 64, "name": "a.csv"}
    run, completed = store.create_run(new_run(fingerprint="f")), ended_run(store, fingerprint="f")
    for other in (
        run,
        completed,
        ended_run(store, RunStatus.FAILED, fingerprint="f"),
        ended_run(store, fingerprint="f", is_dry_run=True),
        ended_run(store, fingerprint="other"),
        later := store.create_run(new_run(fingerprint="f")),
    ):
        store.record_file(other.id, file)
    store.create_run(new_run(fingerprint="f"))
    assert [rival.id for rival in store.rivals(run, "s" * 64, "f")] == [completed.id, later.id]


def test_starts_are_counted_per_user_and_time(store: RunStore) -> None:
    run = store.create_run(new_run(user_name="ann"))
    store.create_run(new_run(user_name="ann"))
    store.create_run(new_run())
    assert store.count_starts("ann", run.started_at - DAY) == 2
    assert store.count_starts(None, run.started_at - DAY) == 1
    assert store.count_starts("ann", run.started_at + DAY) == 0


def test_open_runs_are_those_that_have_not_ended(store: RunStore) -> None:
    pending = store.create_run(new_run())
    ended_run(store)
    cancelling = store.create_run(new_run())
    store.change_status(cancelling.id, RunStatus.CANCELLING)
    assert [run.id for run in store.open_runs()] == [pending.id, cancelling.id]


@pytest.mark.parametrize("target", sorted(TERMINAL))
def test_a_terminal_status_sets_the_time_and_the_summary(store: RunStore, target: RunStatus) -> None:
    run = store.create_run(new_run())
    if target in TRANSITIONS[RunStatus.PENDING]:
        assert store.change_status(run.id, target, summary={"total": 3, "error": None})
    else:
        store.change_status(run.id, RunStatus.PROCESSING)
        assert store.change_status(run.id, target, summary={"total": 3, "error": None})
    ended = store.get_run(run.id)
    assert (ended.status, ended.summary) == (target, {"total": 3, "error": None})
    assert ended.completed_at is not None
    assert ended.completed_at >= ended.started_at


def test_a_cancellation_notes_when_it_was_asked_for(store: RunStore) -> None:
    run = store.create_run(new_run())
    assert store.change_status(run.id, RunStatus.CANCELLING)
    cancelling = store.get_run(run.id)
    assert cancelling.cancel_requested_at is not None
    assert cancelling.completed_at is None
    assert store.change_status(run.id, RunStatus.CANCELLED)
    assert store.get_run(run.id).cancel_requested_at == cancelling.cancel_requested_at


def test_the_history_holds_each_change_in_order(store: RunStore) -> None:
    run = store.create_run(new_run())
    for status in (RunStatus.PROCESSING, RunStatus.CANCELLING, RunStatus.CANCELLED):
        store.change_status(run.id, status)
    history = store.get_run(run.id).history
    assert [change["status"] for change in history] == ["pending", "processing", "cancelling", "cancelled"]
    assert sorted(change["at"] for change in history) == [change["at"] for change in history]
    assert history[0]["at"] == f"{run.started_at:%Y-%m-%dT%H:%M:%S.%fZ}"


@pytest.mark.parametrize("current", sorted(RunStatus))
@pytest.mark.parametrize("target", sorted(set(RunStatus) - {RunStatus.PENDING}))
def test_a_status_changes_only_as_the_state_machine_says(
    store: RunStore, current: RunStatus, target: RunStatus
) -> None:
    run = store.create_run(new_run())
    for step in {
        RunStatus.PENDING: (),
        RunStatus.COMPLETED: (RunStatus.PROCESSING, RunStatus.COMPLETED),
        RunStatus.COMPLETED_WITH_ERRORS: (RunStatus.PROCESSING, RunStatus.COMPLETED_WITH_ERRORS),
    }.get(current, (current,)):
        assert store.change_status(run.id, step)
    before = store.get_run(run.id)
    assert store.change_status(run.id, target) == (current in origins(target))
    after = store.get_run(run.id)
    assert after == before if current not in origins(target) else after.status is target


def test_a_change_from_other_origins_than_the_asked_ones_does_nothing(store: RunStore) -> None:
    run = store.create_run(new_run())
    store.change_status(run.id, RunStatus.PROCESSING)
    assert not store.change_status(run.id, RunStatus.FAILED, origins={RunStatus.PENDING})
    assert store.change_status(run.id, RunStatus.FAILED, origins={RunStatus.PENDING, RunStatus.PROCESSING})


def test_an_origin_from_which_there_is_no_way_is_refused(store: RunStore) -> None:
    run = store.create_run(new_run())
    with pytest.raises(IllegalTransition, match="completed cannot become failed"):
        store.change_status(run.id, RunStatus.FAILED, origins={RunStatus.COMPLETED})
    assert store.get_run(run.id).status is RunStatus.PENDING


def test_of_many_writers_at_once_one_wins(new_store: StoreFactory) -> None:
    for _ in range(5):
        run = planned_run(new_store(), 1)
        new_store().change_status(run.id, RunStatus.PROCESSING)
        targets = [RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.COMPLETED_WITH_ERRORS] * 3
        won = at_once([lambda i=run.id, t=target: (new_store().change_status(i, t), t) for target in targets])
        winners = [target for success, target in won if success]
        ended = new_store().get_run(run.id)
        assert len(winners) == 1
        assert ended.status is winners[0]
        assert [change["status"] for change in ended.history] == ["pending", "processing", str(winners[0])]


def test_two_retries_at_once_give_one(new_store: StoreFactory) -> None:
    for _ in range(5):
        run = ended_run(new_store(), RunStatus.COMPLETED_WITH_ERRORS)
        retries = at_once([lambda i=run.id: new_store().create_run(new_run(retry_of=i)).id] * 6)
        assert len(set(retries)) == 1


def test_one_dag_run_recorded_many_times_at_once_is_one_run(new_store: StoreFactory) -> None:
    for number in range(5):
        ids = at_once([lambda n=number: new_store().create_run(new_run(dag_run_id=f"manual__{n}")).id] * 6)
        assert len(set(ids)) == 1


def test_the_facts_of_the_file_are_kept_and_name_the_run(store: RunStore) -> None:
    file = {"name": "a.csv", "size": 12, "sha256": "s" * 64, "dialect": {"delimiter": ";"}, "columns": ["b", "a"]}
    unnamed, named = store.create_run(new_run()), store.create_run(new_run(original_filename="mine.csv"))
    store.record_file(unnamed.id, file)
    store.record_file(named.id, file)
    assert store.get_run(unnamed.id).file == file
    assert store.get_run(unnamed.id).original_filename == "a.csv"
    assert store.get_run(named.id).original_filename == "mine.csv"


def test_a_warning_is_kept_once(store: RunStore) -> None:
    run = store.create_run(new_run())
    for warning in ("column x is not used", "slow", "column x is not used"):
        store.add_warning(run.id, warning)
    assert tuple(store.warnings(run.id)) == ("column x is not used", "slow")
