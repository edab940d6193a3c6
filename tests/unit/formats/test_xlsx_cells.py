"""XLSX cells: the fast reader, the exact one and Calamine see the same; odd spellings are read, damage is told."""

import io
import math
import zipfile
from datetime import date, datetime, time, timedelta

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import xlsx, xml_scan
from airflow_provider_ingest.formats.limits import Limits
from airflow_provider_ingest.formats.sheet_cells import Extent, parse_cells
from airflow_provider_ingest.formats.sheet_scan import scan_cells
from airflow_provider_ingest.formats.sheet_values import datetime_texts, float_texts
from airflow_provider_ingest.formats.values import cell_text, whole_number
from airflow_provider_ingest.formats.workbook import Workbook
from tests.unit.formats.tables import Whole, read_bytes
from tests.unit.formats.test_xlsx import SHEET, with_sheet

text = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), include_characters="\n<>&\"'_x"))
moments = st.datetimes(datetime(1901, 1, 1), datetime(2200, 1, 1)).map(lambda at: at.replace(microsecond=0))
values = st.one_of(
    st.none(),
    text,
    st.sampled_from(["_x000D_", "_x005F_x000D_", "&amp;", " x ", "0012", "#N/A?"]),
    st.booleans(),
    st.integers(-(10**17), 10**17),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e6, 1e6).map(lambda value: round(value, 2)),
    moments,
    st.dates(date(1901, 1, 1), date(2200, 1, 1)),
    st.times().map(lambda at: at.replace(microsecond=0)),
    st.timedeltas(timedelta(0), timedelta(days=99)).map(lambda long: timedelta(seconds=long // timedelta(seconds=1))),
)
tables = st.lists(st.lists(values, min_size=3, max_size=3), min_size=1, max_size=12)


def by_openpyxl(table) -> bytes:
    """Texts inline."""
    book = openpyxl.Workbook()
    for line, cells in enumerate(table, 1):
        for column, value in enumerate(cells, 1):
            cell = book.active.cell(line, column)
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"
            elif isinstance(value, timedelta):
                cell.number_format = "[hh]:mm:ss"
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def by_xlsxwriter(table) -> bytes:
    """Texts shared."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"default_date_format": "yyyy-mm-dd hh:mm:ss"}) as book:
        sheet = book.add_worksheet()
        for line, cells in enumerate(table):
            for column, value in enumerate(cells):
                if isinstance(value, str):
                    sheet.write_string(line, column, value)
                elif value is not None:
                    sheet.write(line, column, value)
    return buffer.getvalue()


def calamine_rows(data: bytes) -> list[list[str | None]]:
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0)
    before = [""] * (sheet.start[1] if sheet.start else 0)
    rows = [
        [None if cell == "" else cell_text(whole_number(cell))[0] for cell in [*before, *row, "", "", ""][:3]]
        for row in sheet.iter_rows()
    ]
    return [row for row in rows if any(cell is not None for cell in row)]


def our_rows(whole: Whole) -> list[list[str | None]]:
    return [[row.get(f"column_{at}") for at in (1, 2, 3)] for row in whole.rows]


@settings(deadline=None, max_examples=60)
@given(tables, st.sampled_from([by_openpyxl, by_xlsxwriter]))
def test_the_cells_are_those_that_calamine_reads(table, write):
    data = write(table)
    expected = calamine_rows(data)
    if not expected:
        with pytest.raises(FormatError, match="is empty"):
            read_bytes(data, has_header=False)
        return
    whole = read_bytes(data, has_header=False)
    assert midnights_out(our_rows(whole)) == midnights_out(expected)


def midnights_out(rows):
    """Dates beside times of the same column get midnight at the end of a file; Calamine knows no columns."""
    return [[cell.removesuffix("T00:00:00") if cell else cell for cell in row] for row in rows]


@settings(deadline=None, max_examples=60)
@given(tables, st.sampled_from([by_openpyxl, by_xlsxwriter]), st.sampled_from([1, 300, 1 << 20]))
def test_the_fast_reader_of_cells_agrees_with_an_xml_parser(table, write, block):
    workbook = Workbook(io.BytesIO(write(table)))
    part = workbook.sheets[0].part
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xml_scan, "BLOCK", block)
        fast, exact = Extent(), Extent()
        assert cells_of(scan_cells(small_pieces(workbook, part), fast)) == cells_of(
            parse_cells(workbook.pieces(part), exact)
        )
    assert fast.merged == exact.merged


def small_pieces(workbook, part):
    whole = b"".join(workbook.pieces(part))
    return (whole[at : at + 97] for at in range(0, len(whole), 97))


def cells_of(blocks):
    return [
        (int(cells.lines[row]), int(column), int(kind), int(style), text)
        for cells in blocks
        for row, column, kind, style, text in zip(
            cells.row, cells.column, cells.type, cells.style, cells.text, strict=True
        )
    ]


@pytest.fixture
def only_fast(monkeypatch):
    """The exact reader is out of reach."""

    def fail(*_):
        raise AssertionError("the exact reader was needed")

    monkeypatch.setattr(xlsx, "parse_cells", fail)


@pytest.mark.usefixtures("only_fast")
@pytest.mark.parametrize("write", [by_openpyxl, by_xlsxwriter])
def test_what_common_programs_write_is_read_by_the_fast_reader(write):
    table = [["a", "b", "c"], [1, 2.5, "x & y\n<z>"], [date(2024, 1, 2), datetime(2024, 1, 2, 3), True]]
    whole = read_bytes(write(table))
    assert [row["a"] for row in whole.rows] == ["1", "2024-01-02"]
    assert whole.rows[0]["c"] == "x & y\n<z>"


@pytest.mark.usefixtures("only_fast")
def test_formulas_empty_styled_cells_and_empty_rows_are_plain():
    cells = (
        b'<row r="1" spans="1:3" ht="15"><c r="A1" t="str"><f>"a"</f><v>a</v></c><c r="B1" s="3"/><c r="C1" s="1" />'
        b"</row>"
        b'<row r="2"/><row r="5" x="1"><c r="A5"><f t="shared" si="0"/><v>2</v></c><c r="AB5"><f>1</f></c>'
        b'<c r="XFD5" t="e"><v>#N/A</v></c><c r="XFC5" t="b"><v>1</v></c></row>'
    )
    whole = read_bytes(with_sheet(SHEET % cells))
    assert whole.rows == [{"a": "2", "column_16383": "true"}]
    assert whole.lines == [5]


@pytest.mark.usefixtures("only_fast")
def test_line_breaks_as_apache_poi_writes_them_are_plain():
    cells = (
        b'\n<row r="1">\n<c r="A1" t="inlineStr"><is><t>a</t></is></c></row>\n<row r="2"/>\n<row r="3">\n</row>\n'
        b'<row r="4">\n<c r="A4" s="0" t="n"><v>7.0</v></c></row>\n'
    )
    whole = read_bytes(with_sheet(SHEET % cells))
    assert (whole.rows, whole.lines) == ([{"a": "7"}], [4])


@pytest.mark.parametrize(
    "cells",
    [
        b"<row><c t='str'><v>a</v></c></row><row><c><v>7</v></c></row>",
        b'<row r="1">\n  <c r="A1" t="str">\n<v>a</v></c></row>\n<row r="2"><c r="A2"><v>7</v></c></row>',
        b'<row r="1"><c t="str" r="A1"><v>a</v></c></row><row r="2"><c r="A2" cm="1"><v>7</v></c></row>',
        b'<row r="1"><c r="A1" t="str"><v><![CDATA[a]]></v></c></row><row r="2"><c r="A2"><v>7</v></c></row>',
        b'<row r="1"><c r="A1" t="str"><v>a</v></c></row><!-- x --><row r="2"><c r="A2"><v>7</v></c></row>',
        b'<row r="1"><c r="A1" t="inlineStr"><is><r><t>a</t></r><rPh><t>b</t></rPh></is></c></row>'
        b'<row r="2"><c r="A2"><v>7</v></c></row>',
        b'<row r="1"><c r="A1" t="str"><v>&#97;</v></c></row><row r="2"><c r="a2"><v>7</v></c></row>',
        b'<row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="3"><c r="A2"><v>7</v></c></row>',
        b'<row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="2"><c r="A2" t="n"><v>7.0</v><extLst/></c></row>',
        b'<row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="2"><c r="A2"><v>\n7\n</v></c></row>',
    ],
)
def test_an_unusual_spelling_is_read_by_the_exact_reader(cells):
    whole = read_bytes(with_sheet(SHEET % cells))
    assert (whole.plan.columns, whole.rows, whole.lines) == (("a",), [{"a": "7"}], [2])


def test_a_sheet_with_prefixes_and_another_encoding_is_read():
    xml = (
        '<?xml version="1.0" encoding="UTF-16"?><x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/'
        '2006/main"><x:sheetData><x:row r="1"><x:c r="A1" t="str"><x:v>a</x:v></x:c></x:row><x:row r="2">'
        '<x:c r="A2"><x:v>7</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    )
    assert read_bytes(with_sheet(xml.encode("utf-16"))).rows == [{"a": "7"}]


@pytest.mark.parametrize(
    "sheet",
    [
        SHEET % b'<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>',
        (SHEET % b'<row r="1"><c r="A1"><v>1</v></c></row>').removesuffix(b"</worksheet>"),
        SHEET % b'<row r="1"><c r="A1" t="str"><v>\xff</v></c></row>',
        SHEET % b'<row r="1"><c r="A1" t="str"><v>&nbsp;</v></c></row>',
        SHEET % b'<row r="1"><c r="A1" t="str"><v>&#1;</v></c></row>',
        SHEET % b'<row r="1"><c r="A1" t="str"><v>&#xD800;</v></c></row>',
        SHEET % b'<row r="1"><c r="A1" t="other"><v>1</v></c></row>',
        SHEET % b'<row r="1"><c r="A1" t="s"><v>0</v></c></row>',
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + SHEET % b'<row r="1"><c r="A1" t="str"><v>&a;</v></c></row>',
    ],
)
def test_a_damaged_sheet_is_refused(sheet):
    with pytest.raises(FormatError):
        read_bytes(with_sheet(sheet), has_header=False)


def test_texts_beyond_the_cap_are_refused():
    data = by_xlsxwriter([[f"text number {at}"] for at in range(1000)])
    with pytest.raises(FormatError, match="texts take more than 0 MiB"):
        Workbook(io.BytesIO(data), Limits(shared_strings_bytes=10_000)).cell_texts()


def test_rich_and_phonetic_shared_strings_are_their_text():
    source = zipfile.ZipFile(io.BytesIO(by_xlsxwriter([["a"], ["x"]])))
    strings = b'<sst><si><t>a</t></si><si><r><t>x</t></r><r><rPr/><t> y</t></r><rPh sb="0"><t>z</t></rPh></si></sst>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member in source.infolist():
            archive.writestr(member, strings if "sharedStrings" in member.filename else source.read(member))
    assert read_bytes(buffer.getvalue()).rows == [{"a": "x y"}]


def test_given_names_start_at_the_first_column_that_is_used():
    data = by_xlsxwriter([[None, "x", 1], [None, "y", 2]])
    assert read_bytes(data, has_header=False, column_names=["a", "b"]).rows == [
        {"a": "x", "b": "1"},
        {"a": "y", "b": "2"},
    ]


def test_days_may_count_from_1904():
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"date_1904": True, "default_date_format": "yyyy-mm-dd hh:mm"}) as book:
        sheet = book.add_worksheet()
        sheet.write_column(0, 0, ["at", datetime(2024, 2, 29, 12, 30), datetime(2024, 3, 1)])
    assert [row["at"] for row in read_bytes(buffer.getvalue()).rows] == ["2024-02-29T12:30:00", "2024-03-01T00:00:00"]


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_floats_are_written_as_python_writes_them(numbers):
    import numpy as np

    assert float_texts(np.array(numbers)).to_list() == [str(number) for number in numbers]


@given(st.lists(st.integers(-62_135_596_800_000, 253_402_300_799_999), min_size=1))
def test_points_in_time_are_written_as_python_writes_them(milliseconds):
    import numpy as np

    expected = [(datetime(1970, 1, 1) + timedelta(milliseconds=at)).isoformat() for at in milliseconds]
    assert datetime_texts(np.array(milliseconds)).to_list() == expected


def test_numbers_and_times_have_the_text_of_python():
    table = [["v"], [math.pi], [time(1, 2, 3)], [timedelta(hours=30)]]
    whole = read_bytes(by_openpyxl(table))
    assert [row["v"] for row in whole.rows] == ["3.141592653589793", "01:02:03", "30:00:00"]
