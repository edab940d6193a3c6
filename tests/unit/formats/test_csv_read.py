"""Reading CSV chunks: rows, numbers, malformed records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import csv_rows
from airflow_provider_ingest.formats.arrow import BATCH_CELLS
from airflow_provider_ingest.formats.arrow_memory import arrow_pool
from airflow_provider_ingest.formats.csv import plan_csv, read_csv_chunk
from airflow_provider_ingest.formats.table import Table, read_table
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER


def table(tmp_path: Path, content: bytes, **options: Any) -> Table:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    return read_table(path, **options)


def rows(result: Table) -> list[tuple[Any, ...]]:
    return result.frame.drop(ROW_NUMBER, LINE_NUMBER).rows()


def malformed(result: Table) -> list[dict[str, Any]]:
    return [{**row, "data": json.loads(row["data"])} for row in result.malformed.to_dicts()]


def test_rows_are_text_with_row_and_line_numbers(tmp_path: Path) -> None:
    result = table(tmp_path, b'id,name\n1,"a\nb"\n2,\n3,""\n')
    assert result.frame.rows() == [(1, 2, "1", "a\nb"), (2, 4, "2", ""), (3, 5, "3", "")]
    assert result.frame.schema["id"] == pl.String


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("last", [True, False])
def test_every_newline_ends_a_line(tmp_path: Path, newline: bytes, last: bool) -> None:
    content = newline.join([b"a,b", b"1,2", b'3,"4' + newline + b'5"', b"6,7"]) + (newline if last else b"")
    result = table(tmp_path, content)
    assert result.frame.rows() == [(1, 2, "1", "2"), (2, 3, "3", f"4{newline.decode()}5"), (3, 5, "6", "7")]


def test_a_newline_in_quotes_is_whole_wherever_a_block_of_pyarrow_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_rows, "ARROW_BLOCK", 64)
    texts = ["x" * (number % 7) + "\r\n" * (number % 5) for number in range(200)]
    content = "".join(f'{number},"{text}"\r\n' for number, text in enumerate(texts))
    assert table(tmp_path, f"id,text\r\n{content}".encode()).frame["text"].to_list() == texts


def test_mixed_newlines_in_one_file(tmp_path: Path) -> None:
    result = table(tmp_path, b"a,b\r\n1,2\n3,4\r5,6\r\n7,8")
    assert [row[:2] for row in result.frame.rows()] == [(1, 2), (2, 3), (3, 4), (4, 5)]
    assert rows(result)[-1] == ("7", "8")


def test_blank_lines_are_left_out_but_count_as_lines(tmp_path: Path) -> None:
    result = table(tmp_path, b"\na,b\n\n1,2\n\r\n\n3,4\n\n\n")
    assert result.frame.rows() == [(1, 4, "1", "2"), (2, 7, "3", "4")]


def test_a_blank_line_is_an_empty_cell_of_a_single_column(tmp_path: Path) -> None:
    assert rows(table(tmp_path, b"name\na\n\nb\n")) == [("a",), ("",), ("b",)]


def test_rows_live_in_the_memory_that_batches_are_given_and_not_in_pyarrows_own(tmp_path: Path) -> None:
    if arrow_pool() is pa.default_memory_pool():
        pytest.skip("PyArrow has no jemalloc here.")
    before = pa.default_memory_pool().bytes_allocated(), arrow_pool().bytes_allocated()
    result = table(tmp_path, b"id,name\n" + b"1,longer than a view holds\n" * 2000 + b"2,one field too many,x\n")
    assert result.frame.height == 2000
    assert pa.default_memory_pool().bytes_allocated() < before[0] + 10_000
    assert arrow_pool().bytes_allocated() > before[1] + 2000 * len("longer than a view holds")


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    assert table(tmp_path, b"\xef\xbb\xbfid,name\n1,a\n").columns == ("id", "name")


def test_a_byte_order_mark_inside_the_file_is_kept(tmp_path: Path) -> None:
    assert rows(table(tmp_path, b"id,name\n\xef\xbb\xbf1,a\n2,b\n")) == [("\ufeff1", "a"), ("2", "b")]


def test_a_row_with_too_many_or_too_few_fields_fails_alone(tmp_path: Path) -> None:
    result = table(tmp_path, b"a,b,c\n1,2,3\n4,5\n6,7,8,9,10\n11,12,13\n")
    assert rows(result) == [("1", "2", "3"), ("11", "12", "13")]
    assert malformed(result) == [
        {
            "_row_number": 2,
            "_line_number": 3,
            "reason": "expected 3 fields, found 2",
            "raw": "4,5",
            "data": {"a": "4", "b": "5"},
        },
        {
            "_row_number": 3,
            "_line_number": 4,
            "reason": "expected 3 fields, found 5",
            "raw": "6,7,8,9,10",
            "data": {"a": "6", "b": "7", "c": "8", "_extra": ["9", "10"]},
        },
    ]


def test_padding_fills_missing_fields_and_drops_empty_surplus_ones(tmp_path: Path) -> None:
    result = table(tmp_path, b"a,b,c\n1,2,3\n4,5\n6,7,8,,\n9,9,9,9\n", on_ragged="pad")
    assert rows(result) == [("1", "2", "3"), ("4", "5", ""), ("6", "7", "8")]
    assert result.malformed["reason"].to_list() == ["expected 3 fields, found 4"]


def test_an_unclosed_quote_costs_one_row(tmp_path: Path) -> None:
    lines = [b"a,b,c", b'1,"oops,3', *(b'%d,"x ""y""\nz",w' % n for n in range(2, 200))]
    result = table(tmp_path, b"\n".join(lines) + b"\n")
    assert result.malformed.select("_row_number", "_line_number", "raw").rows() == [(1, 2, '1,"oops,3')]
    assert malformed(result)[0]["data"] == {"a": "1", "b": '"oops', "c": "3"}
    assert result.frame.height == 198
    assert result.frame.row(-1) == (199, 397, "199", 'x "y"\nz', "w")


def test_an_unclosed_quote_in_the_last_row_costs_one_row(tmp_path: Path) -> None:
    result = table(tmp_path, b'a,b\n1,2\n3,"4')
    assert rows(result) == [("1", "2")]
    assert result.malformed["reason"].to_list() == ["a quote is not closed"]


def test_text_after_a_closing_quote_fails_its_row_with_the_cells_recovered(tmp_path: Path) -> None:
    result = table(tmp_path, b'a,b,c\n1,"he said "hi", there",3\n4,5,6\n')
    assert rows(result) == [("4", "5", "6")]
    (row,) = malformed(result)
    assert row["reason"] == "text after a closing quote"
    assert row["data"] == {"a": "1", "b": 'he said "hi", there', "c": "3"}


def test_a_quote_inside_an_unquoted_field_is_text(tmp_path: Path) -> None:
    assert rows(table(tmp_path, b'a,b\n5" pipe,x\n6"",y\n')) == [('5" pipe', "x"), ('6""', "y")]


def test_invalid_utf8_fails_its_row_alone(tmp_path: Path) -> None:
    result = table(tmp_path, "a,b\n1,é\n2,ü\n".encode() + b"3,\xff\xfe\n" + "4,ß\n".encode())
    assert rows(result) == [("1", "é"), ("2", "ü"), ("4", "ß")]
    assert malformed(result)[0]["reason"] == "not valid UTF-8"
    assert malformed(result)[0]["raw"] == "3,\ufffd\ufffd"


def test_a_nul_byte_fails_its_row_alone(tmp_path: Path) -> None:
    result = table(tmp_path, b"a,b\n1,2\n3,\x004\n" + b"5,6\n" * 9)
    assert rows(result) == [("1", "2"), *[("5", "6")] * 9]
    assert result.malformed["reason"].to_list() == ["contains a NUL byte"]


def test_a_field_above_the_cap_fails_its_row_alone_and_keeps_little_of_it(tmp_path: Path) -> None:
    result = table(tmp_path, b"a,b\n1,2\n3," + b"x" * (20 << 20) + b"\n5,6\n")
    assert rows(result) == [("1", "2"), ("5", "6")]
    assert result.malformed["reason"].to_list() == ["longer than 16 MiB"]
    assert result.malformed["raw"].str.len_chars().item() == 10_000


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_a_last_row_above_the_cap_is_told_as_such_and_not_as_an_open_quote(tmp_path: Path, newline: bytes) -> None:
    result = table(tmp_path, b"a,b\n1,2\n3," + b"x" * (20 << 20) + newline)
    assert malformed(result)[0]["reason"] == "longer than 16 MiB"
    assert len(malformed(result)[0]["data"]["b"]) < 1 << 20


def test_a_row_of_five_megabytes_is_read(tmp_path: Path) -> None:
    long = "y" * (5 << 20)
    assert rows(table(tmp_path, f"a,b\n1,{long}\n2,z\n".encode())) == [("1", long), ("2", "z")]


def test_two_thousand_columns_are_read(tmp_path: Path) -> None:
    header = ",".join(f"c{n}" for n in range(2000))
    line = ",".join(map(str, range(2000)))
    result = table(tmp_path, f"{header}\n{line}\n{line}\n".encode())
    assert len(result.columns) == 2000
    assert rows(result)[1][1999] == "1999"


def test_a_repeated_header_name_gets_a_suffix_and_a_warning(tmp_path: Path) -> None:
    result = table(tmp_path, b"id,name,name,,_row_number\n1,a,b,c,d\n")
    assert result.columns == ("id", "name", "name_2", "column_4", "_row_number_2")
    assert len(result.warnings) == 2


def test_a_file_with_only_a_header_has_columns_and_no_rows(tmp_path: Path) -> None:
    result = table(tmp_path, b"id,name\n")
    assert (result.columns, result.frame.height, result.malformed.height) == (("id", "name"), 0, 0)


def test_an_empty_file_is_refused_by_the_planner_and_an_empty_table_to_look_at(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="The file is empty"):
        plan_csv(path, options={}, chunk_rows=10, scratch=tmp_path)
    assert read_table(path).frame.height == 0


def test_binary_junk_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "junk.csv"
    path.write_bytes(bytes(range(256)) * 40)
    with pytest.raises(FormatError, match="no text"):
        plan_csv(path, options={}, chunk_rows=10, scratch=tmp_path)


def test_batches_are_no_longer_than_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "".join(f"{n},{n}\n" for n in range(5000)))
    plan = plan_csv(path, options={}, chunk_rows=1700, scratch=tmp_path)
    assert [(chunk.first_row, chunk.rows) for chunk in plan.chunks] == [(1, 1700), (1701, 1700), (3401, 1600)]
    batches = [batch for chunk in plan.chunks for batch in read_csv_chunk(plan.reader, chunk, batch_rows=300)]
    assert max(batch.rows for batch in batches) == 300
    assert pl.concat(batch.frame for batch in batches)["a"].to_list() == [str(n) for n in range(5000)]


def test_batches_of_a_very_wide_file_are_smaller(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(",".join(f"c{n}" for n in range(2000)) + "\n" + ("1," * 1999 + "1\n") * 2500)
    plan = plan_csv(path, options={}, chunk_rows=10_000, scratch=tmp_path)
    rows = [batch.rows for batch in read_csv_chunk(plan.reader, plan.chunks[0])]
    assert (sum(rows), max(rows)) == (2500, BATCH_CELLS // 2000)


def test_a_file_that_changes_between_plan_and_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    plan = plan_csv(path, options={}, chunk_rows=10, scratch=tmp_path)
    path.write_text("a,b\n1,2,3,4\n")
    with pytest.raises(FormatError, match="was changed"):
        list(read_csv_chunk(plan.reader, plan.chunks[0]))


@pytest.mark.parametrize("batch_rows", [7, 1000])
def test_plain_rows_can_be_read_again(tmp_path: Path, batch_rows: int) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,name\n" + "".join(f"{number},Zoë {number}\n" for number in range(100)))
    plan = plan_csv(path, options={}, chunk_rows=40, scratch=tmp_path)
    for chunk in plan.chunks:
        for batch in read_csv_chunk(plan.reader, chunk, batch_rows=batch_rows):
            assert batch.again is not None
            assert not batch.may_hold_nul
            assert batch.again().frame.equals(batch.frame)


def test_rows_are_not_read_again_from_a_file_that_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,name\n" + "1,a\n" * 100)
    plan = plan_csv(path, options={}, chunk_rows=1000, scratch=tmp_path)
    (batch,) = read_csv_chunk(plan.reader, plan.chunks[0])
    path.write_text("id,name\n" + "1\n" * 300)
    assert batch.again is not None
    with pytest.raises(FormatError, match="from 1 on cannot be read again: the file was changed"):
        batch.again()


def test_other_rows_are_kept_by_those_who_need_them(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"id,name\n1,a\0\n2,b\n")
    plan = plan_csv(path, options={}, chunk_rows=1000, scratch=tmp_path)
    batches = list(read_csv_chunk(plan.reader, plan.chunks[0]))
    assert [(batch.again, batch.may_hold_nul) for batch in batches] == [(None, True)]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"delimiter": "\n"}, "delimiter"),
        ({"quote": "ab"}, "quote"),
        ({"delimiter": '"'}, "differ"),
        ({"encoding": "utf-99"}, "utf-99"),
        ({"skip_rows": -1}, "skip_rows"),
        ({"header_row": "x"}, "header_row"),
        ({"has_header": "perhaps"}, "has_header"),
        ({"column_names": "a"}, "column_names"),
        ({"on_ragged": "ignore"}, "on_ragged"),
        ({"skip_rows": 9}, "fewer than"),
    ],
)
def test_an_option_that_cannot_be_is_named(tmp_path: Path, options: dict[str, Any], word: str) -> None:
    with pytest.raises(FormatError, match=word):
        table(tmp_path, b"a,b\n1,2\n", **options)
