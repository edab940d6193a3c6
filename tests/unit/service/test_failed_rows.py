from __future__ import annotations

import csv
import io
import re
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import Conflict
from airflow_provider_ingest.runs.failure import INVALID_DATA
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.service.cells import NUMBER, escape_cell, unescape_cell, unescape_column
from airflow_provider_ingest.service.failed_rows import NothingToDownload
from tests.unit.service.world import World

SPICY = st.text(st.sampled_from(list("'=+-@\t\r\n1.,eE\"ab ")) | st.characters(codec="utf-8"))


@given(SPICY)
def test_unescaping_gives_back_exactly_what_was_escaped(text: str) -> None:
    assert unescape_cell(escape_cell(text)) == text


@given(st.lists(SPICY))
def test_a_column_is_unescaped_like_its_cells(texts: list[str]) -> None:
    escaped = pl.Series("cell", [escape_cell(text) for text in texts], dtype=pl.String)
    assert pl.DataFrame([escaped]).select(unescape_column(pl.col("cell"))).get_column("cell").to_list() == texts


@given(SPICY)
def test_no_escaped_cell_is_a_formula(text: str) -> None:
    escaped = escape_cell(text)
    assert not escaped.startswith(("=", "+", "-", "@", "\t", "\r")) or re.fullmatch(NUMBER, escaped)


@pytest.mark.parametrize("number", ["-12.5", "+49", "-1,5", "-1e5", "-.5", "+1.234,56"])
def test_plain_numbers_stay_as_they_are(number: str) -> None:
    assert escape_cell(number) == number


@pytest.mark.parametrize("formula", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "=", "--1"])
def test_formulas_get_an_apostrophe(formula: str) -> None:
    assert escape_cell(formula) == "'" + formula


@pytest.fixture
def world() -> World:
    return World()


def lines(world: World, run_id: int) -> list[list[str]]:
    download = world.service.failed_rows(run_id)
    text = b"".join(world.service.stream(download)).decode()
    return list(csv.reader(io.StringIO(text, newline="")))


def logged(world: World, *rows: dict[str, Any], columns: list[str] | None = None) -> int:
    run = world.started()
    if columns is not None:
        world.store.record_file(run.id, {"name": "a.csv", "columns": columns})
    world.finish(run, failed=len(rows), rows=rows)
    return run.id


def test_the_file_has_the_original_columns_in_order_then_message_and_number(world: World) -> None:
    run = logged(world, {"b": "2", "a": "1"}, columns=["a", "b", "c"])
    assert lines(world, run) == [["a", "b", "c", "_error_message", "_row_number"], ["1", "2", "", INVALID_DATA, "1"]]


def test_a_record_that_was_no_row_is_shown_as_it_stood_since_its_cells_may_be_too_many(world: World) -> None:
    run = logged(world, {"a": "1", "b": "2", "_extra": ["3"], "_raw": "1,2,3"}, columns=["a", "b"])
    assert lines(world, run)[1] == ["1", "2", f"{INVALID_DATA}: 1,2,3", "1"]


def test_without_known_columns_they_are_the_union_in_order_of_appearance(world: World) -> None:
    run = logged(world, {"b": "2"}, {"a": "1", "b": "3"})
    assert lines(world, run)[0] == ["b", "a", "_error_message", "_row_number"]


def test_formulas_quotes_and_newlines_survive(world: World) -> None:
    run = logged(world, {"a": '=HYPERLINK("x")', "b": "line\none, two"})
    _, row = lines(world, run)
    assert [unescape_cell(cell) for cell in row[:2]] == ['=HYPERLINK("x")', "line\none, two"]
    assert row[0].startswith("'=")


def test_values_that_are_no_text_are_json_and_null_is_empty(world: World) -> None:
    run = logged(world, {"a": None, "b": 7, "c": {"d": [1]}})
    assert lines(world, run)[1][:3] == ["", "7", '{"d":[1]}']


def test_all_reasons_of_a_row_stand_in_one_cell(world: World) -> None:
    run = world.ended(failed=1)
    assert lines(world, run.id)[1][-2:] == ["sku: is required", "1"]


def test_without_failed_rows_there_is_nothing_to_download(world: World) -> None:
    with pytest.raises(NothingToDownload) as refusal:
        world.service.failed_rows(world.ended(failed=0).id)
    assert refusal.value.status == 404


def test_failed_rows_that_are_not_logged_any_more_are_a_conflict(world: World) -> None:
    with pytest.raises(Conflict) as refusal:
        world.service.failed_rows(world.ended(log=False, status=RunStatus.FAILED).id)
    assert refusal.value.code == "rows_gone"
