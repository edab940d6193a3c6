"""The row hooks of event handlers: rows are set aside while the chunk works and handed over after its commit."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

import orjson
import polars as pl

from airflow_provider_ingest.engine.row_log import first_failures, row_data
from airflow_provider_ingest.runs.events import EventHandler, IngestRun, overrides
from airflow_provider_ingest.runs.failure import RowFailure, Stage
from airflow_provider_ingest.runs.frames import ROW_NUMBER, SET_PREFIX, RecordBatch, RowBatch

log = logging.getLogger(__name__)

DATA = "_data"
PROCESSED, FAILED = "processed", "failed"


class RowHandlers:
    """Calls ``on_row_processed`` and ``on_error`` after the rows are committed.

    What the hooks will be told waits in files of a temporary directory, so that memory stays flat; without a handler
    that implements one of the hooks nothing is set aside. A hook that raises is logged once by the name of what it
    raised, goes on with the next row, and is counted in a warning.
    """

    def __init__(self, handlers: Sequence[EventHandler], run: IngestRun) -> None:
        self._run = run
        self._on_row = [handler for handler in handlers if overrides(handler, "on_row_processed")]
        self._on_error = [handler for handler in handlers if overrides(handler, "on_error")]
        self._folder = TemporaryDirectory(prefix="ingest-rows-") if self._on_row or self._on_error else None
        self._files: list[tuple[str, Path]] = []
        self._raised: Counter[str] = Counter()

    @property
    def want_processed(self) -> bool:
        """Whether a handler wants to see each row that was processed."""
        return bool(self._on_row)

    def set_aside(self, batch: RowBatch, records: RecordBatch, failures: pl.DataFrame) -> None:
        """Keep what the hooks will be told of a batch."""
        if self._on_error and not failures.is_empty():
            first = first_failures(failures)
            self._keep(FAILED, first.join(self._data(batch, first[ROW_NUMBER]), on=ROW_NUMBER, maintain_order="left"))
        if self._on_row:
            refused = failures[ROW_NUMBER].unique().implode()
            written = records.records.filter(~pl.col(ROW_NUMBER).is_in(refused))
            if not written.is_empty():
                data = self._data(batch, written[ROW_NUMBER])
                self._keep(PROCESSED, written.join(data, on=ROW_NUMBER, maintain_order="left"))

    def deliver(self) -> list[str]:
        """Call the hooks for all rows set aside, in file order; returns the warnings."""
        for kind, path in self._files:
            for row in _rows(path):
                if kind == FAILED:
                    self._tell_error(row)
                else:
                    self._tell_row(row)
        return [
            f"{name} ({count:,} time{'s' if count > 1 else ''}; see the task's log)."
            for name, count in sorted(self._raised.items())
        ]

    def __enter__(self) -> RowHandlers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def _data(self, batch: RowBatch, numbers: pl.Series) -> pl.DataFrame:
        return row_data(batch, numbers=numbers).select(ROW_NUMBER, pl.col("data").alias(DATA))

    def _keep(self, kind: str, frame: pl.DataFrame) -> None:
        assert self._folder is not None
        path = Path(self._folder.name) / f"{len(self._files):06}.arrow"
        frame.write_ipc(path)
        self._files.append((kind, path))

    def _tell_error(self, row: dict[str, Any]) -> None:
        failure = RowFailure(
            row_number=row[ROW_NUMBER],
            stage=Stage(row["stage"]),
            code=row["code"],
            field=row["field"],
            message=row["message"],
            detail=row["detail"],
        )
        data = _source_row(row)
        for handler in self._on_error:
            self._call(handler, "on_error", handler.on_error, data, failure)

    def _tell_row(self, row: dict[str, Any]) -> None:
        record = {
            name: value
            for name, value in row.items()
            if name not in (ROW_NUMBER, DATA)
            and not name.startswith(SET_PREFIX)
            and row.get(SET_PREFIX + name) is not False
        }
        data = _source_row(row)
        for handler in self._on_row:
            self._call(handler, "on_row_processed", handler.on_row_processed, data, record)

    def _call(self, handler: EventHandler, hook: str, function: Callable[..., None], *told: Any) -> None:
        try:
            function(self._run, *told)
        except Exception as error:  # noqa: BLE001  # a user's code; the rows are committed, so nothing else may fail
            name = f"{hook} of {type(handler).__name__} raised {type(error).__name__}"
            if name not in self._raised:
                log.warning("%s at row %s", name, told[0]["row_number"])
            self._raised[name] += 1


def _source_row(row: dict[str, Any]) -> dict[str, Any]:
    return {**orjson.loads(row[DATA] or "{}"), "row_number": row[ROW_NUMBER]}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    yield from pl.read_ipc(path).iter_rows(named=True)
