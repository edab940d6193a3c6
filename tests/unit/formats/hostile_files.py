"""Files made to take down the reader, written for its tests."""

import gzip
import io
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import zstandard

ZEROS = bytes(1 << 20)
MANY = 80  # MiB of zeros


def gzip_bomb(path: Path) -> None:
    with gzip.open(path, "wb", 6) as file:
        file.write(b"a,b\n")
        for _ in range(MANY):
            file.write(ZEROS.replace(b"\0", b"1"))


def zstd_bomb(path: Path) -> None:
    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as writer:
        writer.write(b"a,b\n")
        for _ in range(MANY):
            writer.write(ZEROS.replace(b"\0", b"1"))


def zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.csv", "w") as file:
        file.write(b"a,b\n")
        for _ in range(MANY):
            file.write(ZEROS.replace(b"\0", b"1"))


def lying_zip_bomb(path: Path) -> None:
    """A ZIP file whose directory says that the bomb is 100 bytes small."""
    zip_bomb(path)
    data = bytearray(path.read_bytes())
    directory = data.rindex(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)


def workbook_with(path: Path, sheet: list[bytes]) -> None:
    book, plain = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a"])
    book.save(plain)
    source = zipfile.ZipFile(plain)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            with archive.open(member.filename, "w", force_zip64=True) as file:
                for piece in sheet if "worksheets/" in member.filename else [source.read(member)]:
                    file.write(piece)


HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
TAIL = b"</sheetData></worksheet>"


def xlsx_bomb(path: Path) -> None:
    workbook_with(path, [HEAD, *[ZEROS.replace(b"\0", b" ")] * MANY, TAIL])


def xlsx_rectangle(path: Path) -> None:
    cell = b'<row r="%d"><c r="%b%d"><v>1</v></c></row>'
    workbook_with(path, [HEAD, cell % (1, b"A", 1), cell % (1_048_576, b"XFD", 1_048_576), TAIL])


def gzip_of_gzip(path: Path) -> None:
    inner = path.with_name("inner")
    gzip_bomb(inner)
    path.write_bytes(gzip.compress(inner.read_bytes()))


