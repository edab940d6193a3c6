"""What is told of records that are no rows: one by one, and many at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.formats import csv_ragged, read_table
from airflow_provider_ingest.formats.csv_dialect import Dialect
from airflow_provider_ingest.formats.csv_exact import grammar
from airflow_provider_ingest.formats.csv_recover import meant_cells, recover

RELAXED = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
CELLS = st.sampled_from(
    ["a", "é", '"b"', '"c,d"', '"e""f"', "", "1;2", "x: y", "'z'", '"g\nh"', "t|u", "\t", "\\", '"']
)


def cells(record: str, width: int, dialect: Dialect | None = None) -> list[str]:
    return [cell.decode() for cell in meant_cells(grammar(dialect or Dialect()), record.encode(), width)]


@pytest.mark.parametrize(
    ("record", "meant"),
    [
        ('"a""b","c"', ["a", "b", "c"]),
        ('"a","b"""', ["a", "b", ""]),
        ('"""a","b"', ["", "a", "b"]),
        ('"48""","b""c"', ['48"', "b", "c"]),
        ('"48""""b","c"', ['48"', "b", "c"]),
        ('"say ""yes"" now""b","c"', ['say "yes" now', "b", "c"]),
        ('"a","","b",,"c"', ["a", "", "b", "c"]),
        (',"a","b"', ["a", "b"]),
        ('""a","b","c"', ['"a', "b", "c"]),
        ('"a"x","b","c"', ['a"x', "b", "c"]),
        ('"a","b"y","c"z"', ["a", 'b"y', 'c"z']),
        ('"a" "b" "c"', ["a", "b", "c"]),
        ("a;b;c", ["a", "b", "c"]),
        ("'a','b, c','d'", ["a", "b, c", "d"]),
    ],
)
def test_a_record_is_told_as_it_was_most_probably_meant(record: str, meant: list[str]) -> None:
    assert cells(record, len(meant)) == meant


@pytest.mark.parametrize(
    ("record", "width", "told"),
    [
        ("a,,b,c", 3, ["a", "", "b", "c"]),
        ('a""b,c', 3, ['a""b', "c"]),
        ('"a""b""c","d"', 3, ['a"b"c', "d"]),
        ('"say ""yes","d"', 3, ['say "yes', "d"]),
        ("a b,c", 3, ["a b", "c"]),
        ("91,Jan 3, 2024", 2, ["91", "Jan 3", " 2024"]),
    ],
    ids=["no field is quoted", "not quoted", "two places to choose from", "text goes on", "a sentence", "a date"],
)
def test_what_may_be_meant_in_several_ways_is_told_as_it_stands(record: str, width: int, told: list[str]) -> None:
    assert cells(record, width) == told


def test_a_backslash_before_a_quote_is_no_missing_delimiter() -> None:
    assert cells('"a\\"""b","c"', 3, Dialect(escape="\\")) == ['a"', "b", "c"]


def test_a_record_that_cannot_have_so_many_cells_is_given_up_at_once() -> None:
    record = b",".join([b'"a"b'] * 5000)
    assert not recover(grammar(Dialect()), record, 6000)[1]


@given(records=st.lists(st.lists(CELLS, min_size=1, max_size=5), min_size=1, max_size=40))
@RELAXED
def test_many_ragged_records_are_told_as_each_alone_would_be(
    records: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("".join(",".join(cells) + "\n" for cells in [["x", "y", "z"], *records]).encode())
    found = []
    for least in (1, 1_000_000):
        monkeypatch.setattr(csv_ragged, "_LEAST", least)
        found.append(read_table(path, delimiter=",", quote='"', escape="", column_names=["x", "y", "z"], header_row=1))
    assert found[0].malformed.equals(found[1].malformed)
    assert found[0].records() == found[1].records()
