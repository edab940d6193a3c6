"""Files polluted in the ways of the Pollock benchmark: no row is lost, and what cannot be read as meant is told."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest

from airflow_provider_ingest.formats import read_table
from airflow_provider_ingest.formats.table import Table
from airflow_provider_ingest.runs.frames import ROW_NUMBER
from tests.unit.formats.polluted_tables import TABLES, Clean, products
from tests.unit.formats.pollution import Polluted, of_a_row, of_the_file
from tests.unit.formats.pollution_score import polluted, score

ONES = {str(table): table for table in TABLES}
WAYS = {"dialect given": True, "dialect found": False}
QUOTED = [name for name, table in ONES.items() if table.quotes_all]
LINES = {"the header": 0, "the first row": 1, "a row of quotes": 3, "a row in the middle": 6, "the last row": -1}
NOT_CERTAIN = ("row_less_sep", "row_field_delimiter", "row_quotation_char")
"""What in a header without quotes leaves nobody certain of the names."""


def check(one: Polluted, table: Table) -> None:
    """All rows are there, in their order; those that are not as they were meant are malformed, with their numbers."""
    good = {row[0]: list(row[2:]) for row in table.frame.rows()}
    bad = table.malformed[ROW_NUMBER].to_list()
    certain = [row for at, row in enumerate(one.rows) if at not in one.broken]
    if all("\n" not in cell for at in one.broken for cell in one.rows[at]):
        assert sorted([*good, *bad]) == list(range(1, len(one.rows) + one.extra + 1)), one.name
        assert {at - 1 for at in bad if at <= len(one.rows)} <= one.broken, one.name
        assert [good[at + 1] for at in range(len(one.rows)) if at not in one.broken] == certain, one.name
    else:  # the rest of a broken record may be one more
        left = iter(list(good.values()))
        assert all(row in left for row in certain), one.name
        assert len(good) <= len(one.rows), one.name
        assert len(bad) <= 2, one.name


def names_of(one: Polluted, is_given: bool) -> list[str] | None:
    """The names to be read; a header that is found again is left out, one that is said to have two lines is joined."""
    if one.header is None or one.kind != "header_multirow" or is_given:
        return one.header
    return [name.split(" ")[0] for name in one.header]


@pytest.mark.parametrize("is_given", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", ONES)
def test_a_file_polluted_as_a_whole_gives_every_row(name: str, is_given: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for one in of_the_file(ONES[name]):
        path.write_bytes(one.data)
        table = read_table(path, **one.given if is_given else {})
        assert table.facts["has_header"] == (one.header is not None), one.name
        if one.header is not None:
            assert list(table.columns) == names_of(one, is_given), one.name
        check(one, table)


@pytest.mark.parametrize("is_given", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", ONES)
@pytest.mark.parametrize("line", LINES)
def test_a_row_polluted_in_any_place_costs_itself_at_most(line: str, name: str, is_given: bool, tmp_path: Path) -> None:
    clean, path = ONES[name], tmp_path / "x.csv"
    width, at = len(clean.header), LINES[line] % (len(clean.rows) + 1)
    for one in of_a_row(clean, at, range(width) if width < 12 else (0, width // 2, width - 1)):
        if at == 0 and one.kind in NOT_CERTAIN and not clean.quotes_all:
            continue
        path.write_bytes(one.data)
        table = read_table(path, **one.given if is_given else {})
        assert len(table.columns) == width, one.name
        check(one, table)


@pytest.mark.parametrize("is_given", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", QUOTED)
def test_where_every_field_is_quoted_a_broken_record_is_told_as_it_was_meant(
    name: str, is_given: bool, tmp_path: Path
) -> None:
    scores = defaultdict(list)
    for one in polluted(ONES[name]):
        scores[one.kind].append(score(one, tmp_path / "x.csv", is_given=is_given))
    named_once = set() if is_given else {"header_multirow"}
    told_as_text = {"multitable", "row_quotation_char", "row_escape_char"}
    assert {kind for kind, found in scores.items() if fmean(found) < 9.99} <= named_once | told_as_text


def test_an_empty_file_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"")
    assert read_table(tmp_path / "x.csv").frame.height == 0
    assert read_table(tmp_path / "x.csv", delimiter=",", header_row=1).records() == []


def test_lines_that_repeat_the_header_are_told(tmp_path: Path) -> None:
    table = products(5)
    (tmp_path / "x.csv").write_text(table.text([table.header, table.header, *table.rows]))
    found = read_table(tmp_path / "x.csv")
    assert found.warnings == ("1 line that repeats the header left out.",)
    assert read_table(tmp_path / "x.csv", header_rows=2).columns[0] == "DATE DATE"
    assert read_table(tmp_path / "x.csv", header_rows=1).frame.height == 6


def read(text: str, path: Path, **options: object) -> Table:
    path.write_text(text)
    return read_table(path, **options)


def test_a_header_with_one_delimiter_too_many_still_names_the_columns(tmp_path: Path) -> None:
    table = read("a,,b,c\n1,2,3\n4,5,6\n", tmp_path / "x.csv")
    assert (table.columns, table.frame.height, table.malformed.height) == (("a", "b", "c"), 2, 0)


@pytest.mark.parametrize("options", [{}, {"delimiter": ",", "header_row": 1}], ids=["found", "given"])
def test_a_header_with_fewer_names_than_all_rows_have_fields_loads_and_is_told(
    options: dict[str, object], tmp_path: Path
) -> None:
    table = read("a,b,c\n1,2,3,4\n5,6,7,8\n", tmp_path / "x.csv", **options)
    assert (table.columns, table.records()) == (
        ("a", "b", "c", "column_4"),
        [["1", "2", "3", "4"], ["5", "6", "7", "8"]],
    )
    assert table.warnings == ("The header has 3 names, the rows have 4 fields: 1 more column without a name.",)


def test_the_column_without_a_name_is_the_first_if_it_counts_the_rows(tmp_path: Path) -> None:
    table = read('"x","y"\n"1",5,6\n"2",7,8\n"3",9,9\n', tmp_path / "x.csv")
    assert table.columns == ("column_1", "x", "y")


def test_one_longer_row_below_a_header_is_malformed(tmp_path: Path) -> None:
    table = read("a,b,c\n1,2,3,4\n", tmp_path / "x.csv")
    assert table.columns == ("a", "b", "c")
    assert table.malformed["reason"].to_list() == ["expected 3 fields, found 4"]


def test_rows_with_fewer_fields_than_the_header_has_names_are_malformed(tmp_path: Path) -> None:
    table = read("a,b,c,d\n1,2,3\n4,5,6\n", tmp_path / "x.csv")
    assert table.malformed["reason"].to_list() == ["expected 4 fields, found 3"] * 2
    assert table.records() == [["1", "2", "3"], ["4", "5", "6"]]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"skip_rows": 3, "has_header": False, "column_names": ["x", "y", "z"]}, ("x", "y", "z")),
        ({"skip_rows": 2, "has_header": True}, ("a", "b", "c")),
        ({"skip_rows": 2, "header_rows": 1}, ("a", "b", "c")),
        ({"header_row": 3}, ("a", "b", "c")),
        ({"skip_rows": 2, "header_row": 3}, ("a", "b", "c")),
        ({"skip_rows": 2, "header_row": 1}, ("a", "b", "c")),
        ({}, ("a", "b", "c")),
    ],
    ids=str,
)
def test_a_preamble_is_told_in_any_of_these_ways(
    options: dict[str, object], names: tuple[str, ...], tmp_path: Path
) -> None:
    table = read("A title\n\na,b,c\n1,2,3\n4,5,6\n", tmp_path / "x.csv", **options)
    assert (table.columns, table.records()) == (names, [["1", "2", "3"], ["4", "5", "6"]])


def test_records_are_all_rows_in_their_order_whatever_became_of_them(tmp_path: Path) -> None:
    table = read('a,b\n1,2\n3\n"x"y",4\n5,6,7\n8,9\n', tmp_path / "x.csv")
    assert table.records() == [["1", "2"], ["3"], ['x"y', "4"], ["5", "6", "7"], ["8", "9"]]


@pytest.mark.parametrize("clean", [products(2000), Clean("long", ["a", "b"], [[str(n), "x"] for n in range(60_000)])])
def test_a_pollution_behind_the_sample_costs_its_row(clean: Clean, tmp_path: Path) -> None:
    for one in of_a_row(clean, len(clean.rows) - 3, (0, 1)):
        (tmp_path / "x.csv").write_bytes(one.data)
        check(one, read_table(tmp_path / "x.csv"))
