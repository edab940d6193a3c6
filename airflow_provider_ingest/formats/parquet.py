"""Parquet, cut in place by rows; and Arrow IPC files, streamed into chunk files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import fitting_rows, open_file, plan_frames, rebatch
from airflow_provider_ingest.formats.contract import BATCH_ROWS, FilePlan
from airflow_provider_ingest.formats.limits import LIMITS, MIB, Limits
from airflow_provider_ingest.formats.parquet_sizes import check_sizes, fitting_batch
from airflow_provider_ingest.formats.rows import RowFrames
from airflow_provider_ingest.formats.values import binary_text, json_text
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
    names = [_unique(name, frames) for name in schema.names]
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
        yield RowBatch(frame=frame.select(numbers, numbers.alias(LINE_NUMBER), pl.all()), kinds=kinds)
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
                    yield text_frame(part, columns)
                if not left:
                    return


def plan_arrow(
    path: Any, *, chunk_rows: int, scratch: Any, facts: Mapping[str, Any], limits: Limits = LIMITS
) -> FilePlan:
    """Stream an Arrow IPC file or stream into chunk files."""
    frames = RowFrames(limits=limits)

    def produced() -> Iterator[pl.DataFrame]:
        row = 1
        with _record_batches(path) as (schema, batches):
            names = [_unique(name, frames) for name in schema.names]
            for name, field in zip(names, schema, strict=True):
                frames.add_kind(name, kind_of(field.type))
            for batch in batches:
                numbers = pl.Series(ROW_NUMBER, range(row, row + batch.num_rows), dtype=pl.Int64)
                yield text_frame(batch, names).select(numbers, numbers.alias(LINE_NUMBER), pl.all())
                row += batch.num_rows

    return plan_frames(produced(), frames, chunk_rows=chunk_rows, scratch=scratch, facts=facts)


@contextmanager
def _record_batches(path: Any) -> Iterator[tuple[Any, Iterator[Any]]]:
    """The schema and the batches of an Arrow file or stream."""
    import pyarrow as pa

    with _arrow_errors("Arrow"), open_file(path) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        if is_file:
            with pa.ipc.open_file(file) as batches:
                yield batches.schema, (batches.get_batch(index) for index in range(batches.num_record_batches))
        else:
            with pa.ipc.open_stream(file) as stream:
                yield stream.schema, iter(stream)


def kind_of(type_: Any) -> Kind:
    """What an Arrow type is to us."""
    from pyarrow import types

    if types.is_dictionary(type_):
        return kind_of(type_.value_type)
    for is_kind, kind in (
        (types.is_integer, Kind.INTEGER),
        (types.is_floating, Kind.NUMBER),
        (types.is_decimal, Kind.NUMBER),
        (types.is_boolean, Kind.BOOLEAN),
        (types.is_date, Kind.DATE),
        (types.is_timestamp, Kind.DATETIME),
        (types.is_nested, Kind.JSON),
    ):
        if is_kind(type_):
            return kind
    return Kind.TEXT


def text_frame(batch: Any, names: list[str]) -> pl.DataFrame:
    """An Arrow batch as text columns."""
    return pl.DataFrame([text_series(name, column) for name, column in zip(names, batch.columns, strict=True)])


def text_series(name: str, column: Any) -> pl.Series:
    """An Arrow column as text: ISO 8601 for times, ``true``/``false``, JSON for what is nested."""
    from pyarrow import compute, types

    if types.is_dictionary(column.type) and kind_of(column.type) is not Kind.TEXT:
        column = column.dictionary_decode()
    if types.is_nested(column.type):
        return pl.Series(name, _each(column, json_text), dtype=pl.String)
    is_binary = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    if any(is_kind(column.type) for is_kind in is_binary):
        return pl.Series(name, _each(column, binary_text), dtype=pl.String)
    if types.is_decimal(column.type):
        return pl.Series(name, _each(column, str), dtype=pl.String)
    if types.is_float16(column.type):
        column = compute.cast(column, "float32")
    series = pl.Series(name, column)
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.to_string("iso:strict")
    if series.dtype == pl.Duration:
        return series.dt.to_string("iso")
    return series.cast(pl.String)


def _each(column: Any, convert: Callable[[Any], str]) -> list[str | None]:
    return [None if value is None else convert(value) for value in column.to_pylist()]


def _unique(name: str, frames: RowFrames) -> str:
    """The column of a field's name; a repeated one gets a suffix."""
    unique, number = name, 1
    while unique in frames.columns:
        number += 1
        unique = f"{name}_{number}"
    return frames.column(unique)


@contextmanager
def _arrow_errors(what: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(f"The {what} file is damaged: {str(error).splitlines()[0][:200]}.") from error
