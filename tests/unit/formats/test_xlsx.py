"""XLSX: sheets, headers, typed cells, and workbooks made to hurt."""

import io
import zipfile
from datetime import date, datetime, time, timedelta

import openpyxl
import pytest

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import Limits
from airflow_provider_ingest.formats.workbook import Workbook
from airflow_provider_ingest.formats.xml_parts import elements
from tests.unit.formats.tables import read_bytes


def workbook(*rows, sheets=(), merge=None, at=1) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "First"
    for line, cells in enumerate(rows, at):
        for column, value in enumerate(cells, 1):
            if value is not None:
                sheet.cell(line, column, value)
    if merge:
        sheet.merge_cells(merge)
    for name, cells in sheets:
        book.create_sheet(name).append(cells)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def with_sheet(xml: bytes) -> bytes:
    """A workbook whose sheet is this XML."""
    source = zipfile.ZipFile(io.BytesIO(workbook(["a"])))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            archive.writestr(member.filename, xml if "worksheets/" in member.filename else source.read(member))
    return buffer.getvalue()


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%b</sheetData></worksheet>'


@pytest.mark.parametrize(
    ("value", "text", "kind"),
    [
        ("x", "x", "text"),
        (" 007 ", " 007 ", "text"),
        (7, "7", "integer"),
        (12.0, "12", "integer"),
        (12.5, "12.5", "number"),
        (0.1, "0.1", "number"),
        (1e300, "1e+300", "number"),
        (-2e15, "-2000000000000000", "integer"),
        (4111111111111111, "4111111111111111", "integer"),
        (-2e16, "-2e+16", "number"),
        (True, "true", "boolean"),
        (date(2024, 2, 29), "2024-02-29", "date"),
        (datetime(2024, 2, 29, 1, 2, 3), "2024-02-29T01:02:03", "datetime"),
        (time(1, 2), "01:02:00", "text"),
        (timedelta(hours=30), "30:00:00", "text"),
        ("#N/A", None, "text"),
        ("", None, "text"),
        (None, None, "text"),
    ],
)
def test_a_cell_becomes_text_and_kind(value, text, kind):
    whole = read_bytes(workbook(["id", "v"], ["a", value], ["b", value]))
    assert [row["v"] for row in whole.rows] == [text, text]
    assert whole.kinds.get("v", "text") == kind


def test_sheets_that_nobody_chose_and_that_have_values_are_told():
    data = workbook(["a"], [1], sheets=[("Second", ["b"]), ("Empty", []), ("Third", ["c"])])
    said = (
        'Only the sheet "First" is read; "Second", "Third" have values, too. The option sheet says which one is meant.'
    )
    assert read_bytes(data).plan.warnings == (said,)
    assert read_bytes(data, sheet="First").plan.warnings == ()
    assert read_bytes(workbook(["a"], [1], sheets=[("Empty", [])])).plan.warnings == ()


def test_mixed_cells_make_a_text_column_and_mixed_numbers_a_number_column():
    whole = read_bytes(workbook(["t", "n"], [1.0, 1.0], ["x", 2.5], [True, 3]))
    assert whole.rows == [{"t": "1", "n": "1"}, {"t": "x", "n": "2.5"}, {"t": "true", "n": "3"}]
    assert whole.kinds == {"n": "number"}


def test_midnight_among_times_is_a_time():
    whole = read_bytes(workbook(["at"], [datetime(2024, 1, 1)], [datetime(2024, 1, 1, 10)]))
    assert [row["at"] for row in whole.rows] == ["2024-01-01T00:00:00", "2024-01-01T10:00:00"]
    assert whole.kinds == {"at": "datetime"}


def test_empty_rows_are_left_out_and_line_numbers_are_rows_of_the_sheet():
    whole = read_bytes(workbook(["a", "b"], [1, None], [None, None], [None, 2], at=3))
    assert (whole.numbers, whole.lines) == ([1, 2], [4, 6])
    assert whole.rows == [{"a": "1", "b": None}, {"a": None, "b": "2"}]


def test_a_sheet_is_chosen_by_name_or_position():
    data = workbook(["a"], [1], sheets=[("Leer", ["x"]), ("Other", ["b"])])
    assert read_bytes(data).plan.columns == ("a",)
    assert read_bytes(data, sheet="Other").plan.columns == ("b",)
    assert read_bytes(data, sheet=1).plan.columns == ("x",)
    assert read_bytes(data, sheet=1).plan.facts["sheets"] == ["First", "Leer", "Other"]
    for wrong in ("other", 3, -1, True):
        with pytest.raises(FormatError, match="it has 'First', 'Leer', 'Other'"):
            read_bytes(data, sheet=wrong)


