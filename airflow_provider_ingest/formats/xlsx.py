"""XLSX: one sheet of a workbook, its typed cells as text, streamed into chunk files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import open_file, plan_frames
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.formats.limits import LIMITS, Limits
from airflow_provider_ingest.formats.rows import Malformed, RowFrames, broken_series, collection_paused
from airflow_provider_ingest.formats.values import cell_text, whole_number
from airflow_provider_ingest.formats.workbook import check_workbook
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER

BLOCK_ROWS = 20_000
BLOCK_CELLS = 500_000
"""Sheet rows and cells that are Python objects at a time, at most."""


def plan_xlsx(
    path: Any,
    *,
    options: Mapping[str, Any],
    chunk_rows: int,
    scratch: Any,
    facts: Mapping[str, Any],
    limits: Limits = LIMITS,
) -> FilePlan:
    """Stream a sheet into chunk files.

    An empty cell is null, empty rows are left out, the line number is the row of the sheet. Of merged cells the
    first one has the value. Formulas give their stored values, errors (``#N/A``) null.

    :param options: ``sheet`` (name, or position from 0; default: the first visible one), ``header_row`` (row of the
        sheet, from 1; default: the first that is not empty), ``skip_rows``, ``has_header``, ``column_names``.
    """
    from python_calamine import CalamineError, CalamineWorkbook

    with open_file(path) as file:
        check_workbook(file, limits)
        file.seek(0)
        try:
            workbook = CalamineWorkbook.from_filelike(file)
            name = choose_sheet(workbook, options.get("sheet"))
            sheet = workbook.get_sheet_by_name(name)
        except (CalamineError, OSError, ValueError) as error:
            raise FormatError(f"The workbook cannot be read: {error}.") from error
    frames = RowFrames(whole_floats=True, limits=limits)
    table = SheetTable(sheet, name, options, frames)
    facts = {**facts, "sheet": name, "sheets": list(workbook.sheet_names)}
    with collection_paused():
        return plan_frames(table.frames(), frames, chunk_rows=chunk_rows, scratch=scratch, facts=facts)


def choose_sheet(workbook: Any, wanted: Any) -> str:
    """The name of the sheet to read."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    names: list[str] = workbook.sheet_names
    if isinstance(wanted, str) and wanted in names:
        return wanted
    if isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted < len(names):
        return names[wanted]
    if wanted is not None:
        raise FormatError(f"The workbook has no sheet {wanted!r}; it has {', '.join(map(repr, names))}.")
    for sheet in workbook.sheets_metadata:
        if sheet.visible == SheetVisibleEnum.Visible and sheet.typ == SheetTypeEnum.WorkSheet:
            return str(sheet.name)
    raise FormatError("The workbook has no visible sheet; name one with the option sheet.")


class SheetTable:
    """The header and the data rows of a sheet."""

    def __init__(self, sheet: Any, name: str, options: Mapping[str, Any], frames: RowFrames) -> None:
        self._frames = frames
        self._name = name
        self._rows: Iterator[tuple[int, list[Any]]] = enumerate(sheet.iter_rows(), 1)
        self._names = self._header(options)
        if merged := self._merged(sheet):
            frames.warnings.append(f"{merged} merged ranges in sheet {name!r}: only their first cells have a value.")

    def frames(self) -> Iterator[pl.DataFrame]:
        """Records frames in the order of the sheet."""
        first = 1
        size = max(min(BLOCK_ROWS, BLOCK_CELLS // max(len(self._names), 1)), 1)
        while block := list(islice(self._rows, size)):
            empty = [""] * len(self._names)
            kept = [(line, cells) for line, cells in block if cells != empty]
            if not kept:
                continue
            lines, rows = zip(*kept, strict=True)
            yield self._frame(rows, range(first, first + len(rows)), lines)
            first += len(rows)

    def _frame(self, rows: tuple[list[Any], ...], numbers: range, lines: tuple[int, ...]) -> pl.DataFrame:
        broken: dict[int, Malformed] = {}
        series = [pl.Series(ROW_NUMBER, numbers, dtype=pl.Int64), pl.Series(LINE_NUMBER, lines, dtype=pl.Int64)]
        for position, cells in enumerate(zip(*rows, strict=True)):
            values = [None if cell == "" else cell for cell in cells] if "" in cells else list(cells)
            name = self._names[position]
            if name is None:
                if values.count(None) == len(values):
                    continue
                name = self._names[position] = self._unique(f"column_{position + 1}")
            series.append(self._frames.series(name, values, broken))
        return pl.DataFrame(series + broken_series(broken, len(rows)))

    def _header(self, options: Mapping[str, Any]) -> list[str | None]:
        """Columns by position; ``None`` where the header is empty: a column only if values turn up."""
        given = options.get("column_names")
        has_header = options.get("has_header", True)
        least = int(options.get("skip_rows") or 0) + 1
        if has_header and options.get("header_row") is not None:
            least = int(options["header_row"])
        for line, cells in self._rows:
            if line < least or all(cell == "" for cell in cells):
                continue
            names = [None if cell == "" else cell_text(whole_number(cell))[0].strip() for cell in cells]
            if not has_header:
                self._rows = _chain_back((line, cells), self._rows)
                names = [None] * len(cells)
            if given is not None:
                names = [*map(str, given), *[None] * len(cells)][: len(cells)]
            return [None if not name else self._unique(name) for name in names]
        raise FormatError(f"Sheet {self._name!r} is empty.")

    def _unique(self, name: str) -> str:
        """The column of a header name; a repeated one gets a suffix."""
        taken = set(self._frames.columns)
        unique, number = name, 1
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        if unique != name:
            self._frames.warnings.append(f'Column "{name}" stands more than once; a later one is called "{unique}".')
        return self._frames.column(unique)

    @staticmethod
    def _merged(sheet: Any) -> int:
        return len(sheet.merged_cell_ranges or ())


def _chain_back(first: Any, rest: Any) -> Iterator[Any]:
    yield first
    yield from rest
