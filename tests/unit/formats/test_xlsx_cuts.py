"""A sheet gives the same rows with the same numbers however its XML is spelled, inflated and cut into blocks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import compression, sheet_cells, xml_scan
from tests.unit.formats.tables import read_bytes
from tests.unit.formats.test_xlsx import SHEET, with_sheet

CELLS = st.sampled_from(
    [
        (b"><v>7</v></c>", "7"),
        (b' t="str"><v>a &lt;b&gt; &amp;#65;&#128;&#x1F600;</v></c>', "a <b> &#65;\x80\U0001f600"),
        (b' t="inlineStr"><is><t xml:space="preserve"> x </t></is></c>', " x "),
        (b' t="b"><f>1=1</f><v>1</v></c>', "true"),
        (b' t="e"><v>#N/A</v></c>', None),
        (b"><f>1+1</f></c>", None),
        (b"/>", None),
    ]
)
ROWS = st.lists(st.tuples(st.sampled_from([1, 1, 2, 500]), st.lists(CELLS, max_size=4), st.booleans()), max_size=20)


@settings(deadline=None, max_examples=60)
@given(
    rows=ROWS,
    spelling=st.sampled_from([b"<c r=", b"<c  r="]),
    sizes=st.tuples(*map(st.sampled_from, ([1, 50, 1 << 20], [7, 100_000], [1, 64, 1 << 18]))),
    chunk_rows=st.sampled_from([1, 3, 1000]),
    batch_rows=st.sampled_from([1, 2, 1000]),
)
def test_rows_and_their_numbers_do_not_depend_on_spelling_and_blocks(rows, spelling, sizes, chunk_rows, batch_rows):
    xml, expected, line = [b'<row r="1"><c r="A1"><v>0</v></c></row>'], [(1, {"column_1": "0"})], 1
    for gap, cells, shows_empty_rows in rows:
        line += gap
        if shows_empty_rows:
            xml.append(b'<row r="%d"/>' % line)
            line += 1
        written = [spelling + b'"%c%d"%b' % (65 + at, line, cell) for at, (cell, _) in enumerate(cells)]
        xml.append(b'<row r="%d" spans="1:4">%b</row>' % (line, b"".join(written)))
        values = {f"column_{at}": text for at, (_, text) in enumerate(cells, 1) if text is not None}
        expected += [(line, values)] if values else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xml_scan, "BLOCK", sizes[0])
        patch.setattr(sheet_cells, "BLOCK_CELLS", sizes[1])
        patch.setattr(compression, "READ", sizes[2])
        whole = read_bytes(
            with_sheet(SHEET % b"".join(xml)), has_header=False, chunk_rows=chunk_rows, batch_rows=batch_rows
        )
    found = [{name: text for name, text in row.items() if text is not None} for row in whole.rows]
    assert list(zip(whole.lines, found, strict=True)) == expected
    assert whole.numbers == list(range(1, len(expected) + 1))


def test_a_row_is_never_cut_in_two_by_the_exact_reader(monkeypatch):
    monkeypatch.setattr(sheet_cells, "BLOCK_CELLS", 1000)
    monkeypatch.setattr(compression, "READ", 10_000)
    cells = b'<c  r="A%d"><v>1</v></c><c  r="B%d"><v>2</v></c><c  r="C%d"><v>3</v></c>'
    rows = b"".join(b'<row r="%d">' % line + cells % (line, line, line) + b"</row>" for line in range(1, 5001))
    whole = read_bytes(with_sheet(SHEET % rows), has_header=False, chunk_rows=10_000)
    assert whole.numbers == whole.lines == list(range(1, 5001))
    assert not [row for row in whole.rows if None in row.values()]


@pytest.mark.parametrize("cell", [b"<c><v>1</v></c>", b'<c t="str"><v>' + b"x" * 1000 + b"</v></c>"])
def test_a_row_of_the_exact_reader_that_does_not_end_is_refused(cell, monkeypatch):
    monkeypatch.setattr(sheet_cells, "BLOCK_BYTES", 1 << 20)
    with pytest.raises(FormatError, match="Row 1 of the sheet has more cells, or more text in them, than fit"):
        read_bytes(with_sheet(SHEET % (b"<row>" + cell * 150_000 + b"</row>")))


def test_rows_without_cells_are_not_held(monkeypatch):
    monkeypatch.setattr(sheet_cells, "BLOCK_CELLS", 100)
    blocks = sheet_cells.parse_cells([b"<worksheet>", *[b"<row/>"] * 1000, b"</worksheet>"], sheet_cells.Extent())
    assert max(len(cells.lines) for cells in blocks) <= 101
