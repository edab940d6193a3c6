"""Every record of a file is told under its own row and line number, whatever its encoding, newlines and cuts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.formats import csv_plan, csv_read, csv_rows, csv_stretch, encoding
from tests.unit.formats.tables import read_bytes

OPEN = "a quote is not closed"
RECORDS = st.sampled_from(
    [
        ("1{d}plain{d}é", None),
        ('2{d}"two{n}lines{n}""quoted"""{d}x', None),
        ('3{d}{d}"{d}"', None),
        ("", "blank"),
        ("4{d}short", "expected 3 fields, found 2"),
        ("5{d}long{d}x{d}y{d}z", "expected 3 fields, found 5"),
        ('"6"x{d}stray{d}y', "text after a closing quote"),
        ('7{d}open{d}"{n}8{d}b"c{d}behind it', OPEN),
        ("9{d}a\0b{d}x", "contains a NUL byte"),
    ]
)


@settings(deadline=None, max_examples=80)
@given(
    records=st.lists(RECORDS, min_size=1, max_size=40),
    dialect=st.tuples(st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans()),
    name=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"]),
    before=st.sampled_from(["", "a comment{n}", "{n}# two{n}"]),
    sizes=st.tuples(*map(st.sampled_from, ([7, 100, 1 << 20], [1, 10_000], [8, 1 << 16], [64, 1 << 20], [3, 1 << 20]))),
    cuts=st.tuples(*map(st.sampled_from, ([1, 2, 7, 1000], [1, 3, 1000]))),
)
def test_good_and_bad_rows_have_the_numbers_of_their_places(records, dialect, name, before, sizes, cuts):
    delimiter, newline, ends = dialect
    expected, row, line = [], 0, 2 + before.count("{n}")
    for text, reason in records:
        if reason != "blank":
            row += 1
            expected.append((row, line, reason))
        if reason == OPEN:  # the line behind it is a row of its own
            row += 1
            expected.append((row, line + 1, None))
        line += 1 + text.count("{n}")
    lines = [before + "id{d}name{d}note", *(text for text, _ in records)]
    content = "{n}".join(lines) + ("{n}" if ends or records[-1][1] == "blank" else "")
    with pytest.MonkeyPatch.context() as patch:
        places = ((csv_plan, "_BLOCK"), (csv_stretch, "LEAST_ROWS"), (csv_read, "_LEAST_BLOCK"))
        for (module, limit), size in zip(
            (*places, (csv_rows, "ARROW_BLOCK"), (encoding, "_BLOCK")), sizes, strict=True
        ):
            patch.setattr(module, limit, size)
        whole = read_bytes(
            content.replace("{d}", delimiter).replace("{n}", newline).encode(name),
            chunk_rows=cuts[0],
            batch_rows=cuts[1],
            encoding=name.removesuffix("-sig"),
            delimiter=delimiter,
            quote='"',
            escape="",
            skip_rows=before.count("{n}"),
            has_header=True,
            column_names=["id", "name", "note"],  # where all rows are ragged in one way, the header would be in doubt
        )
    good = zip(whole.numbers, whole.lines, [None] * len(whole.numbers), strict=True)
    bad = [(one["_row_number"], one["_line_number"], one["reason"]) for one in whole.malformed]
    assert sorted([*good, *bad]) == expected
    ids = ["8" if reason == OPEN else text[0] for text, reason in records if reason in (None, OPEN)]
    assert [record["id"] for record in whole.rows] == ids
