"""Plan a file or a stream of rows: find out what it is, and hand it to the planner of its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import open_file, plan_frames
from airflow_provider_ingest.formats.compression import compression_of, inflate_to, open_inflated, open_zip
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.formats.detect import FORMATS, HEAD_BYTES, Format, FormatName, detect_format
from airflow_provider_ingest.formats.limits import LIMITS, Limits
from airflow_provider_ingest.formats.rows import Malformed, RowFrames
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER

ROWS_BLOCK = 10_000
"""Rows of a custom source that are held as Python objects at a time."""


def plan_any_file(
    path: Any, *, options: Mapping[str, Any], chunk_rows: int, scratch: Any, limits: Limits = LIMITS
) -> FilePlan:
    """Detect the format by content and cut the file into chunks; see :func:`formats.plan_file`."""
    found = format_of(path, options, limits)
    facts: dict[str, Any] = {"format": found.name}
    if found.compression:
        facts["compression"] = found.compression
    if found.name in ("json", "ndjson"):
        return _plan_stream(path, found, chunk_rows=chunk_rows, scratch=scratch, facts=facts, limits=limits)
    if found.compression:
        scratch.mkdir(parents=True, exist_ok=True)
        inflated = scratch / f"inflated.{found.name}"
        with open_file(path) as file:
            facts["inflated_bytes"] = inflate_to(file, found.compression, inflated, limits)
        path = inflated
    if found.name == "csv":
        from airflow_provider_ingest.formats.csv import plan_csv

        plan = plan_csv(path, options=options, chunk_rows=chunk_rows, scratch=scratch)
        facts.update({name: value for name, value in plan.facts.items() if name not in facts})
        return FilePlan(
            columns=plan.columns,
            chunks=plan.chunks,
            reader={"format": "csv", **plan.reader},
            kinds=plan.kinds,
            facts=facts,
            warnings=plan.warnings,
        )
    if found.name == "xlsx":
        from airflow_provider_ingest.formats.xlsx import plan_xlsx

        return plan_xlsx(path, options=options, chunk_rows=chunk_rows, scratch=scratch, facts=facts, limits=limits)
    from airflow_provider_ingest.formats.parquet import plan_arrow, plan_parquet

    if found.name == "parquet":
        return plan_parquet(path, chunk_rows=chunk_rows, facts=facts)
    return plan_arrow(path, chunk_rows=chunk_rows, scratch=scratch, facts=facts)


def format_of(path: Any, options: Mapping[str, Any], limits: Limits = LIMITS) -> Format:
    """What the file is; ``options["format"]`` overrules what its content looks like, not its compression."""
    wanted = options.get("format")
    if wanted is not None and wanted not in FORMATS:
        raise FormatError(f'Unknown format "{wanted}"; known are {", ".join(FORMATS)}.')
    name = getattr(path, "name", None)
    with open_file(path) as file:
        head = file.read(HEAD_BYTES)
        compression = compression_of(head)
        file.seek(0)
        if compression == "zip" and _is_container(file, limits):
            compression = None
            found = Format("xlsx")
        elif compression:
            with open_inflated(file, compression, limits) as content:
                found = _inner(content.read(HEAD_BYTES), name, options)
            if found.compression:
                raise FormatError("The compressed file holds another compressed file; one layer is read.")
        else:
            found = _inner(head, name, options)
    return Format(found.name, compression)


def _inner(head: bytes, name: str | None, options: Mapping[str, Any]) -> Format:
    """What inflated content is; who names an encoding says that it is text, however it looks."""
    wanted: FormatName | None = options.get("format") or ("csv" if options.get("encoding") else None)
    if wanted is not None and compression_of(head) not in ("gzip", "zstd"):
        return Format(wanted)
    return detect_format(head, name)


def _is_container(file: Any, limits: Limits) -> bool:
    """Whether a ZIP file is itself the document: a workbook."""
    with open_zip(file, limits) as archive:
        is_workbook = any(one.filename.startswith("xl/") for one in archive.infolist())
    file.seek(0)
    return is_workbook


def _plan_stream(
    path: Any, found: Format, *, chunk_rows: int, scratch: Any, facts: Mapping[str, Any], limits: Limits
) -> FilePlan:
    if found.name == "json":
        from airflow_provider_ingest.formats.json_array import plan_json as plan_stream
    else:
        from airflow_provider_ingest.formats.ndjson import plan_ndjson as plan_stream
    with open_file(path) as file:
        if not found.compression:
            return plan_stream(file, chunk_rows=chunk_rows, scratch=scratch, facts=facts, limits=limits)
        with open_inflated(file, found.compression, limits) as content:
            return plan_stream(content, chunk_rows=chunk_rows, scratch=scratch, facts=facts, limits=limits)


def plan_mappings(
    rows: Iterable[Mapping[str, Any] | Malformed],
    *,
    columns: Iterable[str] | None = None,
    chunk_rows: int,
    scratch: Any,
    limits: Limits = LIMITS,
) -> FilePlan:
    """Stream rows of a custom source or of a retry into chunk files; see :func:`formats.plan_rows`."""
    frames = RowFrames(columns=columns or (), limits=limits)

    def produced() -> Iterator[pl.DataFrame]:
        first = 1
        source = iter(rows)
        while block := list(islice(source, ROWS_BLOCK)):
            numbers = [_number(row, ROW_NUMBER, at) for at, row in enumerate(block, first)]
            lines = [_number(row, LINE_NUMBER, number) for row, number in zip(block, numbers, strict=True)]
            yield from frames.frames([_without_numbers(row) for row in block], numbers, lines)
            first += len(block)

    return plan_frames(produced(), frames, chunk_rows=chunk_rows, scratch=scratch, facts={"format": "rows"})


def _number(row: Any, name: str, default: int) -> int:
    fields = row.fields if isinstance(row, Malformed) else row
    value = fields.get(name) if isinstance(fields, Mapping) else None
    if value is None:
        return default
    try:
        return int(value)
    except (TypeError, ValueError):
        raise FormatError(f"The source gives a row whose {name} is no whole number; that name is reserved.") from None


def _without_numbers(row: Any) -> Any:
    if isinstance(row, Malformed):
        return replace(row, fields=_without_numbers(row.fields))
    if isinstance(row, Mapping) and (ROW_NUMBER in row or LINE_NUMBER in row):
        return {name: value for name, value in row.items() if name not in (ROW_NUMBER, LINE_NUMBER)}
    return row