def test_a_hidden_first_sheet_is_passed_over():
    book = openpyxl.Workbook()
    book.active.sheet_state = "hidden"
    book.create_sheet("Seen").append(["seen"])
    buffer = io.BytesIO()
    book.save(buffer)
    assert read_bytes(buffer.getvalue()).plan.columns == ("seen",)


def test_the_header_is_where_the_options_say():
    data = workbook(["Report 2024"], [None], ["a", "b"], [1, 2], [3, 4])
    assert read_bytes(data, header_row=3).rows == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert read_bytes(data, skip_rows=1).rows == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert read_bytes(data, header_row=4).plan.columns == ("1", "2")
    assert read_bytes(data, skip_rows=3, has_header=False).plan.columns == ("column_1", "column_2")
    assert read_bytes(data, skip_rows=3, has_header=False).plan.rows == 2
    assert read_bytes(data, header_row=3, column_names=["x", "y"]).rows[1] == {"x": "3", "y": "4"}


def test_the_header_is_the_first_row_with_a_value_however_far_down():
    rows = [[None, "#N/A"], *[["#N/A", None]] * 700, [None, "b", "#N/A", "d"], [1, 2, 3, 4]]
    for skip in (0, 1, 650, 700):
        whole = read_bytes(workbook(*rows), skip_rows=skip)
        assert whole.rows == [{"b": "2", "d": "4", "column_1": "1", "column_3": "3"}]
        assert whole.lines == [703]
    assert read_bytes(workbook(*rows), skip_rows=702).plan.columns == ("1", "2", "3", "4")


def test_repeated_empty_and_reserved_header_cells_get_names():
    whole = read_bytes(workbook(["a", "a", None, None, "_row_number"], [1, 2, None, 4, 5]))
    assert whole.rows == [{"a": "1", "a_2": "2", "_row_number_2": "5", "column_4": "4"}]
    assert len(whole.plan.warnings) == 2


def test_reserved_header_cells_that_repeat_are_columns_of_their_own():
    whole = read_bytes(workbook(["_row_number", "_row_number", "a_2", "a", "a"], [1, 2, 3, 4, 5]))
    assert len(set(whole.plan.columns)) == 5
    assert list(whole.rows[0].values()) == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    "options", [{"header_row": "x"}, {"skip_rows": -1}, {"has_header": "perhaps"}, {"column_names": "abc"}]
)
def test_an_option_that_cannot_be_is_named(options):
    with pytest.raises(FormatError, match=f"The option {next(iter(options))} takes"):
        read_bytes(workbook(["a"], [1]), **options)


def test_options_may_be_texts():
    data = workbook(["Report"], ["a"], [1])
    assert read_bytes(data, header_row="2", has_header="true").rows == [{"a": "1"}]
    assert read_bytes(data, skip_rows="1", has_header="no").rows == [{"column_1": "a"}, {"column_1": "1"}]


def with_styles(change) -> bytes:
    """A workbook with a date, whose styles are changed."""
    source = zipfile.ZipFile(io.BytesIO(workbook(["at"], [date(2024, 2, 29)])))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            content = source.read(member)
            archive.writestr(member.filename, change(content) if "styles" in member.filename else content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "extra",
    [
        b'<xf numFmtId="0"><extLst><ext uri="{C7286773}"><p:xfComplement xmlns:p="x" i="0"/></ext></extLst></xf>',
        b'<xf numFmtId="0" applyAlignment="1"><alignment wrapText="1"/><protection locked="0"/></xf>',
        b'<xf numFmtId="' + b"1" * 5000 + b'"/>',
    ],
    ids=["checkboxes", "alignment", "a number without end"],
)
def test_cell_formats_count_whatever_stands_in_the_ones_before(extra):
    first = b'<xf numFmtId="0" fontId="0" fillId="0" borderId="0" pivotButton="0" quotePrefix="0" xfId="0"/>'
    data = with_styles(lambda styles: styles.replace(first, extra))
    assert data != with_styles(lambda styles: styles)
    assert read_bytes(data).rows == [{"at": "2024-02-29"}]


def test_of_merged_cells_the_first_has_the_value():
    whole = read_bytes(workbook(["a", "b"], ["m", None], [None, None], ["x", "y"], merge="A2:B3"))
    assert whole.rows == [{"a": "m", "b": None}, {"a": "x", "b": "y"}]
    assert "merged" in whole.plan.warnings[0]


