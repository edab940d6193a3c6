"""Chunk files: rows that cannot be cut in place, streamed once into Arrow IPC files and read back in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl
import polars.selectors as cs

from airflow_provider_ingest.formats.contract import BATCH_ROWS, FilePlan
from airflow_provider_ingest.formats.rows import RAW, REASON, RowFrames
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, Kind, RowBatch
from airflow_provider_ingest.runs.records import ChunkPlan

SEGMENT_ROWS = 50_000
"""Rows of one Arrow stream inside a chunk file, at most."""

BATCH_CELLS = 2_000_000
"""Cells of a batch, at most: a file of thousands of columns is read in smaller batches."""

BATCH_BYTES = 40 << 20
"""Bytes of a batch, at most, where it is more than one row."""


class ChunkWriter:
    """Cuts a stream of records frames into chunk files of exactly ``chunk_rows`` records.

    A chunk file is a sequence of Arrow streams, each with a schema of its own: columns that turn up late
    cost earlier streams nothing. Flat memory: every frame is written at once.
    """

    def __init__(self, scratch: Any, chunk_rows: int) -> None:
        """:param scratch: directory, local or in object storage; made if it is not there."""
        self._scratch = scratch
        self._chunk_rows = chunk_rows
        self._chunks: list[ChunkPlan] = []
        self._file: Any = None
        self._path: Any = None
        self._first = 0
        self._rows = 0

    def __enter__(self) -> ChunkWriter:
        """Make the directory."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the open file."""
        self._close()

    def add(self, frame: pl.DataFrame) -> None:
        """Write records, opening the next chunk where one is full."""
        offset = 0
        while offset < frame.height:
            if self._file is None:
                self._path = self._scratch / f"chunk-{len(self._chunks):05}.arrow"
                self._file = self._path.open("wb")
                self._first, self._rows = int(frame[ROW_NUMBER][offset]), 0
            taken = min(frame.height - offset, self._chunk_rows - self._rows, SEGMENT_ROWS)
            for part in within(frame.slice(offset, taken), BATCH_BYTES):
                self._write(part)
            self._rows += taken
            offset += taken
            if self._rows == self._chunk_rows:
                self._close()

    def finish(self) -> tuple[ChunkPlan, ...]:
        """The chunks, after the last frame."""
        self._close()
        return tuple(self._chunks)

    def _write(self, frame: pl.DataFrame) -> None:
        import pyarrow as pa

        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        with pa.ipc.new_stream(self._file, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
            stream.write_table(table)

    def _close(self) -> None:
        if self._file is None:
            return
        self._file.close()
        self._file = None
        location = {"path": str(self._path)}
        self._chunks.append(
            ChunkPlan(index=len(self._chunks), first_row=self._first, rows=self._rows, location=location)
        )


def plan_frames(
    produced: Iterable[pl.DataFrame], frames: RowFrames, *, chunk_rows: int, scratch: Any, facts: Mapping[str, Any]
) -> FilePlan:
    """Write all frames that a format produces and say what they hold."""
    with ChunkWriter(scratch, chunk_rows) as writer:
        for frame in produced:
            writer.add(frame)
        chunks = writer.finish()
    kinds = frames.kinds
    reader = {
        "format": "chunks",
        "columns": list(frames.columns),
        "kinds": {name: str(kind) for name, kind in kinds.items()},
        "padded": list(frames.padded),
    }
    return FilePlan(
        columns=frames.columns,
        chunks=chunks,
        reader=reader,
        kinds=kinds,
        facts=dict(facts),
        warnings=tuple(frames.warnings),
    )


def read_chunk_file(reader: Mapping[str, Any], chunk: ChunkPlan, *, batch_rows: int = BATCH_ROWS) -> Iterator[RowBatch]:
    """The rows of a chunk file in batches of ``batch_rows`` records, fewer if the file is very wide."""
    columns: list[str] = list(reader["columns"])
    kinds = {name: Kind(kind) for name, kind in reader["kinds"].items()}
    batch_rows = fitting_rows(batch_rows, len(columns))
    frames = (_whole(frame, columns) for frame in _segments(chunk.location["path"]))
    for frame in rebatch(frames, batch_rows):
        yield split(pad_dates(frame, reader["padded"]), columns, kinds)


def fitting_rows(batch_rows: int, columns: int) -> int:
    """Rows of a batch that stays in bounds whatever its width."""
    return max(min(batch_rows, BATCH_CELLS // max(columns, 1)), 1)


def within(frame: pl.DataFrame, most: int) -> Iterator[pl.DataFrame]:
    """The same rows in frames of at most so many bytes, or of one row; a text counts as often as rows show it."""
    if frame.height <= 1 or frame.estimated_size() <= most:
        yield frame
        return
    half = frame.height // 2
    yield from within(frame.slice(0, half), most)
    yield from within(frame.slice(half), most)


def rebatch(frames: Iterable[pl.DataFrame], batch_rows: int) -> Iterator[pl.DataFrame]:
    """The same rows in frames of exactly ``batch_rows``, the last one excepted, and fewer where texts are long."""
    held: list[pl.DataFrame] = []
    rows = size = 0
    for part in (part for frame in frames for part in within(frame, BATCH_BYTES)):
        offset = 0
        while offset < part.height:
            piece = part.slice(offset, batch_rows - rows)
            weight = int(piece.estimated_size())
            if held and size + weight > BATCH_BYTES:
                yield pl.concat(held)
                held, rows, size = [], 0, 0
                continue
            held.append(piece)
            rows, size, offset = rows + piece.height, size + weight, offset + piece.height
            if rows == batch_rows:
                yield pl.concat(held)
                held, rows, size = [], 0, 0
    if held:
        yield pl.concat(held)


def pad_dates(frame: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Add midnight to what is only a date."""
    for name in columns:
        column = cs.by_name(name)  # pl.col would take a name like "^a$" for a pattern
        frame = frame.with_columns(
            pl.when(column.str.len_bytes() == 10).then(column + pl.lit("T00:00:00")).otherwise(column).name.keep()
        )
    return frame


def open_file(path: Any) -> Any:
    """A binary file from a path object or, as it comes back out of JSON, the text of a local path."""
    return (Path(path.removeprefix("file://")) if isinstance(path, str) else path).open("rb")


def _segments(path: Any) -> Iterator[pl.DataFrame]:
    import pyarrow as pa

    with open_file(path) as file:
        end = file.seek(0, 2)
        file.seek(0)
        while file.tell() < end:
            with pa.ipc.open_stream(file) as stream:
                frame = pl.from_arrow(stream.read_all())
            assert isinstance(frame, pl.DataFrame)
            yield frame


def with_reasons(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the columns that say why a record is no row, empty if it has none."""
    if REASON in frame.columns:
        return frame
    nothing = pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    return frame.with_columns(nothing.alias(REASON), nothing.alias(RAW))


def _whole(frame: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """The frame with all columns of the file, in their order; what this stretch did not have is null."""
    present = set(frame.columns)
    nothing = pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    names = (ROW_NUMBER, LINE_NUMBER, *columns, REASON, RAW)
    return pl.DataFrame([frame[name] if name in present else nothing.alias(name) for name in names])


def split(frame: pl.DataFrame, columns: list[str], kinds: Mapping[str, Kind]) -> RowBatch:
    """Good rows and malformed records apart."""
    if frame[REASON].null_count() == frame.height:
        return RowBatch(frame=frame.drop(REASON, RAW), kinds=kinds)
    broken = frame.filter(pl.col(REASON).is_not_null())
    fields = broken.drop(ROW_NUMBER, LINE_NUMBER, REASON, RAW)
    data = pl.repeat(None, broken.height, dtype=pl.String, eager=True)
    if columns:
        encoded = fields.to_struct("data").struct.json_encode()
        data = encoded.zip_with(fields.select(pl.any_horizontal(pl.all().is_not_null())).to_series(), data)
    malformed = pl.DataFrame(
        [
            broken[ROW_NUMBER],
            broken[LINE_NUMBER],
            broken[REASON].alias("reason"),
            broken[RAW].alias("raw"),
            data.alias("data"),
        ]
    )
    good = frame.filter(pl.col(REASON).is_null()).drop(REASON, RAW)
    return RowBatch(frame=good, malformed=malformed, kinds=kinds)
