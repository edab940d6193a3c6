"""The failed rows of a run as a CSV that can be corrected and uploaded again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from airflow_provider_ingest.exceptions import Conflict, NothingFailed
from airflow_provider_ingest.runs.columns import ROW_NUMBER
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.runs.records import RowRecord, RunRecord
from airflow_provider_ingest.service.cells import escape_cell

ERROR_MESSAGE = "_error_message"
"""Column with the reasons why the row failed."""

EXTRA = "_extra"
"""Where a malformed row keeps fields for which the header has no name; no column of the file."""

RAW = "_raw"
"""Where a malformed row keeps its text as it stood in the file."""

MOST_RAW = 2_000
"""Characters of that text that a download shows."""


class NothingToDownload(NothingFailed):
    """Download of failed rows where no row failed."""

    status = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRows:
    """The download of one run.

    :param columns: the original columns in their original order, known before the first row.
    """

    run: RunRecord
    columns: tuple[str, ...]

    @property
    def filename(self) -> str:
        """A file name for the client: plain ASCII, whatever the uploaded file was called."""
        return f"{self.run.importer}-run-{self.run.id}-failed-rows.csv"

    def stream(self, store: RunStore) -> Iterator[bytes]:
        """The file in pieces of one batch of rows each, UTF-8."""
        yield write_rows([[*map(escape_cell, self.columns), ERROR_MESSAGE, ROW_NUMBER]])
        for batch in store.failed_rows(self.run.id):
            yield write_rows([self._cells(row) for row in batch])

    def _cells(self, row: RowRecord) -> list[str]:
        cells = [escape_cell(cell_text(row.data.get(column))) for column in self.columns]
        return [*cells, escape_cell(error_text(row.errors) + _as_it_stood(row)), str(row.row_number)]


def find_failed_rows(store: RunStore, run: RunRecord) -> FailedRows:
    """What to download of a run.

    Raises :class:`NothingToDownload` where no row failed and :class:`Conflict` where the failed rows' log is gone.
    """
    if not run.counts.failed:
        raise NothingToDownload(f"Run {run.id} has no failed rows to download.")
    if not store.count_rows(run.id, "failed"):
        raise Conflict(f"The failed rows of run {run.id} are not (or no longer) logged.", "rows_gone")
    return FailedRows(run=run, columns=_columns(store, run))


def write_rows(rows: Sequence[Sequence[str]]) -> bytes:
    """The rows as CSV: commas, quotes where needed, CRLF."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode("utf-8", "surrogatepass")


def cell_text(value: Any) -> str:
    """A logged value as a cell: null is empty, arrays and objects are JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def error_text(errors: dict[str, Any] | None) -> str:
    """All reasons of one row in one cell.

    >>> error_text({"message": "The given data was invalid.", "validation": {"email": ["is no e-mail address"]}})
    'email: is no e-mail address'
    """
    if not errors:
        return ""
    fields = [f"{name}: {text}" for name, texts in (errors.get("validation") or {}).items() for text in texts]
    return "; ".join(fields) or str(errors.get("message") or "")


def _as_it_stood(row: RowRecord) -> str:
    """The text of a record that was no row: its cells may be too many for the columns, or not those that were meant."""
    raw = str(row.data.get(RAW) or "")
    return f": {raw[:MOST_RAW]}" + ("…" if len(raw) > MOST_RAW else "") if raw else ""


def _columns(store: RunStore, run: RunRecord) -> tuple[str, ...]:
    """The columns that the planner found; without them the union over the failed rows, in order of appearance."""
    if run.file and run.file.get("columns"):
        return tuple(run.file["columns"])
    seen: dict[str, None] = {}
    for batch in store.failed_rows(run.id):
        for row in batch:
            seen.update(dict.fromkeys(row.data))
    seen.pop(EXTRA, None)
    return tuple(seen)
