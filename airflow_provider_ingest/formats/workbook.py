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

_REFERENCE = 11
"""Length of the longest cell reference with its closing quote: ``XFD1048576"``."""


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
        """Judge whole tags; whatever is not plainly ``<c r="`` or ``<row r="`` makes the sheet unclear."""
        self._has_sheet = self._has_sheet or b"sheetData" in text
        if self._is_irregular:
            return
        data = np.frombuffer(text + bytes(_REFERENCE + 8), np.uint8)
        at = np.flatnonzero(data == ord("<"))
        first, second = data[at + 1], data[at + 2]
        cells = at[(first == ord("c")) & (second <= ord(">"))]  # not <cols, but <c>, <c/> and <c with any blank
        rows = at[(first == ord("r")) & (second == ord("o")) & (data[at + 3] == ord("w")) & (data[at + 4] <= ord(">"))]
        is_plain = _stands(data, cells + 2, b' r="') and _stands(data, rows + 4, b' r="')
        has_prefix = b":" in text and any(tag in text for tag in (b":c ", b":c>", b":c/", b":row ", b":row>"))
        if not is_plain or has_prefix:
            self._is_irregular = True
            return
        self._include_all(data, np.concatenate([cells + 6, rows + 8]))

    def _include_all(self, data: Any, at: Any) -> None:
        """Widen the rectangle to the references that start at these positions."""
        if not len(at):
            return
        rows = np.zeros(len(at), np.int64)
        columns = np.zeros(len(at), np.int64)
        is_open = np.ones(len(at), bool)
        for step in range(_REFERENCE):
            character = data[at + step]
            is_open &= character != ord('"')
            if not is_open.any():
                break
            is_letter, is_digit = (character - ord("A")) < 26, (character - ord("0")) < 10  # unsigned: wraps below
            if not (is_letter | is_digit | ~is_open).all():
                self._is_irregular = True
                return
            columns = np.where(is_open & is_letter, columns * 26 + (character - (ord("A") - 1)), columns)
            rows = np.where(is_open & is_digit, rows * 10 + (character - ord("0")), rows)
        else:
            self._is_irregular = True
            return
        self.rows = max(self.rows, int(rows.max()))
        columns = columns[columns > 0]
        if len(columns):
            self._first, self._last = min(self._first, int(columns.min())), max(self._last, int(columns.max()))


def _stands(data: Any, at: Any, text: bytes) -> bool:
    """Whether a text stands at all of these positions."""
    return all(bool((data[at + offset] == byte).all()) for offset, byte in enumerate(text))


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
