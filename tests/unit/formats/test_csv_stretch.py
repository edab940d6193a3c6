"""What the planner says of stretches never changes what is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from airflow_provider_ingest.formats import csv_plan, csv_stretch, plan_file
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.formats.csv_read import read_csv_chunk
from airflow_provider_ingest.formats.csv_stretch import Stretches, grouped

RECORDS = st.sampled_from(
    [b"1,a,x", b"2,b,y", b'3,"c\nc",z', b'4,"d",""', b"5,e", b"6,f,f,f", b"", b"7,\xff,x", b"8,\0,x", "9,é,x".encode()]
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and stretches of a few records."""
    monkeypatch.setattr(csv_plan, "_BLOCK", 40)
    monkeypatch.setattr(csv_stretch, "LEAST_ROWS", 2)


def read(plan: FilePlan, batch_rows: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All rows and all malformed records of a plan."""
    batches = [batch for chunk in plan.chunks for batch in read_csv_chunk(plan.reader, chunk, batch_rows=batch_rows)]
    return pl.concat([batch.frame for batch in batches]), pl.concat([batch.malformed for batch in batches])


def carefully(plan: FilePlan) -> FilePlan:
    """The plan with nothing said to be plain."""

    def doubted(location: dict[str, object]) -> dict[str, object]:
        return {**location, "stretches": [[rows, size, 0] for rows, size, _ in location["stretches"]]}  # type: ignore[attr-defined]

    return replace(plan, chunks=[replace(chunk, location=doubted(dict(chunk.location))) for chunk in plan.chunks])


@settings(deadline=None, max_examples=150)
@given(
    records=st.lists(RECORDS, min_size=1, max_size=40).filter(lambda records: records.count(b"8,\0,x") < 2),
    newline=st.sampled_from([b"\n", b"\r\n"]),
    ends=st.booleans(),
    chunk_rows=st.integers(1, 12),
    batch_rows=st.integers(1, 12),
)
def test_plain_and_careful_reading_give_the_same_rows(
    records: list[bytes], newline: bytes, ends: bool, chunk_rows: int, batch_rows: int
) -> None:
    content = newline.join([b"id,name,note", b"0,first,row", *records]) + newline * ends
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file.csv"
        path.write_bytes(content)
        options = {"delimiter": ",", "quote": '"', "encoding": "utf-8"}
        plan = plan_file(path, options=options, chunk_rows=chunk_rows, scratch=Path(folder))
        for chunk in plan.chunks:
            stretches = chunk.location["stretches"]
            assert sum(rows for rows, _, _ in stretches) == chunk.rows
            assert sum(size for _, size, _ in stretches) == chunk.location["end"] - chunk.location["start"]
        for found, expected in zip(read(plan, batch_rows), read(carefully(plan), 5), strict=True):
            assert_frame_equal(found, expected)


def test_lines_without_quotes_are_plain_and_a_quoted_newline_is_not(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(b"id,name\n" + b"1,plain row of text\n" * 20 + b'2,"two\nlines of text"\n' + b"3,plain row\n" * 20)
    plan = plan_file(path, options={}, chunk_rows=1000, scratch=tmp_path)
    kinds = [kind for _, _, kind in plan.chunks[0].location["stretches"]]
    assert kinds[0] == kinds[-1] == 1
    assert 0 in kinds


def test_a_chunk_that_was_planned_before_the_file_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(b"id,name\n" + b"1,ab\n" * 10)
    plan = plan_file(path, options={}, chunk_rows=100, scratch=tmp_path)
    path.write_bytes(b"id,name\n" + b"1,a\n1\n" * 8 + b"1,\n")
    with pytest.raises(Exception, match="the file was changed while it was read"):
        read(plan, 100)


def test_neighbours_are_read_together_up_to_a_batch_and_the_first_batches_are_smaller() -> None:
    stretches = Stretches()
    for _ in range(9):
        stretches.add(2, 10, True)
    stretches.add(3, 10, False)
    read = [(2, 10, True), (4, 20, True), (8, 40, True), (4, 20, True), (3, 10, False)]
    assert list(grouped(stretches.end(), 8, 1000)) == read
    assert stretches.end() == []
