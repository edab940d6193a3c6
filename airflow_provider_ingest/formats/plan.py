"""Plan a file or a stream of rows: find out what it is, and hand it to the planner of its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import open_file, plan_frames
from airflow_provider_ingest.formats.compression import compression_of, inflate_to, open_inflated, open_zip
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.formats.detect import BLANKS, FORMATS, HEAD_BYTES, Format, FormatName, detect_format
from airflow_provider_ingest.formats.encoding import Utf8Stream, named_encoding, wide_encoding
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
        return _plan_stream(
            path, found, options=options, chunk_rows=chunk_rows, scratch=scratch, facts=facts, limits=limits
        )
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
        return plan_parquet(path, chunk_rows=chunk_rows, facts=facts, limits=limits)
    return plan_arrow(path, chunk_rows=chunk_rows, scratch=scratch, facts=facts, limits=limits)


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
                found = _inner(_head(content), name, options)
            if found.compression:
                raise FormatError("The compressed file holds another compressed file; one layer is read.")
        else:
            found = _inner(_head(file), name, options)
    return Format(found.name, compression)


def _head(stream: Any) -> bytes:
    """The first bytes of a file; of one that starts with very many blanks, those where they end."""
    head: bytes = stream.read(HEAD_BYTES)
    while head and not head.strip(BLANKS) and (following := stream.read(HEAD_BYTES)):
        head = following
    return head


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
    path: Any,
    found: Format,
    *,
    options: Mapping[str, Any],
    chunk_rows: int,
    scratch: Any,
    facts: Mapping[str, Any],
    limits: Limits,
) -> FilePlan:
    if found.name == "json":
        from airflow_provider_ingest.formats.json_array import plan_json as plan_stream
    else:
        from airflow_provider_ingest.formats.ndjson import plan_ndjson as plan_stream
    with ExitStack() as stack:
        stream = stack.enter_context(open_file(path))
        if found.compression:
            stream = stack.enter_context(open_inflated(stream, found.compression, limits))
        stream, encoding = _as_utf8(stream, options)
        if encoding:
            facts = {**facts, "encoding": encoding}
        return plan_stream(stream, chunk_rows=chunk_rows, scratch=scratch, facts=facts, limits=limits)


def _as_utf8(stream: Any, options: Mapping[str, Any]) -> tuple[Any, str | None]:
    """The stream as UTF-8, and what it was if it was something else."""
    head: bytes = stream.read(HEAD_BYTES)
    wide = wide_encoding(head)
    given = options.get("encoding")
    encoding = wide[0] if wide else named_encoding(given) if given else "utf-8"
    if encoding == "utf-8":
        return _Rewound(stream, head), None
    return Utf8Stream(stream, head[wide[1] if wide else 0 :], encoding), encoding


class _Rewound:
    """A stream of which the head was read already."""

    def __init__(self, stream: Any, head: bytes) -> None:
        self._stream = stream
        self._head = head

    def read(self, size: int) -> bytes:
        head, self._head = self._head, b""
        data: bytes = head or self._stream.read(size)
        return data


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
