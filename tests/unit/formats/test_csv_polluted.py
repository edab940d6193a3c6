"""Files polluted in the ways of the Pollock benchmark: no row is lost, and what cannot be read as meant is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_provider_ingest.formats import read_table
from airflow_provider_ingest.runs.frames import ROW_NUMBER
from tests.unit.formats.pollution import HEADER, Polluted, files, places, rows, whole

FILES = {one.name: one for one in files()}
LINES = {"the header": 0, "the first row": 1, "a row of quotes": 3, "a row in the middle": 42, "the last row": 83}


def check(polluted: Polluted, path: Path, is_given: bool) -> None:
    """All rows are there, in their order; those that are not as they were meant are malformed, with their numbers."""
    path.write_bytes(polluted.data)
    options = {name: value for name, value in polluted.given.items() if value is not None}
    table = read_table(path, **options if is_given else {})
    if polluted.names is not None:
        assert list(table.columns) == polluted.names, polluted.name
    assert len(table.columns) == len(HEADER), polluted.name
    good = dict(zip(table.frame[ROW_NUMBER].to_list(), (list(row[2:]) for row in table.frame.rows()), strict=True))
    bad = table.malformed[ROW_NUMBER].to_list()
    assert sorted([*good, *bad]) == list(range(1, len(polluted.rows) + 1)), polluted.name
    assert {at: row for at, row in good.items() if at - 1 not in polluted.lost} == {
        at: row for at, row in enumerate(polluted.rows, 1) if at - 1 not in polluted.lost
    }, polluted.name
    assert {at - 1 for at in bad} <= set(polluted.lost), polluted.name


@pytest.mark.parametrize("is_given", [True, False], ids=["dialect given", "dialect found"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_polluted_as_a_whole_gives_every_row(name: str, is_given: bool, tmp_path: Path) -> None:
    check(FILES[name], tmp_path / "x.csv", is_given)


@pytest.mark.parametrize("is_given", [True, False], ids=["dialect given", "dialect found"])
@pytest.mark.parametrize("line", LINES)
def test_a_row_polluted_in_any_place_costs_itself_at_most(line: str, is_given: bool, tmp_path: Path) -> None:
    for polluted in places((LINES[line],)):
        check(polluted, tmp_path / "x.csv", is_given)


def test_an_empty_file_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"")
    assert read_table(tmp_path / "x.csv").frame.height == 0


def test_lines_that_repeat_the_header_are_told(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(whole([HEADER, HEADER, *rows(5)]))
    table = read_table(tmp_path / "x.csv")
    assert table.warnings == ("1 line that repeats the header left out.",)
    assert read_table(tmp_path / "x.csv", header_rows=2).columns[0] == "DATE DATE"
    assert read_table(tmp_path / "x.csv", header_rows=1).frame.height == 6


def test_a_header_with_one_delimiter_too_many_still_names_the_columns(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,,b,c\n1,2,3\n4,5,6\n")
    table = read_table(tmp_path / "x.csv")
    assert (table.columns, table.frame.height, table.malformed.height) == (("a", "b", "c"), 2, 0)
