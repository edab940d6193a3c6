"""The rows of a retry: those that failed before, as they were logged, or corrected in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.engine.row_log import RAW as UNREADABLE
from airflow_provider_ingest.engine.trace import HIDDEN
from airflow_provider_ingest.exceptions import FormatError, SourceError
from airflow_provider_ingest.formats import plan_file, plan_rows, read_chunk
from airflow_provider_ingest.formats.rows import Malformed
from airflow_provider_ingest.operators.corrected_cells import LoggedCells
from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER
from airflow_provider_ingest.runs.records import MASKED
from airflow_provider_ingest.service.cells import unescape_cell
from airflow_provider_ingest.service.failed_rows import ERROR_MESSAGE, EXTRA, cell_text

if TYPE_CHECKING:
    from airflow_provider_ingest.engine.plan import Plan
    from airflow_provider_ingest.formats.contract import FilePlan
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RowRecord, RunRecord

CHUNK = 250_000

SPREADSHEETS = ("csv", "xlsx")
"""As what the download is uploaded again; a spreadsheet keeps the apostrophes of its cells."""

WIDTHS = re.compile("expected ([0-9]+) fields, found ([0-9]+)")
"""The reason of a record with too few or too many fields."""


def plan_logged_rows(store: RunStore, original: RunRecord, *, chunk_rows: int, scratch: Any) -> FilePlan:
    """Plan the failed rows of a run as its row log keeps them; flat memory."""
    logged = store.count_rows(original.id, "failed")
    if logged < original.counts.failed:
        raise SourceError(
            f"Of the {original.counts.failed:,} failed rows of run {original.id} only {logged:,} are still logged; "
            "import the others as a file of their own."
        )
    return plan_rows(_logged(store, original.id), columns=_columns(original), chunk_rows=chunk_rows, scratch=scratch)


def _logged(store: RunStore, run_id: int) -> Iterator[Mapping[str, Any] | Malformed]:
    for batch in store.failed_rows(run_id):
        for row in batch:
            yield _again(row)


def _again(row: RowRecord) -> Mapping[str, Any] | Malformed:
    """What to work again: the fields of a row; a record that was no row is none now either, unless it is corrected."""
    fields = {name: value for name, value in row.data.items() if name not in (EXTRA, UNREADABLE)}
    fields |= {ROW_NUMBER: row.row_number, LINE_NUMBER: row.line_number}
    errors = row.errors or {}
    if errors.get("stage") == Stage.PARSE:
        return Malformed(errors["message"], str(row.data.get(UNREADABLE) or ""), fields)
    return fields


def plan_corrected_rows(
    path: Any, store: RunStore, original: RunRecord, plan: Plan, *, chunk_rows: int, scratch: Any
) -> FilePlan:
    """Plan a corrected file of failed rows; each of its rows names one by ``_row_number``, others are left out.

    :param plan: tells which columns the download hides: what stands there instead is no value to import.
    :raises SourceError: the column is missing, or a row names none of the failed rows, or one twice, or still has
        what hides a value.
    """
    read = plan_file(path, options={}, chunk_rows=CHUNK, scratch=scratch / "corrected")
    if read.facts.get("format") in SPREADSHEETS:
        names = {column: unescape_cell(column) for column in read.columns}
    else:
        names = {column: column for column in read.columns}
    columns = _columns(original)
    number, reason = _added(names, ROW_NUMBER, columns), _added(names, ERROR_MESSAGE, columns)
    if number is None:
        raise SourceError(f"The corrected file has no column {ROW_NUMBER!r}; keep it as it was downloaded.")
    fields = {column: name for column, name in names.items() if column not in (number, reason)}
    cells = LoggedCells()
    failed, cut = failed_numbers(store, original.id, cells)
    hidden = plan.masked_columns(tuple(names.values())) | frozenset((original.file or {}).get(MASKED, ()))
    corrected = _corrected(read, fields, number, failed, hidden)
    rows = _as_they_were_unless_corrected(corrected, cut, store, original) if cut else corrected
    rows = _as_meant(rows, cells)
    return plan_rows(rows, columns=columns, chunk_rows=chunk_rows, scratch=scratch / "rows")


def _added(names: Mapping[str, str], wanted: str, columns: Sequence[str] | None) -> str | None:
    """The column that the download added under this name: the last of those that the reader suffixed, since a file that
    was such a download itself has one of its own before it.
    """
    alike = [column for column in names if _without_suffix(column) == wanted]
    own = [column for column in columns or () if _without_suffix(column) == wanted]
    return alike[-1] if len(alike) > len(own) else None


def _without_suffix(column: str) -> str:
    return column.rstrip("_0123456789")


def failed_numbers(
    store: RunStore, run_id: int, cells: LoggedCells | None = None
) -> tuple[dict[int, int | None], set[int]]:
    """Row number to line number of all failed rows, and the numbers of those that have more than there are columns.

    :param cells: is told of all rows.
    """
    failed: dict[int, int | None] = {}
    cut: set[int] = set()
    for batch in store.failed_rows(run_id):
        for row in batch:
            failed[row.row_number] = row.line_number
            if cells is not None:
                cells.note(row)
            if _has_surplus(row):
                cut.add(row.row_number)
    return failed, cut


def _has_surplus(row: RowRecord) -> bool:
    errors = row.errors or {}
    counts = WIDTHS.fullmatch(str(errors.get("message"))) if errors.get("stage") == Stage.PARSE else None
    return counts is not None and int(counts[2]) > int(counts[1])


def _as_they_were_unless_corrected(
    rows: Iterator[Mapping[str, Any]], cut: set[int], store: RunStore, original: RunRecord
) -> Iterator[Mapping[str, Any] | Malformed]:
    """Take a record with surplus fields for a row only if something in it was changed: the file that is corrected has
    no column for these fields, so that the record as it was sent out would be imported without them.
    """
    for row in rows:
        logged = store.row(original.id, row[ROW_NUMBER]) if row[ROW_NUMBER] in cut else None
        if logged is not None and all(
            (value or "") == cell_text(logged.data.get(name))
            for name, value in row.items()
            if name not in (ROW_NUMBER, LINE_NUMBER)
        ):
            yield _again(logged)
        else:
            yield row


def _as_meant(
    rows: Iterator[Mapping[str, Any] | Malformed], cells: LoggedCells
) -> Iterator[Mapping[str, Any] | Malformed]:
    """The rows with what their cells stand for."""
    for row in rows:
        if isinstance(row, Malformed):
            yield row
        else:
            own = {name: row[name] for name in (ROW_NUMBER, LINE_NUMBER)}
            yield {name: cells.value(name, own[ROW_NUMBER], text) for name, text in row.items()} | own


def _corrected(
    read: FilePlan, names: Mapping[str, str], number: str, failed: dict[int, int | None], hidden: frozenset[str]
) -> Iterator[Mapping[str, Any]]:
    seen: set[int] = set()
    is_escaped = read.facts.get("format") in SPREADSHEETS
    for chunk in read.chunks:
        for batch in read_chunk(read.reader, chunk):
            if batch.malformed.height:
                line = batch.malformed[LINE_NUMBER][0]
                raise FormatError(f"Line {line} of the corrected file is no row: {batch.malformed['reason'][0]}.")
            for row in batch.frame.iter_rows(named=True):
                row_number = _row_number(row[number], row[LINE_NUMBER], failed, seen)
                fields = {
                    name: unescape_cell(row[column]) if is_escaped and row[column] else row[column]
                    for column, name in names.items()
                }
                if hidden:
                    _check_filled_in(fields, hidden, row[LINE_NUMBER])
                yield {**fields, ROW_NUMBER: row_number, LINE_NUMBER: failed[row_number]}


def _check_filled_in(fields: Mapping[str, str | None], hidden: frozenset[str], line: int) -> None:
    """Raise if a row is as the download hid it: a sensitive value masked, or all of a record that was no row."""
    for name in sorted(hidden & fields.keys()):
        if fields[name] == HIDDEN:
            raise SourceError(
                f"Line {line} of the corrected file has {HIDDEN} in the sensitive field {name!r}: fill in its value, "
                "or leave the row out."
            )
    if not any(fields.values()):
        raise SourceError(f"Line {line} of the corrected file has no values: fill them in, or leave the row out.")


def _row_number(text: str | None, line: int, failed: Mapping[int, Any], seen: set[int]) -> int:
    try:
        number = int(str(text).strip())
    except ValueError:
        raise SourceError(f"Line {line} of the corrected file has no number in {ROW_NUMBER!r}.") from None
    if number not in failed:
        raise SourceError(f"Line {line} of the corrected file names row {number}, which did not fail in that run.")
    if number in seen:
        raise SourceError(f"Line {line} of the corrected file names row {number} a second time.")
    seen.add(number)
    return number


def _columns(original: RunRecord) -> list[str] | None:
    columns = (original.file or {}).get("columns")
    return list(columns) if columns else None
