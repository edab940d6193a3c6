"""The rows of a chunk of a CSV file, in batches: PyArrow for what is clean, the grammar for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import fitting_rows, open_file
from airflow_provider_ingest.formats.contract import BATCH_ROWS
from airflow_provider_ingest.formats.csv_block import Block, Records
from airflow_provider_ingest.formats.csv_dialect import Dialect
from airflow_provider_ingest.formats.csv_exact import Grammar, grammar
from airflow_provider_ingest.formats.csv_index import read_blocks
from airflow_provider_ingest.formats.csv_plain import no_malformed, numbered, plain_rows
from airflow_provider_ingest.formats.csv_rows import BlockRows
from airflow_provider_ingest.formats.csv_stretch import grouped
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RowBatch
from airflow_provider_ingest.runs.records import ChunkPlan

_LEAST_BLOCK, _MOST_BLOCK = 64 << 10, 16 << 20


def read_csv_chunk(reader: Mapping[str, Any], chunk: ChunkPlan, *, batch_rows: int = BATCH_ROWS) -> Iterator[RowBatch]:
    """The rows of one chunk, at most ``batch_rows`` at a time, fewer if the file is very wide.

    :raises FormatError: the range does not hold the records that were planned: the file was changed.
    """
    place = chunk.location
    batch_rows = fitting_rows(batch_rows, len(reader["columns"]))
    work = _ChunkRead(reader, chunk, batch_rows)
    with open_file(place["path"]) as file:
        for rows, size, is_plain in grouped(place["stretches"], batch_rows, _MOST_BLOCK):
            yield from work.stretch(file, rows, size, is_plain=is_plain)
    if work.first - chunk.first_row != chunk.rows:
        raise FormatError(
            f"Chunk {chunk.index} of the file holds {work.first - chunk.first_row} records where {chunk.rows} were"
            " planned: the file was changed while it was read."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """Where plain records stand in the file, and the number and physical line of the first one."""

    rows: int
    size: int
    offset: int
    first: int
    line: int


class _ChunkRead:
    """Where the reading of a chunk stands: the next record's number, byte and physical line."""

    def __init__(self, reader: Mapping[str, Any], chunk: ChunkPlan, batch_rows: int) -> None:
        self.path = chunk.location["path"]
        self.rules = grammar(Dialect(**reader["dialect"]))
        self.columns = list(reader["columns"])
        self.pads = reader.get("on_ragged") == "pad"
        self.batch_rows = batch_rows
        size = chunk.location["end"] - chunk.location["start"]
        self.block_bytes = min(max(size * batch_rows // max(chunk.rows, 1), _LEAST_BLOCK), _MOST_BLOCK)
        self.first = chunk.first_row
        self.offset, self.line = chunk.location["start"], chunk.location["line"]

    def stretch(self, file: Any, rows: int, size: int, *, is_plain: bool) -> Iterator[RowBatch]:
        """The rows of the next ``size`` bytes: at once where they are as plain as planned, else with care."""
        if is_plain and self.rules.dialect.is_simple:
            place = _Plain(rows=rows, size=size, offset=self.offset, first=self.first, line=self.line)
            frame = self._plain(file, place)
            if frame is not None:
                self.first, self.offset, self.line = self.first + rows, self.offset + size, self.line + rows
                for start in range(0, rows, self.batch_rows):
                    yield self._plain_batch(frame, place, start)
                return
        width, end = len(self.columns), self.offset + size
        for block in read_blocks(file, self.offset, end, self.line, self.rules, width, self.block_bytes):
            for start in range(0, block.rows, self.batch_rows):
                part = _part(block, start, min(start + self.batch_rows, block.rows))
                yield _batch(part, self.first + start, self.columns, self.rules, self.pads)
            self.first, self.line = self.first + block.rows, block.line + block.height
        self.offset = end

    def _plain(self, file: Any, place: _Plain) -> pl.DataFrame | None:
        file.seek(place.offset)
        frame = plain_rows(file.read(place.size), place.rows, self.columns, self.rules)
        return None if frame is None else numbered(frame, place.first, place.line)

    def _plain_batch(self, frame: pl.DataFrame, place: _Plain, start: int) -> RowBatch:
        return RowBatch(
            frame=frame.slice(start, self.batch_rows),
            malformed=no_malformed(),
            may_hold_nul=False,
            again=partial(self._again, place, start),
        )

    def _again(self, place: _Plain, start: int) -> RowBatch:
        with open_file(self.path) as file:
            frame = self._plain(file, place)
        if frame is None:
            raise FormatError(f"The rows from {place.first} on cannot be read again: the file was changed.")
        return self._plain_batch(frame, place, start)


def _part(block: Block, start: int, stop: int) -> Block:
    """Some records of a block."""
    if start == 0 and stop == block.rows:
        return block
    begin, end = int(block.starts[start]), int(block.ends[stop - 1])
    some = slice(start, stop)
    lines = (block.line_numbers() - block.line)[some]
    return Block.of(
        Records(block.starts[some] - begin, block.ends[some] - begin, lines),
        block.data[begin:end],
        block.offset + begin,
        line=block.line,
        height=0,
        size=end - begin,
        broken={index - start: reason for index, reason in block.broken.items() if start <= index < stop},
    )


def _batch(block: Block, first: int, columns: Sequence[str], rules: Grammar, pads: bool) -> RowBatch:
    """A block's records as rows and malformed rows; none is lost."""
    rows = BlockRows(block, first, columns, rules, pads)
    single = rows.suspects()
    found = rows.columnar(single) if rules.dialect.is_simple else None
    if found is None:
        frame = rows.one_by_one(range(block.rows))
    else:
        frame, again = found
        others = rows.one_by_one(sorted(single | again))
        if others.height:
            frame = pl.concat([frame, others]).sort(ROW_NUMBER)
    malformed = rows.malformed()
    if frame.height + malformed.height != block.rows:
        raise AssertionError(f"{block.rows} records gave {frame.height} rows and {malformed.height} malformed ones")
    return RowBatch(frame=frame, malformed=malformed)