def deep_array(path: Path) -> None:
    path.write_bytes(b'[{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}]")


def open_brackets(path: Path) -> None:
    path.write_bytes(b"[" * (20 << 20))


def many_brackets(path: Path) -> None:
    path.write_bytes(b"[[" + b"[]," * (8 << 20))


def long_string(path: Path, start: bytes, size: int = 1 << 30) -> None:
    """A sparse file of 1 GB: a text, then zeros that take no room on the disk."""
    with path.open("wb") as file:
        file.write(start + b"x" * (1 << 20))
        file.truncate(size)


def tiny_lists(path: Path) -> None:
    path.write_bytes(b'[{"a":1},{"a":[' + b"[]," * (5 << 20) + b"[]]}]")


def tiny_lists_in_a_line(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"a":[' + b"[]," * (5 << 20) + b"[]]}\n")


def long_line(path: Path) -> None:
    long_string(path, b'{"a":1}\n{"a":"')


def long_element(path: Path) -> None:
    long_string(path, b'[{"a":1},{"a":"')


def long_field(path: Path) -> None:
    """A CSV file of 1 GB whose second row is one quoted field that nobody closes."""
    long_string(path, b'a,b\n1,"')


def long_text_field(path: Path) -> None:
    """The same without a quote, and without zeros that would say it is no text: 20 MB, written out."""
    path.write_bytes(b"a,b\n1," + b"x" * (20 << 20) + b"\n3,4\n")


def long_stray_quotes(path: Path) -> None:
    """A record of 15 MB in which every field may be read in several ways, and none is right."""
    path.write_bytes(b"a,b\n1,2\n" + b'"x"y,' * (3 << 20) + b"\n3,4\n")


def shared_strings_bomb(path: Path) -> None:
    """A workbook of texts that inflate to more than the file's size allows."""
    book, plain = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a"])
    book.save(plain)
    source = zipfile.ZipFile(plain)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            archive.writestr(member.filename, source.read(member))
        with archive.open("xl/sharedStrings.xml", "w", force_zip64=True) as file:
            file.write(b"<sst>")
            for _ in range(MANY):
                file.write(b"<si><t>xxxxxxxxx</t></si>" * 42_000)
            file.write(b"</sst>")


def workbook_part(path: Path, part: str, content: Iterable[bytes]) -> None:
    """A workbook of which one part is something else."""
    book, plain = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a"])
    book.save(plain)
    source = zipfile.ZipFile(plain)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            if member.filename != part:
                archive.writestr(member.filename, source.read(member))
        with archive.open(part, "w", force_zip64=True) as file:
            for piece in content:
                file.write(piece)


def many_sheets(path: Path) -> None:
    """A list of a million sheets."""
    workbook_part(path, "xl/workbook.xml", [b"<workbook>", *[b"<sheet/>" * 100_000] * 10, b"</workbook>"])


def many_relations(path: Path) -> None:
    """A million parts that belong to the workbook."""
    relations = (
        b"".join(b'<Relationship Id="%d"/>' % at for at in range(n, n + 10_000)) for n in range(0, 10**6, 10**4)
    )
    workbook_part(path, "xl/_rels/workbook.xml.rels", [b"<a>", *relations, b"</a>"])


def deep_sheet(path: Path) -> None:
    """Elements in elements in elements."""
    workbook_part(path, "xl/worksheets/sheet1.xml", [HEAD, *[b"<a>" * (1 << 20)] * 15])


def long_tag(path: Path) -> None:
    """An attribute without an end: a parser that waits for it looks at its start again with every piece."""
    workbook_part(path, "xl/worksheets/sheet1.xml", [HEAD + b'<row r="', *[b"1" * (1 << 20)] * 60])


def long_shared_string(path: Path) -> None:
    """One text as large as the caps on size and ratio allow."""
    text = [bytes(f"{at:08}" * (1 << 17), "ascii") for at in range(60)]
    workbook_part(path, "xl/sharedStrings.xml", [b"<sst><si>", b"<t>", *text, b"</t></si></sst>"])


def repeated_string(path: Path) -> None:
    """One long text that a hundred thousand cells show: gigabytes of it in a file of some kilobytes."""
    header = b'<row r="1"><c r="A1" t="str"><v>a</v></c></row>'
    rows = b"".join(b'<row r="%d"><c r="A%d" t="s"><v>0</v></c></row>' % (at, at) for at in range(2, 100_001))
    sheet = path.with_name("sheet")
    workbook_with(sheet, [HEAD, header, rows, TAIL])
    source = zipfile.ZipFile(sheet)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.infolist():
            if member.filename != "xl/sharedStrings.xml":
                archive.writestr(member.filename, source.read(member))
        archive.writestr("xl/sharedStrings.xml", "<sst><si><t>" + "long text " * 3_200 + "</t></si></sst>")


def repeated_value(path: Path) -> None:
    """The same in Parquet, where a dictionary holds the text."""
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 2_000, "int32"), pyarrow.array(["x" * 1_000_000]))
    pyarrow.parquet.write_table(pyarrow.table({"a": text}), path, compression="zstd")


def long_page(path: Path) -> None:
    """A Parquet page that inflates to seventy megabytes."""
    table = pyarrow.table({"a": pyarrow.array(["x" * (70 << 20)])})
    pyarrow.parquet.write_table(table, path, compression="zstd", use_dictionary=False, write_statistics=False)


def lying_page(path: Path) -> None:
    """The same, and its footer says that the column is a hundred bytes small."""
    long_page(path)
    data = path.read_bytes()
    footer = pyarrow.parquet.read_metadata(path)
    true = varint(2 * footer.row_group(0).column(0).total_uncompressed_size)
    start = len(data) - 8 - footer.serialized_size
    lie = bytes([0x80 | 100, *[0x80] * (len(true) - 2), 0])
    path.write_bytes(data[:start] + data[start:].replace(true, lie))
    assert pyarrow.parquet.read_metadata(path).row_group(0).column(0).total_uncompressed_size == 50


def arrow(path: Path, column: Any, compression: str | None = None, make: Any = pyarrow.ipc.new_stream) -> None:
    batch = pyarrow.RecordBatch.from_arrays([column], ["a"])
    with make(path, batch.schema, options=pyarrow.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_batch(batch)


def arrow_bomb(path: Path) -> None:
    """Hundreds of megabytes of zeros as a stream of one batch."""
    zeros = pyarrow.py_buffer(bytes(760 << 20))
    arrow(path, pyarrow.Array.from_buffers(pyarrow.int64(), 99_000_000, [None, zeros]), "zstd")


def arrow_file_bomb(path: Path) -> None:
    """A text of a gigabyte and more as a file of one batch."""
    bounds = pyarrow.array([0, (1 << 30) + 1]).buffers()[1]
    text = pyarrow.LargeStringArray.from_buffers(1, bounds, pyarrow.py_buffer(bytes((1 << 30) + 1)))
    arrow(path, text, "lz4", pyarrow.ipc.new_file)


def arrow_nulls(path: Path) -> None:
    """A stream that states two thousand million rows of nothing."""
    arrow(path, pyarrow.Array.from_buffers(pyarrow.null(), 2**31 - 1, [None]))


def arrow_shared_text(path: Path) -> None:
    """Two thousand rows that show one text of a megabyte."""
    texts = pyarrow.array(["x" * 1_000_000])
    arrow(path, pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 2_000, "int32"), texts))


def varint(number: int) -> bytes:
    """A number as Thrift's compact protocol writes it, seven bits a byte."""
    groups = [number >> shift & 127 for shift in range(0, number.bit_length(), 7)]
    return bytes([*(0x80 | group for group in groups[:-1]), groups[-1]])


def entity_bomb(path: Path) -> None:
    """The billion laughs in a sheet."""
    laughs = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 12))
    workbook_with(path, [f'<!DOCTYPE x [<!ENTITY a0 "ha">{laughs}]>'.encode(), HEAD, b"<row>&a11;</row>", TAIL])


def many_keys(path: Path) -> None:
    path.write_bytes(b"".join(b'{"k%d":1}\n' % at for at in range(10_500)))


def long_keys(path: Path) -> None:
    path.write_bytes(b"".join(b'{"%d%b":1}\n' % (at, b"k" * (14 << 20)) for at in range(3)))


def many_columns(path: Path) -> None:
    path.write_bytes(b"a" + b",a" * 500_000 + b"\n" + b"1" + b",1" * 500_000 + b"\n")


def only_commas(path: Path) -> None:
    path.write_bytes(b"," * (20 << 20))


def wide_rows(path: Path) -> None:
    """Two columns and rows of half a million cells."""
    path.write_bytes(b"a,b\n" + (b"1" + b",1" * 500_000 + b"\n") * 10)


def many_entries(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for at in range(12_000):
            archive.writestr(f"xl/{at}", b"")
