"""Looks through an XLSX workbook before anything is loaded: sizes while inflating, and the rectangle its cells span.

The reader holds a sheet as one rectangle from its first to its last cell. A workbook of one kilobyte whose cells are
A1 and XFD1048576 would thus take 500 GB; and the sizes that a ZIP directory states may be lies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.parsers import expat

import numpy as np

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.compression import check_member, inflate_member, open_zip
from airflow_provider_ingest.formats.limits import LIMITS, MIB, Limits

_REFERENCE = 12
"""Longest cell reference with its closing quote: ``XFD1048576"`` and one to spare."""


def check_workbook(file: Any, limits: Limits = LIMITS) -> None:
    """Refuse a workbook that would take too much memory: one pass over its inflated bytes, nothing kept.

    :param file: binary and seekable.
    """
    with open_zip(file, limits) as archive:
        members = archive.infolist()
        names = {member.filename for member in members}
        if not any(name.startswith("xl/") for name in names):
            raise FormatError("The file is no XLSX workbook.")
        if "xl/workbook.bin" in names:
            raise FormatError("The file is a binary workbook (.xlsb); save it as .xlsx.")
        for member in members:
            check_member(member)
        if sum(member.file_size for member in members) > limits.workbook_bytes:
            raise _too_large(limits)
        inflated = 0
        for member in members:
            extent = Extent()
            for piece in inflate_member(file, member, limits):
                inflated += len(piece)
                if inflated > limits.workbook_bytes:
                    raise _too_large(limits)
                extent.add(piece)
            if extent.is_unclear:
                extent = exact_extent(inflate_member(file, member, limits))
            if extent.cells > limits.sheet_cells:
                raise FormatError(
                    f"A sheet spans {extent.rows:,} rows × {extent.columns:,} columns, more than "
                    f"{limits.sheet_cells:,} cells; remove stray cells far away from the table, or save it as CSV."
                )


def _too_large(limits: Limits) -> FormatError:
    return FormatError(f"The workbook inflates to more than {limits.workbook_bytes // MIB:,} MiB; save it as CSV.")


class Extent:
    """The rectangle that a sheet's cells span, found in pieces of its XML by their references.

    >>> extent = Extent()
    >>> extent.add(b'<sheetData><row r="1"><c r="B1"/><c r="D1"/></row><row r="9"><c r="C9"/></row>')
    >>> extent.rows, extent.columns, extent.is_unclear
    (9, 3, False)
    """

    def __init__(self) -> None:
        self.rows = 0
        self._first = 1 << 30
        self._last = 0
        self._tail = b""
        self._has_sheet = False
        self._is_irregular = False

    @property
    def columns(self) -> int:
        """Width of the rectangle."""
        return max(self._last - self._first + 1, 0)

    @property
    def cells(self) -> int:
        """Cells of the rectangle; 0 for a part that is no sheet."""
        return self.rows * self.columns if self._has_sheet else 0

    @property
    def is_unclear(self) -> bool:
        """A sheet whose rows or cells are not written in the usual way."""
        return self._has_sheet and self._is_irregular

    def mark_sheet(self) -> None:
        """Say that what is looked at is a sheet."""
        self._has_sheet = True

    def include(self, row: int, column: int) -> None:
        """Widen the rectangle to a cell, counted from 1."""
        self.rows = max(self.rows, row)
        self._first, self._last = min(self._first, column), max(self._last, column)

    def add(self, piece: bytes) -> None:
        """Look at the next piece of XML."""
        text = self._tail + piece
        cut = text.rfind(b"<")
        cut = len(text) if cut < 0 or len(text) - cut > MIB else cut
        self._tail, text = text[cut:], text[:cut]
        self._look(text)
        if self._tail.endswith(b">"):
            self._look(self._tail)
            self._tail = b""

    def _look(self, text: bytes) -> None:
        self._has_sheet = self._has_sheet or b"sheetData" in text
        tags = text.count(b"<c ") + text.count(b"<row ")
        plain = sum(text.count(tag) for tag in (b"<c>", b"<c/", b"<row>", b"<row/", b":c ", b":row ", b":c>", b":row>"))
        data = np.frombuffer(text + b"\0" * (_REFERENCE + 4), np.uint8)
        at = np.flatnonzero((data[:-3] == 32) & (data[1:-2] == 114) & (data[2:-1] == 61) & (data[3:] == 34)) + 4
        if plain or len(at) != tags:
            self._is_irregular = True
            return
        if len(at):
            self._include_all(data[at[:, None] + np.arange(_REFERENCE)])

    def _include_all(self, references: Any) -> None:
        rows = np.zeros(len(references), np.int64)
        columns = np.zeros(len(references), np.int64)
        is_open = np.ones(len(references), bool)
        for character in references.T:
            is_open &= character != 34
            is_letter, is_digit = (character >= 65) & (character <= 90), (character >= 48) & (character <= 57)
            if (is_open & ~is_letter & ~is_digit).any():
                self._is_irregular = True
                return
            columns = np.where(is_open & is_letter, columns * 26 + character - 64, columns)
            rows = np.where(is_open & is_digit, rows * 10 + character - 48, rows)
        if is_open.any():
            self._is_irregular = True
            return
        self.rows = max(self.rows, int(rows.max()))
        cells = columns[columns > 0]
        if len(cells):
            self._first, self._last = min(self._first, int(cells.min())), max(self._last, int(cells.max()))


def exact_extent(pieces: Iterable[bytes]) -> Extent:
    """The same, slowly, by an XML parser: for sheets without references or with unusual spelling."""
    extent = Extent()
    extent.mark_sheet()
    row = column = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal row, column
        name = tag.rpartition(":")[2]
        if name == "row":
            given = attributes.get("r", "").strip()
            row, column = int(given) if given.isdecimal() else row + 1, 0
        elif name == "c":
            letters = attributes.get("r", "").strip().upper()
            digits = letters.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            column += 1
            if letters:
                column = _column(letters[: len(letters) - len(digits)]) or column
                row = int(digits) if digits.isdecimal() else row
            extent.include(row, column)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    try:
        for piece in pieces:
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError) as error:
        raise FormatError(f"A sheet of the workbook is not well-formed XML: {error}.") from None
    return extent


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
