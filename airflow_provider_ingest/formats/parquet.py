"""Parquet, cut in place by rows; and Arrow IPC files, streamed into chunk files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import fitting_rows, open_file, plan_frames, rebatch, split, with_reasons
from airflow_provider_ingest.formats.arrow_sizes import check_arrow_sizes
from airflow_provider_ingest.formats.arrow_text import check_type, kind_of, text_frame
from airflow_provider_ingest.formats.contract import BATCH_ROWS, FilePlan
from airflow_provider_ingest.formats.limits import LIMITS, MIB, Limits
from airflow_provider_ingest.formats.parquet_sizes import check_sizes, fitting_batch, fitting_parts
from airflow_provider_ingest.formats.rows import RowFrames
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, Kind, RowBatch
from airflow_provider_ingest.runs.records import ChunkPlan

MOST_CHUNKS = 100_000
"""Chunks of a plan: a footer may state any number of rows."""


def plan_parquet(path: Any, *, chunk_rows: int, facts: Mapping[str, Any], limits: Limits = LIMITS) -> FilePlan:
    """Cut a Parquet file into stretches of rows: only its footer is read."""
    import pyarrow.parquet as pq

    with _arrow_errors("Parquet"), open_file(path) as file, pq.ParquetFile(file) as parquet:
        schema = parquet.schema_arrow
        rows = parquet.metadata.num_rows
        groups = parquet.metadata.num_row_groups
        check_sizes(file, parquet.metadata, limits)
    chunk_rows = max(chunk_rows, -(-rows // MOST_CHUNKS))
    frames = RowFrames(limits=limits)
    names = _columns(schema, frames)
    kinds = {name: kind_of(field.type) for name, field in zip(names, schema, strict=True)}
    kinds = {name: kind for name, kind in kinds.items() if kind is not Kind.TEXT}
    chunks = tuple(
        ChunkPlan(
            index=index,
            first_row=first + 1,
            rows=min(chunk_rows, rows - first),
            location={"path": str(path), "first": first},
        )
        for index, first in enumerate(range(0, rows, chunk_rows))
    )
    reader = {"format": "parquet", "columns": names, "kinds": {name: str(kind) for name, kind in kinds.items()}}
    return FilePlan(
        columns=tuple(names),
        chunks=chunks,
        reader=reader,
        kinds=kinds,
        facts={**facts, "row_groups": groups},
        warnings=tuple(frames.warnings),
    )


def read_parquet_chunk(
    reader: Mapping[str, Any], chunk: ChunkPlan, *, batch_rows: int = BATCH_ROWS
) -> Iterator[RowBatch]:
    """The rows of a stretch; only the row groups that it touches are read."""
    kinds = {name: Kind(kind) for name, kind in reader["kinds"].items()}
    row = chunk.first_row
    batch_rows = fitting_rows(batch_rows, len(reader["columns"]))
    for frame in rebatch(_stretch(chunk, reader["columns"], batch_rows), batch_rows):
        numbers = pl.Series(ROW_NUMBER, range(row, row + frame.height), dtype=pl.Int64)
        yield split(frame.select(numbers, numbers.alias(LINE_NUMBER), pl.all()), reader["columns"], kinds)
        row += frame.height


def _stretch(chunk: ChunkPlan, columns: list[str], batch_rows: int) -> Iterator[pl.DataFrame]:
    import pyarrow.parquet as pq

    with (
        _arrow_errors("Parquet"),
        open_file(chunk.location["path"]) as file,
        pq.ParquetFile(file, pre_buffer=False, buffer_size=MIB) as parquet,
    ):
        skip, left = chunk.location["first"], chunk.rows
        for group in range(parquet.metadata.num_row_groups):
            height = parquet.metadata.row_group(group).num_rows
            if skip >= height:
                skip -= height
                continue
            for batch in parquet.iter_batches(fitting_batch(file, parquet, group, batch_rows), row_groups=[group]):
                part = batch.slice(skip, left)
                skip = max(skip - batch.num_rows, 0)
                left -= part.num_rows
                if part.num_rows:
                    yield with_reasons(text_frame(part, columns))
                if not left:
                    return


def plan_arrow(
    path: Any, *, chunk_rows: int, scratch: Any, facts: Mapping[str, Any], limits: Limits = LIMITS
) -> FilePlan:
    """Stream an Arrow IPC file or stream into chunk files."""
    frames = RowFrames(limits=limits)

    def produced() -> Iterator[pl.DataFrame]:
        row = 1
        with _record_batches(path, limits) as (schema, batches):
            names = _columns(schema, frames)
            for name, field in zip(names, schema, strict=True):
                frames.add_kind(name, kind_of(field.type))
            for batch in (part for whole in batches for part in fitting_parts(whole)):
                numbers = pl.Series(ROW_NUMBER, range(row, row + batch.num_rows), dtype=pl.Int64)
                yield text_frame(batch, names).select(numbers, numbers.alias(LINE_NUMBER), pl.all())
                row += batch.num_rows

    return plan_frames(produced(), frames, chunk_rows=chunk_rows, scratch=scratch, facts=facts)


@contextmanager
def _record_batches(path: Any, limits: Limits) -> Iterator[tuple[Any, Iterator[Any]]]:
    """The schema and the batches of an Arrow file or stream."""
    import pyarrow as pa

    with _arrow_errors("Arrow"), open_file(path) as file:
        check_arrow_sizes(file, limits)
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        if is_file:
            with pa.ipc.open_file(file) as batches:
                yield batches.schema, (batches.get_batch(index) for index in range(batches.num_record_batches))
        else:
            with pa.ipc.open_stream(file) as stream:
                yield stream.schema, iter(stream)


def _columns(schema: Any, frames: RowFrames) -> list[str]:
    """The columns of a schema, each of a type that can be read."""
    for field in schema:
        check_type(field.name, field.type)
    return [frames.add_column(name) for name in schema.names]


@contextmanager
def _arrow_errors(what: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise FormatError(f"The {what} file is damaged: {str(error).splitlines()[0][:200]}.") from error
