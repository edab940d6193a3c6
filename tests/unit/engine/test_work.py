"""Working chunks over a real database and the in-memory store: written once, logged, counted, told to handlers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from airflow_provider_ingest import DuplicateStrategy, EventHandler, IngestRun
from airflow_provider_ingest.engine.work import work_chunk
from airflow_provider_ingest.exceptions import RejectLimitExceeded
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, Kind, RowBatch
from airflow_provider_ingest.runs.outcome import ErrorCount
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan
from airflow_provider_ingest.targets import open_target
from airflow_provider_ingest.validators import RangeValidator
from tests.unit.engine.chunk_world import KINDS, PARTS, World, importer, made_world
from tests.unit.engine.worlds import batch


@pytest.fixture
def world(sqlite_url: str) -> World:
    return made_world(sqlite_url)


def test_good_rows_are_written_and_the_others_logged_and_counted(world: World) -> None:
    broken = {ROW_NUMBER: 4, LINE_NUMBER: 5, "reason": "expected 2 fields, found 1", "raw": "x", "data": None}
    given = batch({"code": ["a", "toolong", "c"], "price": ["1", "2", "x"]}, malformed=[broken])
    outcome = world.work(importer(), given)
    assert outcome.counts == Counts(created=1, failed=3)
    assert [(row[0], str(row[1])) for row in world.rows()] == [("a", "1.00")]
    assert world.logged() == [(2, "failed", "too_long"), (3, "failed", "type"), (4, "failed", "malformed_row")]
    assert ErrorCount(message="The given data was invalid.", count=2) in outcome.errors
    assert world.store.chunk(world.run.id, 0).outcome == outcome


def test_what_the_database_refuses_is_logged_with_the_rest(world: World) -> None:
    outcome = world.work(importer(), batch({"code": ["a", "a"], "price": ["1", "2"]}))
    assert outcome.counts == Counts(created=1, failed=1)
    assert [entry[:2] for entry in world.logged()] == [(2, "failed")]


def test_a_chunk_that_was_committed_is_only_reported_again(world: World) -> None:
    given = batch({"code": ["a"], "price": ["1"]})
    first = world.work(importer(), given)
    again = world.work(importer(), batch({"code": ["b"], "price": ["1"]}))
    assert again == first
    assert len(world.rows()) == 1


def test_an_attempt_that_dies_leaves_nothing_and_the_next_one_is_whole(world: World) -> None:
    def dying() -> Iterable[RowBatch]:
        yield batch({"code": ["a", "toolong"], "price": ["1", "1"]})
        yield batch({"code": ["b", "toolong"], "price": ["1", "1"]}, first=3)
        raise OSError("the file is gone")

    with pytest.raises(OSError, match="gone"):
        work_chunk(
            config=importer(),
            run=world.run,
            run_key=world.key,
            chunk=ChunkPlan(index=0, first_row=1, rows=4, location={}),
            batches=dying(),
            store=world.store,
            target=open_target(sa.make_url(world.url), importer()),
        )
    assert world.rows() == []
    outcome = world.work(
        importer(),
        batch({"code": ["a", "toolong"], "price": ["1", "1"]}),
        batch({"code": ["b", "toolong"], "price": ["1", "1"]}, first=3),
    )
    assert outcome.counts == Counts(created=2, failed=2)
    assert [entry[0] for entry in world.logged()] == [2, 4]


def test_the_number_of_batches_changes_nothing(world: World, tmp_path: Any) -> None:
    codes = [str(number) for number in range(20)] + ["toolong"]
    prices = [str(number) for number in range(20)] + ["1"]
    other = made_world(f"sqlite:///{tmp_path / 'other.db'}")
    whole = world.work(importer(), batch({"code": codes, "price": prices}))
    parts = [batch({"code": codes[i : i + 4], "price": prices[i : i + 4]}, first=i + 1) for i in range(0, 21, 4)]
    cut = other.work(importer(), *parts)
    assert (whole.counts, whole.errors) == (cut.counts, cut.errors)
    assert world.rows() == other.rows()
    assert world.logged() == other.logged()


def test_a_dry_run_tells_the_same_and_writes_nothing(sqlite_url: str) -> None:
    world = made_world(sqlite_url, dry_run=True)
    config = importer().relate("kind", "kind_id", KINDS, key="name", create_missing=True)
    outcome = world.work(config, batch({"code": ["a", "a"], "price": ["1", "2"], "kind": ["tool", "toy"]}))
    assert outcome.counts == Counts(created=1, failed=1)
    assert world.rows() == []
    assert [row[0] for row in world.rows(KINDS)] == ["tool"]


def test_the_row_log_keeps_all_rows_or_none_if_asked_to(world: World) -> None:
    world.work(importer().log_rows("all"), batch({"code": ["a", "toolong"], "price": ["1", "1"]}))
    assert world.logged() == [(1, "success", None), (2, "failed", "too_long")]
    world.work(importer().log_rows("none"), batch({"code": ["b", "toolong"], "price": ["1", "1"]}), index=1)
    assert len(world.logged()) == 2


def test_rows_skipped_on_purpose_are_logged_as_such(world: World) -> None:
    config = importer().keyed_by("code", on_duplicate=DuplicateStrategy.SKIP).log_rows("all")
    world.work(config, batch({"code": ["a"], "price": ["1"]}))
    outcome = world.work(config, batch({"code": ["a", "b"], "price": ["2", "2"]}, first=2), index=1)
    assert outcome.counts == Counts(created=1, skipped=1)
    assert world.logged()[1:] == [(2, "skipped", None), (3, "success", None)]


def test_too_many_failures_end_the_chunk_unwritten(world: World) -> None:
    def check(counts: Counts, errors: Sequence[ErrorCount]) -> None:
        if counts.failed > 1 and errors:
            raise RejectLimitExceeded("too many")

    given = [batch({"code": ["a", "toolong"], "price": ["1", "1"]}, first=first) for first in (1, 3, 5)]
    with pytest.raises(RejectLimitExceeded):
        world.work(importer(), *given, check_rejects=check)
    assert world.rows() == []


# -- batches of which only the failed rows are kept, since they can be read again


class Source:
    """Gives batches, and any of them again."""

    def __init__(self, *batches: RowBatch) -> None:
        self.asked: list[int] = []
        self.batches = [
            replace(one, again=partial(self.again, number, one)) for number, one in enumerate(batches, start=1)
        ]

    def again(self, number: int, one: RowBatch) -> RowBatch:
        self.asked.append(number)
        return one


def three_batches() -> Source:
    """Good rows, those that fail in the engine, and from the second batch on one that the database refuses."""
    codes = [["a", "b", "c", "d", "toolong"], ["e", "a", "f", "g", "toolong"], ["b", "h", "i", "j", "k"]]
    prices = ["1"] * 5
    return Source(*(batch({"code": code, "price": prices}, first=5 * n + 1) for n, code in enumerate(codes)))


@pytest.mark.parametrize("log", ["failed", "all", "none"])
def test_reading_rows_again_changes_nothing(world: World, tmp_path: Any, log: str) -> None:
    other = made_world(f"sqlite:///{tmp_path / 'other.db'}")
    source = three_batches()
    outcome = world.work(importer().log_rows(log), *source.batches)
    whole = other.work(importer().log_rows(log), *(replace(one, again=None) for one in source.batches))
    assert (outcome.counts, outcome.errors) == (whole.counts, whole.errors)
    assert outcome.counts == Counts(created=11, failed=4)
    page = {"page": 1, "per_page": 100}
    assert world.store.rows(world.run.id, **page).items == other.store.rows(other.run.id, **page).items
    assert bool(source.asked) is (log != "all")


def test_rows_are_read_again_only_for_those_that_the_target_refuses(world: World) -> None:
    source = three_batches()
    world.work(importer(), source.batches[0])
    assert source.asked == []


def test_a_handler_that_wants_all_rows_gets_them(world: World) -> None:
    class Listener(EventHandler):
        seen: list[str]

        def on_row_processed(self, run: IngestRun, row: Mapping[str, Any], record: Mapping[str, Any]) -> None:
            self.seen.append(row["code"])

    listener = Listener()
    listener.seen = []
    source = three_batches()
    world.work(importer().with_event_handler(listener), *source.batches)
    assert "".join(listener.seen) == "abcdefghijk"
    assert source.asked == []


# -- relations


def test_relations_are_found_by_their_natural_key(world: World) -> None:
    config = importer().relate("kind", "kind_id", KINDS, key="name")
    given = batch({"code": ["a", "b", "c"], "price": ["1", "1", "1"], "kind": [" tool", "toy", ""]})
    outcome = world.work(config, given)
    assert outcome.counts == Counts(created=2, failed=1)
    assert [(row[0], row[2]) for row in world.rows()] == [("a", 5), ("c", None)]
    assert world.logged() == [(2, "failed", "not_found")]
    assert ErrorCount(field="kind", message="No kinds has this name.", count=1) in outcome.errors


def test_missing_records_of_a_relation_are_created_if_asked_to(world: World) -> None:
    config = importer().relate("kind", "kind_id", KINDS, key="name", create_missing=True)
    first = batch({"code": ["a", "b"], "price": ["1", "1"], "kind": ["toy", "tool"]})
    second = batch({"code": ["c"], "price": ["1"], "kind": ["toy"]}, first=3)
    assert world.work(config, first, second).counts == Counts(created=3)
    assert sorted(row[0] for row in world.rows(KINDS)) == ["tool", "toy"]
    toy = next(row[2] for row in world.rows() if row[0] == "a")
    assert [row[2] for row in world.rows()] == [toy, 5, toy]


def test_relations_inside_collections_are_found_too(world: World) -> None:
    config = importer().nest(
        "parts",
        lambda nested: nested.for_(PARTS).map("name", "name").relate("kind", "kind_id", KINDS, key="name"),
    )
    given = batch(
        {
            "code": ["a", "b"],
            "price": ["1", "1"],
            "parts": ['[{"name":"x","kind":"tool"}]', '[{"name":"y","kind":"?"}]'],
        },
        kinds={"parts": Kind.JSON},
    )
    assert world.work(config, given).counts == Counts(created=1, failed=1)
    assert [row[1:] for row in world.rows(PARTS)] == [(5, "x")]
    page = world.store.rows(world.run.id, page=1, per_page=10)
    assert "parts[0].kind" in (page.items[0].errors or {})["validation"]


# -- handlers


class Listening(EventHandler):
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_row_processed(self, run: IngestRun, row: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        self.heard.append((row["row_number"], row["code"], record["code"]))

    def on_error(self, run: IngestRun, row: Mapping[str, Any], error: Any) -> None:
        self.heard.append((row["row_number"], row["code"], error.code))


class Failing(EventHandler):
    def on_error(self, run: IngestRun, row: Mapping[str, Any], error: Any) -> None:
        raise KeyError("row values must not show")


def test_handlers_hear_of_each_row_after_the_commit(world: World) -> None:
    handler = Listening()
    config = importer().with_event_handler(handler)
    world.work(
        config,
        batch({"code": ["a", "toolong"], "price": ["1", "1"]}),
        batch({"code": ["a", "b"], "price": ["1", "1"]}, first=3),
    )
    assert sorted(handler.heard[:2]) == [(1, "a", "a"), (2, "toolong", "too_long")]
    assert [entry[:2] for entry in sorted(handler.heard)] == [(1, "a"), (2, "toolong"), (3, "a"), (4, "b")]


def test_handlers_hear_nothing_of_a_chunk_that_was_not_committed(world: World) -> None:
    handler = Listening()

    def refuse(counts: Counts, errors: Sequence[ErrorCount]) -> None:
        raise RejectLimitExceeded("too many")

    with pytest.raises(RejectLimitExceeded):
        world.work(importer().with_event_handler(handler), batch({"code": ["a"], "price": ["1"]}), check_rejects=refuse)
    assert handler.heard == []


def test_a_handler_that_raises_is_a_warning_and_no_more(world: World, caplog: pytest.LogCaptureFixture) -> None:
    config = importer().with_event_handler(Failing()).map_and_validate("rating", "kind_id", RangeValidator(0, 5))
    given = batch({"code": ["a", "b", "c"], "price": ["1", "1", "1"], "rating": ["9", "9", "5"]})
    outcome = world.work(config, given)
    assert outcome.counts == Counts(created=1, failed=2)
    (warning,) = world.store.warnings(world.run.id)
    assert warning.startswith("on_error of Failing raised KeyError (2 times")
    assert "must not show" not in caplog.text
