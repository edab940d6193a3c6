"""XLSX: one sheet of a workbook, its typed cells as text, streamed into chunk files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import open_file, plan_frames
from airflow_provider_ingest.formats.compression import check_size
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.formats.limits import LIMITS, Limits
from airflow_provider_ingest.formats.options import flag_option, names_option, number_option
from airflow_provider_ingest.formats.rows import FRAME_CELLS, RowFrames
from airflow_provider_ingest.formats.sheet_cells import Cells, Extent, parse_cells
from airflow_provider_ingest.formats.sheet_scan import scan_cells
from airflow_provider_ingest.formats.sheet_values import CellTexts
from airflow_provider_ingest.formats.workbook import Sheet, Workbook
from airflow_provider_ingest.formats.xml_scan import NotPlain
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER

_ROWS_TOGETHER = 256
"""Rows that are searched for a header at a time."""

LOOKED_AT = 12
"""Other sheets that are looked into for values."""


def plan_xlsx(
    path: Any,
    *,
    options: Mapping[str, Any],
    chunk_rows: int,
    scratch: Any,
    facts: Mapping[str, Any],
    limits: Limits = LIMITS,
) -> FilePlan:
    """Stream a sheet into chunk files, in memory that does not grow with it; shared strings are held.

    An empty cell is null, empty rows are left out, the line number is the row of the sheet. Of merged cells the
    first one has the value. Formulas give their stored values, null with a warning where they have none; errors
    (``#N/A``) are null.

    :param options: ``sheet`` (name, or position from 0; default: the first visible one), ``header_row`` (row of the
        sheet, from 1; default: the first that is not empty), ``skip_rows``, ``has_header``, ``column_names``.
    """
    with open_file(path) as file:
        size = file.seek(0, 2)
        workbook = Workbook(file, limits)
        sheet = choose_sheet(workbook.sheets, options.get("sheet"))
        facts = {**facts, "sheet": sheet.name, "sheets": [one.name for one in workbook.sheets]}
        texts = workbook.cell_texts()
        try:
            plan = _plan(workbook, sheet, texts, scan_cells, size, options, chunk_rows, scratch, facts, limits)
        except NotPlain:
            plan = _plan(workbook, sheet, texts, parse_cells, size, options, chunk_rows, scratch, facts, limits)
        unread = _unread(workbook, sheet) if options.get("sheet") is None else ()
        return replace(plan, warnings=(*plan.warnings, *unread))


def _unread(workbook: Workbook, chosen: Sheet) -> Iterator[str]:
    """A warning where nobody said which sheet is meant, and others have values, too."""
    visible = [sheet for sheet in workbook.sheets if sheet.is_visible and sheet is not chosen]
    others = [f'"{sheet.name}"' for sheet in visible[:LOOKED_AT] if workbook.has_values(sheet)]
    if others:
        have = "have" if others[1:] else "has"
        yield (
            f'Only the sheet "{chosen.name}" is read; {", ".join(others)} {have} values, too. '
            "The option sheet says which one is meant."
        )


def _plan(
    workbook: Workbook,
    sheet: Sheet,
    texts: CellTexts,
    read: Any,
    size: int,
    options: Mapping[str, Any],
    chunk_rows: int,
    scratch: Any,
    facts: Mapping[str, Any],
    limits: Limits,
) -> FilePlan:
    """Stream the sheet with the fast or the exact reader of cells."""
    part = sheet.part
    assert part is not None
    extent = Extent()
    frames = RowFrames(whole_floats=True, limits=limits)
    table = SheetTable(sheet.name, texts, frames, options)

    def produced() -> Iterator[pl.DataFrame]:
        shown = 0
        for cells in read(workbook.pieces(part), extent):
            extent.add(cells)
            for frame in table.frames(cells):
                shown += int(frame.estimated_size())
                check_size(shown, size, limits)  # cells may show one long text again and again
                yield frame
        extent.check(limits)
        table.finish(extent)

    return plan_frames(produced(), frames, chunk_rows=chunk_rows, scratch=scratch, facts=facts)


def _fitting(cells: Cells) -> Iterator[Cells]:
    """The same rows in parts whose frames are no vast ones: few cells may lie in very many columns."""
    height = len(cells.lines)
    if height > 1 and len(cells.column) * height > FRAME_CELLS:
        columns = int(cells.column.max() - cells.column.min()) + 1
        if columns * height > FRAME_CELLS and len(np.unique(cells.column)) * height > FRAME_CELLS:
            yield from _fitting(cells.rows(0, height // 2))
            yield from _fitting(cells.rows(height // 2))
            return
    yield cells


def choose_sheet(sheets: tuple[Sheet, ...], wanted: Any) -> Sheet:
    """The sheet to read."""
    for sheet in sheets:
        if sheet.name == wanted if wanted is not None else sheet.is_visible and sheet.part:
            break
    else:
        is_position = isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted < len(sheets)
        if wanted is None:
            raise FormatError("The workbook has no visible sheet; name one with the option sheet.")
        if not is_position:
            named = ", ".join(repr(one.name) for one in sheets)
            raise FormatError(f"The workbook has no sheet {wanted!r}; it has {named}.")
        sheet = sheets[wanted]
    if sheet.part is None:
        raise FormatError(f"Sheet {sheet.name!r} has no cells; it is a chart, or damaged.")
    return sheet


class SheetTable:
    """The header and the data rows of a sheet, block after block."""

    def __init__(self, name: str, texts: CellTexts, frames: RowFrames, options: Mapping[str, Any]) -> None:
        self._name = name
        self._texts = texts
        self._frames = frames
        self._names: dict[int, str] | None = None
        self._rows = 0
        self._given = names_option(options, "column_names")
        self._has_header = flag_option(options, "has_header") is not False
        self._least = (number_option(options, "skip_rows", 0) or 0) + 1
        if self._has_header:
            self._least = number_option(options, "header_row", 1) or self._least

    def frames(self, cells: Cells) -> Iterator[pl.DataFrame]:
        """Records frames in the order of the sheet."""
        start = 0 if self._names is not None else self._header(cells)
        if start < len(cells.lines):
            for part in _fitting(cells.rows(start)):
                yield from self._frame(part)

    def _frame(self, cells: Cells) -> Iterator[pl.DataFrame]:
        """The rows that have a value, or nothing."""
        series = []
        for position, text, kinds in self._texts.columns(cells):
            assert self._names is not None
            name = self._names.get(position)
            if name is None:
                name = self._names[position] = self._frames.add_column(f"column_{position + 1}")
            series.append(text.alias(name))
            for kind in kinds:
                self._frames.add_kind(name, kind)
        if not series:
            return
        frame = pl.DataFrame([pl.Series(LINE_NUMBER, cells.lines), *series])
        kept = pl.Series(np.zeros(frame.height, bool))
        for text in series:
            kept |= text.is_not_null()
            if kept.all():
                break
        else:
            frame = frame.filter(kept)
        numbers = pl.Series(ROW_NUMBER, np.arange(self._rows + 1, self._rows + frame.height + 1, dtype=np.int64))
        self._rows += frame.height
        yield frame.insert_column(0, numbers)

    def finish(self, extent: Extent) -> None:
        """Say what the last block told; a sheet without a row that could be the header is refused."""
        if self._names is None:
            raise FormatError(f"Sheet {self._name!r} is empty.")
        if extent.merged:
            self._frames.warnings.append(
                f"{extent.merged} merged ranges in sheet {self._name!r}: only their first cells have a value."
            )

        if extent.uncalculated:
            self._frames.warnings.append(
                f"{extent.uncalculated} formulas in sheet {self._name!r} have no stored value and are null: "
                "open the workbook in a spreadsheet program and save it."
            )

    def _header(self, cells: Cells) -> int:
        """Find the header; where the data start, or the number of rows if it is not in this block."""
        row, found = self._first_texts(cells)
        if not found:
            return len(cells.lines)
        if not self._has_header:
            found = {}
        if self._given is not None:
            found = dict(enumerate(self._given, int(cells.column[cells.row == row].min())))
        self._names = {}
        for at, text in found.items():
            if text.strip():
                self._names[at] = self._frames.add_column(text.strip())
        return row + 1 if self._has_header else row

    def _first_texts(self, cells: Cells) -> tuple[int, dict[int, str]]:
        """The first row with a value, and its texts by column; nothing if this block has none.

        Most often that is the first row; where it is not, more rows are looked at together.
        """
        first, size = int((cells.lines < self._least).sum()), 1
        while first < len(cells.lines):
            columns = [(at, text) for at, text, _ in self._texts.columns(cells.rows(first, first + size))]
            if columns:
                row = min(int(text.is_not_null().arg_max() or 0) for _, text in columns)
                return first + row, {at: text[row] for at, text in columns if text[row] is not None}
            first, size = first + size, min(2 * size, _ROWS_TOGETHER)
        return first, {}
