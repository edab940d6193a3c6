"""The rows of a chunk of a CSV file, in batches: PyArrow for what is clean, the grammar for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import open_file
from airflow_provider_ingest.formats.contract import BATCH_ROWS
from airflow_provider_ingest.formats.csv_dialect import Dialect
from airflow_provider_ingest.formats.csv_exact import Grammar, grammar
from airflow_provider_ingest.formats.csv_index import Block, read_blocks
from airflow_provider_ingest.formats.csv_rows import BlockRows
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RowBatch
from airflow_provider_ingest.runs.records import ChunkPlan

_LEAST_BLOCK, _MOST_BLOCK = 64 << 10, 16 << 20


def read_csv_chunk(reader: Mapping[str, Any], chunk: ChunkPlan, *, batch_rows: int = BATCH_ROWS) -> Iterator[RowBatch]:
    """The rows of one chunk, at most ``batch_rows`` at a time.

    :raises FormatError: the range does not hold the records that were planned: the file was changed.
    """
    rules = grammar(Dialect(**reader["dialect"]))
    columns = list(reader["columns"])
    pads = reader.get("on_ragged") == "pad"
    place = chunk.location
    size = place["end"] - place["start"]
    block_bytes = min(max(size * batch_rows // max(chunk.rows, 1), _LEAST_BLOCK), _MOST_BLOCK)
    first = chunk.first_row
    with open_file(place["path"]) as file:
        for block in read_blocks(file, place["start"], place["end"], place["line"], rules, len(columns), block_bytes):
            for start in range(0, block.rows, batch_rows):
                part = _part(block, start, min(start + batch_rows, block.rows))
                yield _batch(part, first + start, columns, rules, pads)
            first += block.rows
    if first - chunk.first_row != chunk.rows:
        raise FormatError(
            f"Chunk {chunk.index} of the file holds {first - chunk.first_row} records where {chunk.rows} were planned:"
            " the file was changed while it was read."
        )


def _part(block: Block, start: int, stop: int) -> Block:
    """Some records of a block."""
    if start == 0 and stop == block.rows:
        return block
    begin, end = int(block.starts[start]), int(block.ends[stop - 1])
    return Block(
        data=block.data[begin:end],
        offset=block.offset + begin,
        starts=block.starts[start:stop] - begin,
        ends=block.ends[start:stop] - begin,
        line=block.line,
        lines=(block.line_numbers() - block.line)[start:stop],
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
