"""Delimiters and quotes that hardly anyone uses are found, and ordinary files are not taken apart by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_provider_ingest.formats import csv_types, read_table

ROWS = [["id", "name", "price"], *[[str(at), f"ball {at}, red", f"{at * 1.5}"] for at in range(1, 20)]]


@pytest.mark.parametrize("delimiter", [*"\x01\x02\x07\x08\x1c\x1f", *"#&!", *"/$_%+=*\\"], ids=repr)
def test_an_unusual_delimiter_is_found_between_names_and_values(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("".join(delimiter.join(row) + "\n" for row in ROWS))
    table = read_table(path)
    assert (table.facts["delimiter"], [list(table.columns), *table.records()]) == (delimiter, ROWS)


@pytest.mark.parametrize("quote", "`|~^*$%#'\"", ids=repr)
def test_an_unusual_quote_is_found_around_the_fields(quote: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("".join(",".join(quote + cell + quote for cell in row) + "\n" for row in ROWS))
    table = read_table(path)
    assert (table.facts["quote"], [list(table.columns), *table.records()]) == (quote, ROWS)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_uneven_and_broken_rows_below_names_are_still_a_table(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    lines = [
        "sku,name,kind,price,is_active,country,note",
        "A-1,x,Garden,1",
        "A-2,x,Garden,1,1,yes,,too,many",
        '"A-3,open',
    ]
    path.write_text("".join(line.replace(",", delimiter) + "\n" for line in lines))
    table = read_table(path)
    assert len(table.columns) == 7
    assert table.malformed.height == 3


@pytest.mark.parametrize(
    "text",
    [
        "it was so\nand they all went home again\nyes\n",
        "Rome, Paris, Berlin\nI was there once, in spring\nnever\n",
        "date\n01/02/2024\n03/04/2024\n",
        "01/02/2024\n03/04/2024\n",
        "path\n/usr/lib/x\n/usr/lib/y\n",
        "src/lib/a\nsrc/lib/b\n",
        "name\nsnake_case_one\nsnake_case_two\n",
        "price\n$5\n$6\n",
        "url\nhttps://a.example/c/d?x=1&y=2\nhttps://a.example/c/e?x=2&y=3\n",
        "formula\na+b+c\nd+e+f\n",
        "share\n5%\n6%\n",
        "time\n10:15\n10:30\n",
    ],
)
def test_a_column_of_such_texts_stays_one(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    table = read_table(path)
    assert len(table.columns) == 1
    assert table.malformed.height == 0


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("name, age, town\nJo, 5, Rome\nAl, 6, Bonn\n", ["Jo", "5", "Rome"]),
        ("discount,price\n5%,$6\n7%,$8\n", ["5%", "$6"]),
        ("a_b,c_d\n1,x_y\n2,z_w\n", ["1", "x_y"]),
        ("from/to,km\n1/2,5\n3/4,6\n", ["1/2", "5"]),
        ("a,b\n*x*,1\ny,2\n", ["*x*", "1"]),
        ('id "full name"\n1 "Ada L"\n2 "Bob R"\n', ["1", "Ada L"]),
    ],
)
def test_an_ordinary_file_is_read_as_ever(text: str, cells: list[str], tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert read_table(path).records()[0] == cells


def test_a_backslash_is_an_escape_only_if_that_mends_most_of_what_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('a,b\n"x \\" y",1\n"z \\" w",2\n"5\\" tape",3\n')
    assert read_table(path).facts["escape"] == "\\"
    path.write_text('a,b\n"x " y",1\n"z " w",2\n"v " u",2\n"5\\" tape",3\n')
    assert read_table(path).facts["escape"] == ""


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("A0001,red\nA0002,blue\nA0003,green\n", False),
        ("code,colour\nA0001,red\nA0002,blue\n", True),
        ("SKU-100,red\nSKU-101,blue\n", False),
        ("town,river\nRome,Tiber\nBonn,Rhine\n", True),
        ("q1,q2\nv1,v2\nw1,w2\n", True),
    ],
)
def test_codes_of_one_shape_tell_names_from_values(text: str, has_header: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert read_table(path).facts["has_header"] is has_header


def test_what_is_remembered_of_cells_stays_small_however_long_they_are() -> None:
    csv_types.kind_of("a word")
    before = csv_types._remembered_kind.cache_info()
    assert [csv_types.kind_of(cell) for cell in ("a word", "7" * 500, "word " * 500)] == ["words", "number", "words"]
    after = csv_types._remembered_kind.cache_info()
    assert (after.currsize, after.hits) == (before.currsize, before.hits + 1)
