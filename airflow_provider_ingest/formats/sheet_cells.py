"""The cells of a stretch of a worksheet as arrays, and the exact way to get them: an XML parser.

:mod:`.sheet_scan` gets the same cells many times faster from sheets that are written the way spreadsheets write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import LIMITS, MIB, Limits
from airflow_provider_ingest.formats.xml_parts import local_name, parse_xml

NUMBER, SHARED, TEXT, BOOLEAN, ERROR, ISO_DATE = range(6)
TYPES = {"n": NUMBER, "s": SHARED, "str": TEXT, "inlineStr": TEXT, "b": BOOLEAN, "e": ERROR, "d": ISO_DATE}
"""What the attribute ``t`` of a cell says; without it a cell is a number."""

_REFERENCE = re.compile(r"\s*([A-Za-z]{0,6})([0-9]{0,14})\s*")

BLOCK_CELLS, BLOCK_BYTES = 100_000, 32 * MIB
"""Cells that are Python objects at a time in the exact reader, and their text, about; a row may have no more."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells with a value of some rows that follow each other.

    :param lines: of each row, its number in the sheet, from 1.
    :param row: of each cell, the position of its row in ``lines``; ascending.
    :param column: of each cell, from 0. :param type: one of the constants above. :param style: its format's position.
    :param text: of each cell, as it is written, without XML's escapes.
    """

    lines: Any
    row: Any
    column: Any
    type: Any
    style: Any
    text: pl.Series

    def rows(self, first: int, end: int | None = None) -> Cells:
        """Only the rows from one position up to another."""
        end = len(self.lines) if end is None else end
        a, b = (int(place) for place in np.searchsorted(self.row, (first, end)))
        return Cells(
            self.lines[first:end],
            self.row[a:b] - first,
            self.column[a:b],
            self.type[a:b],
            self.style[a:b],
            self.text[a:b],
        )


@dataclass(slots=True)
class Extent:
    """The rectangle that a sheet's cells span, and what else is counted on the way.

    :param cells: those with a value. :param merged: merged ranges. :param uncalculated: formulas without a value.
    """

    rows: int = 0
    first_column: int = 1 << 30
    last_column: int = -1
    cells: int = 0
    merged: int = 0
    uncalculated: int = 0

    def add(self, cells: Cells) -> None:
        """Widen the rectangle."""
        if len(cells.column):
            self.rows = max(self.rows, int(cells.lines.max()))
            self.first_column = min(self.first_column, int(cells.column.min()))
            self.last_column = max(self.last_column, int(cells.column.max()))
            self.cells += len(cells.column)

    def check(self, limits: Limits) -> None:
        """Refuse a vast rectangle with hardly a cell in it: cells far away from the table were meant to be empty."""
        columns = max(self.last_column - self.first_column + 1, 0)
        area = self.rows * columns
        if area > limits.sheet_cells and self.cells * 100 < area:
            raise FormatError(
                f"A sheet spans {self.rows:,} rows × {columns:,} columns, more than {limits.sheet_cells:,} cells, and "
                "hardly any has a value; remove stray cells far away from the table, or save it as CSV."
            )


def parse_cells(pieces: Iterable[bytes], extent: Extent, limits: Limits = LIMITS) -> Iterator[Cells]:
    """The cells of any well-formed sheet, whatever way it is written.

    :param pieces: the sheet's XML. :param extent: is told of merged ranges and of formulas without a value.
    :raises FormatError: it is not well-formed.
    """
    parts = _Parts(extent, limits)
    for _ in parse_xml(pieces, parts.start, parts.end, parts.characters, "A sheet of the workbook"):
        if max(len(parts.text), len(parts.lines)) >= BLOCK_CELLS or parts.held >= BLOCK_BYTES:
            yield parts.take()
    if parts.lines:
        yield parts.take(is_last=True)


class _Parts:
    """Collects cells from an XML parser's events."""

    def __init__(self, extent: Extent, limits: Limits) -> None:
        self.lines: list[int] = []
        self.text: list[str] = []
        self._row: list[int] = []
        self._column: list[int] = []
        self._type: list[int] = []
        self._style: list[int] = []
        self._row_start = 0
        self._extent = extent
        self._limits = limits
        self._line = 0
        self._at = -1
        self._cell: tuple[int, int] = (NUMBER, 0)
        self._value: list[str] | None = None
        self._size = 0
        self._is_formula = False
        self.held = 0
        self._path: list[str] = []

    def take(self, *, is_last: bool = False) -> Cells:
        """The rows that were collected; the last one, which may go on, is kept back.

        :raises FormatError: there is nothing but that row.
        """
        if not is_last and len(self.lines) == 1:
            raise FormatError(f"Row {self.lines[-1]:,} of the sheet has more cells, or more text in them, than fit.")
        cut, lines = (len(self.text), len(self.lines)) if is_last else (self._row_start, len(self.lines) - 1)
        taken = Cells(
            np.array(self.lines[:lines], np.int64),
            np.array(self._row[:cut], np.int64),
            np.array(self._column[:cut], np.int64),
            np.array(self._type[:cut], np.uint8),
            np.array(self._style[:cut], np.int64),
            pl.Series(self.text[:cut], dtype=pl.String),
        )
        self.lines, self.text, self._row = self.lines[lines:], self.text[cut:], [0] * (len(self._row) - cut)
        self._column, self._type, self._style = self._column[cut:], self._type[cut:], self._style[cut:]
        self.held, self._row_start = sum(map(len, self.text)), 0
        return taken

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        self._path.append(name)
        if name == "row":
            given = attributes.get("r", "").strip()
            self._line = int(given) if given.isdecimal() and len(given) < 15 else self._line + 1
            self._at = -1
            self._begin_row()
        elif name == "c":
            found = _REFERENCE.fullmatch(attributes.get("r", ""))
            kind, style = attributes.get("t", "n"), attributes.get("s", "0").strip()
            if found is None or kind not in TYPES or not style.isdecimal():
                raise FormatError(f"A cell in row {self._line:,} of the sheet is damaged.")
            self._at = column_of(found[1].upper()) if found[1] else self._at + 1
            self._line = int(found[2]) if found[2] else self._line
            self._cell, self._value, self._size = (TYPES[kind], int(style) if len(style) < 9 else 0), [], 0
            self._is_formula = False
        elif name == "f":
            self._is_formula = True
        elif name == "mergeCell":
            self._extent.merged += 1

    def _begin_row(self) -> None:
        self.lines.append(self._line)
        self._row_start = len(self.text)

    def characters(self, text: str) -> None:
        name = self._path[-1] if self._path else ""
        is_value = name == "v" or (name == "t" and "rPh" not in self._path[-3:])
        if self._value is not None and is_value:
            self._size += len(text)
            self.held += len(text)
            if self._size > self._limits.record_bytes:
                size = self._limits.record_bytes // MIB
                raise FormatError(f"A cell in row {self._line:,} of the sheet is larger than {size} MiB.")
            self._value.append(text)

    def end(self, tag: str) -> None:
        self._path.pop()
        if local_name(tag) != "c" or self._value is None:
            return
        text = "".join(self._value)
        self._value = None
        if not text:
            self._extent.uncalculated += self._is_formula and self._cell[0] != TEXT
            return
        if not self.lines or self.lines[-1] != self._line:  # its reference names another row than the one it is in
            self._begin_row()
        self.text.append(text)
        self._row.append(len(self.lines) - 1)
        self._column.append(self._at)
        self._type.append(self._cell[0])
        self._style.append(self._cell[1])


def column_of(letters: str) -> int:
    """The position of a column, from 0.

    >>> column_of("A"), column_of("XFD")
    (0, 16383)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1