def test_a_formula_gives_its_stored_value():
    cells = b'<row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="2"><c r="A2"><f>1+1</f><v>2</v></c></row>'
    assert read_bytes(with_sheet(SHEET % cells)).rows == [{"a": "2"}]


@pytest.mark.parametrize(
    "formula",
    [
        b"<f>1+1</f>",
        b"<f>1+1</f><v></v>",
        b"<f>1+1</f><v/>",
        b"<f>1+1</f><v />",
        b'<f t="shared" si="0"/>',
    ],
)
def test_a_formula_that_was_never_calculated_is_null_with_a_warning(formula):
    cells = (
        b'<row r="1"><c r="A1" t="str"><v>a</v></c><c r="B1" t="str"><v>b</v></c></row>'
        b'<row r="2"><c r="A2">%b</c><c r="B2"><v>1</v></c></row>'
        b'<row r="3"><c r="A3" t="str"><f>""</f><v></v></c><c r="B3"><v>2</v></c></row>' % formula
    )
    whole = read_bytes(with_sheet(SHEET % cells))
    assert whole.rows == [{"a": None, "b": "1"}, {"a": None, "b": "2"}]
    assert [w for w in whole.plan.warnings if "1 formulas" in w and "no stored value" in w] == list(whole.plan.warnings)
    assert len(whole.plan.warnings) == 1


def test_an_empty_sheet_is_refused_and_a_header_alone_is_a_table_without_rows():
    with pytest.raises(FormatError, match="Sheet 'First' is empty"):
        read_bytes(workbook())
    whole = read_bytes(workbook(["a", "b"]))
    assert (whole.plan.columns, whole.plan.rows) == (("a", "b"), 0)


def test_chunks_and_batches_do_not_change_the_rows():
    data = workbook(["id", "v"], *[[at, at / 2 if at % 3 else "x"] for at in range(50)])
    whole = read_bytes(data)
    assert read_bytes(data, chunk_rows=7, batch_rows=3).rows == whole.rows
    assert [chunk.rows for chunk in read_bytes(data, chunk_rows=20).plan.chunks] == [20, 20, 10]


@pytest.mark.parametrize(
    "cells",
    [
        b'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        b'<row><c r="A1"><v>1</v></c><c r="XFD1048576"><v>1</v></c></row>',
        b"<row r='1'><c r='A1'><v>1</v></c></row><row r='2'><c r='XFD1048576'><v>1</v></c></row>",
        b'<row r="1"><c\nr="A1"><v>1</v></c><c r = "XFD1048576"><v>1</v></c></row>',
        b'<row r="1"><c r="A1"><v>1</v></c><c r="&#88;FD1048576"><v>1</v></c></row>',
        b'<row r="1"><c r="A1"><v>1</v></c></row><row r="9999999">' + b"<c><v>1</v></c>" * 50 + b"</row>",
    ],
)
def test_a_small_file_that_spans_a_vast_rectangle_is_refused(cells):
    with pytest.raises(FormatError, match=r"spans [\d,]+ rows"):
        read_bytes(with_sheet(SHEET % cells))


def test_a_workbook_that_inflates_to_too_much_is_refused():
    data = with_sheet(SHEET % (b'<row r="1"><c r="A1"><v>1</v></c></row>' + b" " * (5 << 20)))
    with pytest.raises(FormatError, match="inflates to more than 4 MiB"):
        Workbook(io.BytesIO(data), Limits(workbook_bytes=4 << 20))
    with pytest.raises(FormatError, match="more than 3 entries"):
        Workbook(io.BytesIO(data), Limits(zip_entries=3))


def test_the_elements_of_a_part_are_given_as_they_come_and_not_held():
    pieces = iter([b"<a><x:b y:c='1'/>", b"<d/>", b"</a>"])
    found = elements(pieces)
    assert [next(found), next(found)] == [("a", {}), ("b", {"c": "1"})]
    assert next(pieces) == b"<d/>"


@pytest.mark.parametrize("end", [100, 2000, -30])
def test_a_cut_off_workbook_is_refused(end):
    with pytest.raises(FormatError):
        read_bytes(workbook(["a"], *[[at] for at in range(500)])[:end], format="xlsx")


def test_a_sheet_that_is_not_xml_is_refused():
    with pytest.raises(FormatError):
        read_bytes(with_sheet(b"<worksheet><sheetData><row><c></oops>"))


def test_another_kind_of_zip_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", "a")
    with pytest.raises(FormatError, match="no XLSX workbook"):
        Workbook(buffer)
