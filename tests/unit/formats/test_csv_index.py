"""Laws of the record index: same records whatever the blocks and chunks, and the same as a simple reader finds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.formats import csv_exact, csv_index, csv_recover
from airflow_provider_ingest.formats.csv import plan_csv, read_csv_chunk
from airflow_provider_ingest.formats.csv_dialect import Dialect
from airflow_provider_ingest.formats.csv_exact import grammar
from airflow_provider_ingest.formats.csv_index import read_blocks

RELAXED = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
ALPHABET = ["a", "b", "é", ",", ",", '"', '"', '""', "\n", "\n", "\r\n", "\r", "\\", " ", ",,", '"\n', ',"', '",']
MESSY = st.lists(st.sampled_from(ALPHABET), max_size=60).map("".join)
DIALECTS = st.sampled_from(
    [
        Dialect(),
        Dialect(quote=""),
        Dialect(escape="\\"),
        Dialect(delimiter=", "),
        Dialect(delimiter=" ", escape="\\"),
        Dialect(quote="a", delimiter="b"),
    ]
)
Record = tuple[int, int, int, str | None]


def records_of(
    data: bytes, dialect: Dialect, width: int, block: int, start: int = 0, end: int | None = None, line: int = 1
) -> list[Record]:
    found: list[Record] = []
    for part in read_blocks(io.BytesIO(data), start, end, line, grammar(dialect), width, block):
        lines = part.line_numbers()
        for place in range(part.rows):
            is_cut = part.size > len(part.data)
            stop = part.size if is_cut else int(part.ends[place])
            found.append(
                (part.offset + int(part.starts[place]), part.offset + stop, int(lines[place]), part.broken.get(place))
            )
    return found


def reference(text: str) -> Iterator[list[str] | None]:
    """Character by character: the cells of each record, ``None`` for the first broken one, then nothing."""
    cells: list[str] = []
    position, size = 0, len(text)
    while position < size:
        if text[position] == '"':
            value, position = "", position + 1
            while True:
                if position >= size:
                    yield None
                    return
                if text[position] != '"':
                    value, position = value + text[position], position + 1
                elif text[position + 1 : position + 2] == '"':
                    value, position = value + '"', position + 2
                else:
                    position += 1
                    break
            if position < size and text[position] not in ",\r\n":
                yield None
                return
        else:
            stop = position
            while stop < size and text[stop] not in ",\r\n":
                stop += 1
            value, position = text[position:stop], stop
        cells.append(value)
        if position < size and text[position] == ",":
            position += 1
            if position == size:
                cells.append("")
        else:
            position += 2 if text.startswith("\r\n", position) else 1
            yield cells
            cells = []
            continue
        if position < size and text[position] in "\r\n":
            cells.append("")
            position += 2 if text.startswith("\r\n", position) else 1
            yield cells
            cells = []
    if cells:
        yield cells


@given(text=MESSY, dialect=DIALECTS, width=st.integers(1, 3), block=st.integers(1, 20))
@RELAXED
def test_records_do_not_depend_on_where_the_blocks_end(text: str, dialect: Dialect, width: int, block: int) -> None:
    data = text.encode()
    assert records_of(data, dialect, width, block) == records_of(data, dialect, width, 1 << 20)


@given(text=MESSY, dialect=DIALECTS, width=st.integers(1, 3), block=st.integers(1, 20))
@example(text='"a\na",' + "b" * 60 + "\na,b\n", dialect=Dialect(), width=2, block=1)
@example(text='""y\n", 1""\\"', dialect=Dialect(delimiter=", ", escape="\\"), width=2, block=20)
@RELAXED
def test_records_do_not_depend_on_where_the_blocks_end_under_tight_caps(
    monkeypatch: pytest.MonkeyPatch, text: str, dialect: Dialect, width: int, block: int
) -> None:
    monkeypatch.setattr(csv_index, "MAX_RECORD", 24)
    for module in (csv_recover, csv_index):
        monkeypatch.setattr(module, "LOOKAHEAD_BYTES", 8)
    data = text.encode()
    whole = records_of(data, dialect, width, 1 << 20)
    assert records_of(data, dialect, width, block) == whole
    assert records_of(data, dialect, width, block, 0, len(data)) == whole


@given(text=MESSY, dialect=DIALECTS, width=st.integers(1, 3), block=st.integers(1, 20))
@RELAXED
def test_a_range_that_starts_and_ends_at_records_has_the_same_records(
    text: str, dialect: Dialect, width: int, block: int
) -> None:
    data = text.encode()
    whole = records_of(data, dialect, width, 1 << 20)
    for cut in range(1, len(whole)):
        start, _, line, _ = whole[cut]
        assert records_of(data, dialect, width, block, 0, start) == whole[:cut]
        assert records_of(data, dialect, width, block, start, None, line) == whole[cut:]


@given(text=MESSY, dialect=DIALECTS, width=st.integers(1, 3))
@RELAXED
def test_only_newlines_are_left_out_between_records(text: str, dialect: Dialect, width: int) -> None:
    data = text.encode()
    position = 0
    for start, end, line, _ in records_of(data, dialect, width, 1 << 20):
        assert not data[position:start].strip(b"\r\n")
        assert line == 1 + len(csv_exact.NEWLINE.findall(data[:start]))
        position = end
    assert not data[position:].strip(b"\r\n")


@given(text=MESSY, width=st.integers(1, 3))
@RELAXED
def test_records_are_those_of_a_simple_reader_up_to_the_first_broken_one(text: str, width: int) -> None:
    data = text.encode()
    rules = grammar(Dialect())
    expected = [cells for cells in reference(text) if width == 1 or cells != [""] or '"' in text]
    found = [
        None if reason else [cell.decode() for cell in rules.cells(data[start:end].rstrip(b"\r\n")) or []]
        for start, end, _, reason in records_of(data, Dialect(), width, 1 << 20)
        if width == 1 or '"' in text or data[start:end].strip(b"\r\n")
    ]
    if width > 1:
        expected = [cells for cells in expected if cells != [""]]
        found = [cells for cells in found if cells != [""]]
    if None in expected:
        place = expected.index(None)
        expected, found = expected[: place + 1], found[: place + 1]
    assert found == expected


@given(
    table=st.lists(
        st.lists(st.text(st.sampled_from('ab,"\n\r é;'), max_size=6), min_size=2, max_size=2), min_size=1, max_size=12
    ),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    delimiter=st.sampled_from([",", ";", "\t"]),
    chunk_rows=st.integers(1, 5),
    batch_rows=st.integers(1, 4),
)
@RELAXED
def test_what_the_csv_module_writes_is_read_back(
    tmp_path: Path, table: list[list[str]], quoting: Any, newline: str, delimiter: str, chunk_rows: int, batch_rows: int
) -> None:
    if quoting == csv.QUOTE_MINIMAL:  # the module leaves the other newline unquoted
        table = [[cell.replace("\r", "").replace("\n", newline) for cell in row] for row in table]
    path = tmp_path / "written.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=quoting, lineterminator=newline, delimiter=delimiter)
        writer.writerow(["first", "second"])
        writer.writerows(table)
    options = {"delimiter": delimiter, "quote": '"', "escape": "", "has_header": True, "encoding": "utf-8"}
    plan = plan_csv(path, options=options, chunk_rows=chunk_rows, scratch=tmp_path)
    batches = [batch for chunk in plan.chunks for batch in read_csv_chunk(plan.reader, chunk, batch_rows=batch_rows)]
    found = [row for batch in batches for row in batch.frame.rows()]
    assert [list(row[2:]) for row in found] == table
    assert [row[0] for row in found] == list(range(1, len(table) + 1))
    content = path.read_bytes()
    lines = [line for _, _, line, _ in records_of(content, Dialect(delimiter=delimiter), 2, 1 << 20)]
    assert [row[1] for row in found] == lines[1:]


@given(text=MESSY, chunk_rows=st.integers(1, 4), batch_rows=st.integers(1, 3), width=st.integers(1, 3))
@RELAXED
def test_good_and_malformed_rows_together_are_all_rows_with_chunk_borders_everywhere(
    tmp_path: Path, text: str, chunk_rows: int, batch_rows: int, width: int
) -> None:
    path = tmp_path / "messy.csv"
    path.write_bytes(b"x" + text.encode() + b"\xff,a\na,b,\0\n")
    options = {
        "delimiter": ",", "quote": '"', "escape": "", "encoding": "utf-8", "has_header": False,
        "column_names": ["one", "two", "three"][:width],
    }  # fmt: skip
    seen = []
    for rows, batch in ((chunk_rows, batch_rows), (1000, 1000)):
        plan = plan_csv(path, options=options, chunk_rows=rows, scratch=tmp_path)
        batches = [part for chunk in plan.chunks for part in read_csv_chunk(plan.reader, chunk, batch_rows=batch)]
        good = [row for part in batches for row in part.frame.rows()]
        bad = [row for part in batches for row in part.malformed.rows()]
        assert sorted([row[0] for row in good] + [row[0] for row in bad]) == list(range(1, plan.rows + 1))
        seen.append((good, bad))
    assert seen[0] == seen[1]
