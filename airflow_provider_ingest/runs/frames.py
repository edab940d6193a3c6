"""The frames that travel between reader, engine, target and row log, and the names of their columns.

Layers that never meet agree here. Reserved columns start with an underscore; a file that has a
column of such a name gets it suffixed by the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import polars as pl

from airflow_provider_ingest.runs.columns import LINE_NUMBER as LINE_NUMBER
from airflow_provider_ingest.runs.columns import ROW_NUMBER as ROW_NUMBER
from airflow_provider_ingest.runs.columns import SET_PREFIX as SET_PREFIX

FAILURES: dict[str, Any] = {
    ROW_NUMBER: pl.Int64,
    "stage": pl.String,
    "code": pl.String,
    "field": pl.String,
    "message": pl.String,
    "detail": pl.String,
}
"""Schema of a failures frame: one line per reason, several lines per row allowed, in order of detection."""

MALFORMED: dict[str, Any] = {
    ROW_NUMBER: pl.Int64,
    LINE_NUMBER: pl.Int64,
    "reason": pl.String,
    "raw": pl.String,
    "data": pl.String,
}
"""Schema of a malformed frame: records that are no rows. ``reason`` is the message (``expected 12
fields, found 13``), ``raw`` the record's text (invalid bytes replaced), ``data`` a JSON object of the fields that
could be made out, by the header's names, what is over under ``_extra``."""

ROW_LOG: dict[str, Any] = {
    ROW_NUMBER: pl.Int64,
    LINE_NUMBER: pl.Int64,
    "status": pl.String,
    "message": pl.String,
    "data": pl.String,
    "errors": pl.String,
    "trace": pl.String,
}
"""Schema of a row-log frame; ``data``, ``errors`` and ``trace`` are JSON texts (or null). ``data`` is an object of the
row's fields, or an array of their values where the names are given beside the frame: they are the same for all rows,
and took half of what the log writes. ``message`` is the general message that the error summary groups by, null for
rows that did not fail."""


class Kind(StrEnum):
    """What a file's format says of a source column, the same for the whole file.

    Values travel as text in every case; the kind says what the text was in the file. A column that
    mixes kinds is ``TEXT``. ``JSON`` columns hold arrays and objects as JSON text.
    """

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatch:
    """A stretch of the source: good rows as columns, records that are no rows beside them.

    :param frame: :data:`ROW_NUMBER`, :data:`LINE_NUMBER`, then the source's columns, all String; null is
        null in the file (a CSV has none), an empty CSV cell is ``""``.
    :param malformed: schema :data:`MALFORMED`.
    :param kinds: for the columns that are not text, what they are.
    :param may_hold_nul: false where the reader has seen that no text holds the character NUL.
    :param again: reads the same rows once more, where a reader can: who may yet be asked for some of them need not keep
        them all.
    """

    frame: pl.DataFrame
    malformed: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=MALFORMED))
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    may_hold_nul: bool = True
    again: Callable[[], RowBatch] | None = None

    @property
    def columns(self) -> list[str]:
        """The source's columns, without row and line number."""
        return [name for name in self.frame.columns if name not in (ROW_NUMBER, LINE_NUMBER)]

    @property
    def rows(self) -> int:
        """Number of records, good and malformed."""
        return self.frame.height + self.malformed.height


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildBatch:
    """Rows of a nested collection that belong to the rows of a :class:`RecordBatch`.

    :param name: dotted path of the collection in the source (``variants``, ``variants.prices``).
    :param records: :data:`ROW_NUMBER` of the root row, ``_parent`` (Int64: position of the parent among the
        parent level's records), then the attributes, typed, and the ``SET_PREFIX`` columns of conditional ones.
    :param children: collections nested in these rows.
    """

    name: str
    records: pl.DataFrame
    children: tuple[ChildBatch, ...] = ()

    @property
    def conditional(self) -> tuple[str, ...]:
        """The attributes that are set in some rows only."""
        return tuple(name.removeprefix(SET_PREFIX) for name in self.records.columns if name.startswith(SET_PREFIX))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBatch:
    """Rows that passed everything and are to be written, in file order.

    :param records: :data:`ROW_NUMBER`, then the attributes in the types of the target's columns, then for each
        attribute in ``conditional`` a Boolean column ``SET_PREFIX + attribute``: where it is false the column
        keeps its default (insert) or its value (update).
    :param ahead: what the target that is to write the batch has made of it; nobody else looks into it.
    """

    records: pl.DataFrame
    conditional: tuple[str, ...] = ()
    children: tuple[ChildBatch, ...] = ()
    ahead: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What the target did with a batch.

    :param refused: schema :data:`FAILURES`, stage ``database``; one line per refused row.
    :param ends: :data:`ROW_NUMBER` and ``end`` (``created``, ``updated``, ``skipped``) of each other row; ``None``
        unless it was asked for, since only row logs of all rows and row handlers need it.
    """

    created: int
    updated: int
    skipped: int
    refused: pl.DataFrame
    ends: pl.DataFrame | None = None
