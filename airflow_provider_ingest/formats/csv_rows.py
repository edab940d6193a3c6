"""The records of a block as rows and malformed rows: PyArrow for what is clean, the grammar for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl
import pyarrow as pa

from airflow_provider_ingest.formats import csv_exact
from airflow_provider_ingest.formats.byte_masks import Positions
from airflow_provider_ingest.formats.csv_arrow import ARROW_BLOCK, BOM, is_utf8, read_arrow, text_frame
from airflow_provider_ingest.formats.csv_block import Block
from airflow_provider_ingest.formats.csv_exact import Grammar
from airflow_provider_ingest.formats.csv_index import KEPT_OF_LONG
from airflow_provider_ingest.formats.csv_ragged import EXTRA, is_plain, ragged_data
from airflow_provider_ingest.formats.csv_recover import meant_cells
from airflow_provider_ingest.formats.limits import MAX_RAW
from airflow_provider_ingest.runs.frames import LINE_NUMBER, MALFORMED, ROW_NUMBER

_MAX_DATA = 1 << 20


class BlockRows:
    """The records of one block on their way to rows.

    :param first: number of the first row.
    """

    def __init__(self, block: Block, first: int, columns: Sequence[str], rules: Grammar, pads: bool) -> None:
        self._block = block
        self._columns = columns
        self._rules = rules
        self._pads = pads
        self._numbers = np.arange(first, first + block.rows, dtype=np.int64)
        self._lines = block.line_numbers()
        self._told: dict[int, tuple[str, str]] = {}

    def suspects(self) -> set[int]:
        """Records that PyArrow must not see: broken ones, bad UTF-8, NUL, an escape, a byte order mark."""
        block = self._block
        found = set(block.broken)
        array = np.frombuffer(block.data, np.uint8)
        for mark in (b"\0", self._rules.escape):
            if mark and mark in block.data:
                found.update(self._holding(array == mark[0]))
        if block.data.isascii():
            return found
        if not is_utf8(block.data):
            found.update(record for record in self._holding(array > 0x7F) if not self._is_text(record))
        if BOM in block.data:
            found.update(i for i in range(block.rows) if block.data.startswith(BOM, int(block.starts[i])))
        return found

    def _holding(self, bytes_: npt.NDArray[np.bool_]) -> list[int]:
        """Records that hold one of the marked bytes."""
        records = np.unique(np.searchsorted(self._block.ends, np.flatnonzero(bytes_), side="right"))
        return [record for record in records.tolist() if record < self._block.rows]

    def _is_text(self, index: int) -> bool:
        try:
            self._raw(index).decode()
        except UnicodeDecodeError:
            return False
        return True

    def columnar(self, left_out: set[int]) -> tuple[pl.DataFrame, set[int]] | None:
        """All records but some, read by PyArrow, and those that are still to be padded.

        :returns: ``None`` if PyArrow refuses them or their number does not add up.
        """
        block = self._block
        keep = np.ones(block.rows, np.bool_)
        keep[list(left_out)] = False
        kept = np.flatnonzero(keep)
        if not len(kept):
            return pl.DataFrame(schema=_schema(self._columns)), set()
        if len(kept) == block.rows and block.is_dense:
            data: Any = memoryview(block.data)[int(block.starts[0]) : int(block.ends[-1])]
        else:
            data = _join(block, kept)
        ragged: list[tuple[int, int]] = []

        def refuse(row: Any) -> str:
            ragged.append((row.number - 1, row.actual_columns))
            return "skip"

        try:
            longest = int((block.ends - block.starts).max())
            table = read_arrow(data, len(self._columns), self._rules, max(ARROW_BLOCK, 2 * longest), refuse)
        except pa.ArrowInvalid:
            return None
        if table.num_rows + len(ragged) != len(kept):
            return None
        good = np.delete(kept, [place for place, _ in ragged]) if ragged else kept
        if not self._pads:
            self._refuse_ragged([int(kept[place]) for place, _ in ragged], [found for _, found in ragged])
        frame = text_frame(table.columns, self._columns)
        frame = frame.insert_column(0, pl.Series(ROW_NUMBER, self._numbers[good]))
        frame = frame.insert_column(1, pl.Series(LINE_NUMBER, self._lines[good]))
        return frame, {int(kept[place]) for place, _ in ragged} if self._pads else set()

    def one_by_one(self, records: Sequence[int]) -> pl.DataFrame:
        """Records read by the grammar; the bad ones are kept for :meth:`malformed`."""
        width, good, values = len(self._columns), [], []
        for index in records:
            raw = self._raw(index)
            reason = self._block.broken.get(index)
            cells = None if reason else self._rules.cells(raw)
            if cells is not None and self._pads and len(cells) != width:
                surplus = cells[width:]
                cells = cells if any(surplus) else cells[:width] + [b""] * (width - len(cells))
            if cells is None:
                self._refuse(index, reason or csv_exact.STRAY_QUOTE)
            elif len(cells) != width:
                self._refuse(index, self._width_reason(len(cells)))
            elif b"\0" in raw:
                self._refuse(index, csv_exact.HAS_NUL, cells)
            else:
                try:
                    values.append([cell.decode() for cell in cells])
                    good.append(index)
                except UnicodeDecodeError:
                    self._refuse(index, csv_exact.NOT_UTF8, cells)
        columns = [[row[i] for row in values] for i in range(width)]
        data = dict(zip(_schema(self._columns), (self._numbers[good], self._lines[good], *columns), strict=True))
        return pl.DataFrame(data, schema=_schema(self._columns))

    def malformed(self) -> pl.DataFrame:
        """The malformed records found so far, in file order."""
        indexes = sorted(self._told)
        raws = [self._raw(index)[: 4 * MAX_RAW].decode(errors="replace")[:MAX_RAW] for index in indexes]
        reasons = [self._told[index][0] for index in indexes]
        data = [self._told[index][1] for index in indexes]
        columns = [self._numbers[indexes], self._lines[indexes], reasons, raws, data]
        return pl.DataFrame(dict(zip(MALFORMED, columns, strict=True)), schema=MALFORMED)

    def _refuse_ragged(self, indexes: Sequence[int], widths: Sequence[int]) -> None:
        """Refuse records for their number of fields, those of which nothing else can be made out many at a time."""
        raws = [self._raw(index) for index in indexes]
        plain = is_plain(raws, len(self._columns), self._rules)
        at_once = [place for place, is_one in enumerate(plain) if is_one]
        found = ragged_data([raws[at] for at in at_once], [widths[at] for at in at_once], self._columns, self._rules)
        data = {width: iter(texts) for width, texts in found.items()}
        for index, width, is_one in zip(indexes, widths, plain, strict=True):
            if is_one and width in data:
                self._told[index] = self._width_reason(width), next(data[width])
            else:
                self._refuse(index, self._width_reason(width))

    def _refuse(self, index: int, reason: str, cells: list[bytes] | None = None) -> None:
        if cells is None:
            most = KEPT_OF_LONG if reason == csv_exact.TOO_LONG else _MAX_DATA
            cells = meant_cells(self._rules, self._raw(index)[:most], len(self._columns))
        self._told[index] = reason, orjson.dumps(self._data(cells)).decode()

    def _raw(self, index: int) -> bytes:
        """A record without its newline."""
        raw = self._block.data[int(self._block.starts[index]) : int(self._block.ends[index])]
        return raw[:-2] if raw.endswith(b"\r\n") else raw[:-1] if raw.endswith((b"\n", b"\r")) else raw

    def _width_reason(self, found: int) -> str:
        return f"expected {len(self._columns)} fields, found {found}"

    def _data(self, cells: Sequence[bytes]) -> dict[str, Any]:
        """Cells under the header's names, the surplus under ``_extra``."""
        texts = [cell.decode(errors="replace") for cell in cells]
        data: dict[str, Any] = dict(zip(self._columns, texts, strict=False))
        if len(texts) > len(self._columns):
            data[EXTRA] = texts[len(self._columns) :]
        return data


def _schema(columns: Sequence[str]) -> dict[str, Any]:
    return {ROW_NUMBER: pl.Int64, LINE_NUMBER: pl.Int64, **dict.fromkeys(columns, pl.String)}


def _join(block: Block, kept: Positions) -> bytes:
    """The bytes of some records, in runs; a last one without newline stays so."""
    breaks = np.flatnonzero(block.starts[kept[1:]] != block.ends[kept[:-1]]) + 1
    bounds = [0, *breaks.tolist(), len(kept)]
    return b"".join(block.data[int(block.starts[kept[a]]) : int(block.ends[kept[b - 1]])] for a, b in pairwise(bounds))
