"""When and how the rows of a chunk reach its log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from airflow_provider_ingest.engine import chunk_log
from airflow_provider_ingest.engine.row_log import only_rows
from airflow_provider_ingest.exceptions import RejectLimitExceeded
from airflow_provider_ingest.formats.arrow_memory import arrow_pool
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, RowBatch
from airflow_provider_ingest.runs.outcome import ErrorCount
from airflow_provider_ingest.runs.progress import Counts
from tests.unit.engine.chunk_world import World, importer, made_world
from tests.unit.engine.worlds import batch

Appended = list[list[int]]


@pytest.fixture
def world(sqlite_url: str) -> World:
    return made_world(sqlite_url)


@pytest.fixture
def appended(world: World, monkeypatch: pytest.MonkeyPatch) -> Appended:
    """The numbers of the rows that were handed to the store together."""
    handed: Appended = []
    append_rows = world.store.append_rows

    def append(run_id: int, index: int, rows: pl.DataFrame, fields: Sequence[str] | None = None) -> None:
        handed.append(rows[ROW_NUMBER].to_list())
        append_rows(run_id, index, rows, fields)

    monkeypatch.setattr(world.store, "append_rows", append)
    return handed


def halves(number: int) -> Iterator[RowBatch]:
    """Batches of a good row and a failed one."""
    return (batch({"code": [f"c{n}", "toolong"], "price": ["1", "1"]}, first=2 * n + 1) for n in range(number))


def test_the_few_failed_rows_of_several_batches_are_logged_together(
    world: World, appended: Appended, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_log, "PROGRESS_SECONDS", 3600.0)
    monkeypatch.setattr(chunk_log, "TOGETHER", 3)
    world.work(importer(), *halves(7))
    assert appended == [[2, 4, 6], [8, 10, 12], [14]]
    assert [entry[0] for entry in world.logged()] == [2, 4, 6, 8, 10, 12, 14]


def test_failed_rows_do_not_wait_for_long(world: World, appended: Appended, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_log, "PROGRESS_SECONDS", 0.0)
    world.work(importer(), *halves(3))
    assert appended == [[2], [4], [6]]


def test_rows_of_batches_with_other_columns_keep_their_names(
    world: World, appended: Appended, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_log, "PROGRESS_SECONDS", 3600.0)
    other = batch({"price": ["1", "1"], "code": ["b", "toolong"], "more": ["x", "y"]}, first=3)
    world.work(importer(), *halves(1), other)
    assert appended == [[2], [4]]
    rows = world.store.rows(world.run.id, page=1, per_page=10).items
    assert [row.data for row in rows] == [
        {"code": "toolong", "price": "1"},
        {"price": "1", "code": "toolong", "more": "y"},
    ]


def test_what_the_rows_of_a_chunk_failed_for_is_logged_when_the_chunk_ends_early(world: World) -> None:
    def check(counts: Counts, errors: Sequence[ErrorCount]) -> None:
        if counts.failed > 2 and errors:
            raise RejectLimitExceeded("too many")

    with pytest.raises(RejectLimitExceeded):
        world.work(importer(), *halves(9), check_rejects=check)
    assert [entry[0] for entry in world.logged()] == [2, 4, 6]


def test_a_log_that_cannot_be_written_ends_the_chunk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(world.store, "append_rows", refuse)
    with pytest.raises(OSError, match="no space"):
        world.work(importer(), *halves(1))
    assert world.rows() == []


def test_rows_that_are_kept_keep_none_of_the_memory_of_the_others() -> None:
    pool = arrow_pool()
    before = pool.bytes_allocated()
    texts = pa.array([f"a text of some length {number}" for number in range(100_000)], memory_pool=pool)
    column = pl.Series(pl.from_arrow(texts.cast(pa.string_view())))
    frame = pl.DataFrame([pl.int_range(column.len(), eager=True).alias(ROW_NUMBER), column.alias("name\0")])
    frame = frame.insert_column(1, frame[ROW_NUMBER].alias(LINE_NUMBER))
    kept = only_rows(RowBatch(frame=frame), pl.Series([7, 70_000]))
    assert pool.bytes_allocated() - before > 2_000_000
    del texts, column, frame
    assert pool.bytes_allocated() - before < 100_000
    assert kept.frame.rows() == [(number, number, f"a text of some length {number}") for number in (7, 70_000)]
    assert kept.columns == ["name\0"]
