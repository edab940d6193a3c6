from __future__ import annotations

import pytest

from airflow_provider_ingest.exceptions import Conflict
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.service.cancelling import cancel_message
from tests.unit.service.world import World


@pytest.fixture
def world() -> World:
    return World()


def test_a_run_that_nobody_works_on_is_cancelled_at_once(world: World) -> None:
    run = world.started()
    world.pass_time(seconds=5)
    cancelled = world.service.cancel(run.id)

    assert cancelled.status is RunStatus.CANCELLED
    assert cancelled.completed_at is not None
    assert cancelled.summary is not None
    assert cancelled.summary["duration_seconds"] == 5
    assert cancelled.summary["error"] is None
    assert cancelled.summary["success_rate"] == 0


def test_a_run_at_work_is_asked_to_end_and_its_waiting_chunks_are_spared(world: World) -> None:
    run = world.started()
    world.store.change_status(run.id, RunStatus.PROCESSING)
    cancelled = world.service.cancel(run.id)

    assert cancelled.status is RunStatus.CANCELLING
    assert cancelled.cancel_requested_at is not None
    assert world.launcher.spared == [run.id]
    assert "requested" in cancel_message(cancelled)


@pytest.mark.parametrize("state", [None, "failed"], ids=["deleted", "failed"])
def test_a_run_whose_dag_run_is_gone_does_not_wait_for_its_tasks(world: World, state: str | None) -> None:
    run = world.started()
    world.store.change_status(run.id, RunStatus.PROCESSING)
    world.service.cancel(run.id)
    world.launcher.states[run.id] = state

    cancelled = world.service.cancel(run.id)
    assert cancelled.status is RunStatus.CANCELLED
    assert cancelled.summary is not None
    assert cancelled.summary["error"] is None


def test_cancelling_again_changes_nothing(world: World) -> None:
    run = world.started()
    world.store.change_status(run.id, RunStatus.PROCESSING)
    first = world.service.cancel(run.id)
    assert world.service.cancel(run.id) == first
    world.store.change_status(run.id, RunStatus.CANCELLED, summary={})
    assert world.service.cancel(run.id).status is RunStatus.CANCELLED


@pytest.mark.parametrize("status", [RunStatus.COMPLETED, RunStatus.COMPLETED_WITH_ERRORS, RunStatus.FAILED])
def test_a_finished_run_cannot_be_cancelled(world: World, status: RunStatus) -> None:
    run = world.ended(status=status)
    with pytest.raises(Conflict) as refusal:
        world.service.cancel(run.id)
    assert refusal.value.code == "run_finished"
    assert world.service.run(run.id).status is status
