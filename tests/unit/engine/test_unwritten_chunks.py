"""What ends a chunk before it is committed leaves nothing of it in the target."""

from __future__ import annotations

import signal
import threading

import pytest

from airflow_provider_ingest.runs.progress import Counts
from tests.unit.engine.chunk_world import World, importer, made_world
from tests.unit.engine.worlds import batch


@pytest.fixture
def world(sqlite_url: str) -> World:
    return made_world(sqlite_url)


def test_what_speaks_against_a_chunk_that_is_worked_leaves_it_unwritten(world: World) -> None:
    def refuse() -> None:
        assert world.logged() == [(2, "failed", "too_long")]  # all is done but the commit
        raise RuntimeError("the run has ended")

    given = batch({"code": ["a", "toolong"], "price": ["1", "1"]})
    with pytest.raises(RuntimeError, match="has ended"):
        world.work(importer(), given, before_commit=refuse)
    assert world.rows() == []
    assert world.work(importer(), given).counts == Counts(created=1, failed=1)


def test_a_chunk_whose_time_is_over_does_not_wait_for_python_of_its_user(world: World) -> None:
    entered, goes_on, left = threading.Event(), threading.Event(), threading.Event()

    def stand_still(value: str) -> str:
        entered.set()
        goes_on.wait(10)
        left.set()
        return value

    def end(*_: object) -> None:
        raise TimeoutError("as execution_timeout does, in the main thread")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        with pytest.raises(TimeoutError):
            world.work(
                importer().map_and_transform("kind", "kind_id", stand_still),
                batch({"code": ["a"], "price": ["1"], "kind": ["5"]}),
            )
        assert (entered.is_set(), left.is_set()) == (True, False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        goes_on.set()
    assert world.rows() == []
