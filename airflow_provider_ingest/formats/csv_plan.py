"""Cut a CSV file into chunks: byte ranges of whole records, found in one pass with flat memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import open_file
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.formats.csv_dialect import CsvOptions, Dialect
from airflow_provider_ingest.formats.csv_exact import MAX_RECORD, Grammar, grammar
from airflow_provider_ingest.formats.csv_header import Layout, find_layout
from airflow_provider_ingest.formats.csv_index import read_blocks
from airflow_provider_ingest.formats.csv_sniff import find_dialect
from airflow_provider_ingest.formats.encoding import SAMPLE_BYTES, find_encoding, named_encoding, samples, transcode
from airflow_provider_ingest.runs.records import ChunkPlan

EMPTY_FILE = "The file is empty."

_BLOCK = 1 << 20
_LINES_IN_SAMPLE = 3
_HINT = re.compile(rb"(?i)sep=([\x09\x20-\x7e])\r?\n")
_BOM = b"\xef\xbb\xbf"


def plan_csv(path: Any, *, options: Mapping[str, Any], chunk_rows: int, scratch: Any) -> FilePlan:
    """Find encoding, dialect, header and chunk borders of a CSV file.

    UTF-8 is read where it lies; any other encoding is copied once as UTF-8 into ``scratch``.

    :raises FormatError: the file is empty or no text, or the options do not fit it.
    """
    wishes = CsvOptions.read(options)
    with open_file(path) as file:
        head, others = samples(file)
        if not head:
            raise FormatError(EMPTY_FILE)
        encoding, mark = find_encoding(head, others)
        if wishes.encoding:
            wanted = named_encoding(wishes.encoding)
            encoding, mark = (encoding, mark) if mark and wanted in (encoding, encoding[:6]) else (wanted, 0)
            encoding = _with_order(encoding, head)
    if encoding != "utf-8":
        path, mark = _transcoded(path, encoding, mark, scratch), 0
    with open_file(path) as file:
        sample = _sample(file)
        mark = len(_BOM) if sample.startswith(_BOM) else 0
        if not sample[mark:].strip():
            raise FormatError(EMPTY_FILE if len(sample) == mark else "The file holds blank lines only.")
        text = sample[mark:]
        wishes = _with_hint(text, wishes)
        dialect = find_dialect(_after(text, wishes.skip_rows or (wishes.header_row or 1) - 1), wishes)
        rules = grammar(dialect)
        layout = find_layout(text, rules, wishes)
        chunks = _cut(file, path, mark + layout.start, layout, rules, chunk_rows)
    return _plan(encoding, dialect, layout, chunks, wishes)


def _plan(
    encoding: str, dialect: Dialect, layout: Layout, chunks: tuple[ChunkPlan, ...], wishes: CsvOptions
) -> FilePlan:
    return FilePlan(
        columns=layout.columns,
        chunks=chunks,
        reader={
            "format": "csv",
            "dialect": dialect.to_dict(),
            "columns": list(layout.columns),
            "on_ragged": wishes.on_ragged,
        },
        facts={
            "format": "csv",
            "encoding": encoding,
            **dialect.to_dict(),
            "has_header": layout.has_header,
            "skipped_lines": layout.skipped_lines,
        },
        warnings=layout.warnings,
    )


def _with_hint(sample: bytes, wishes: CsvOptions) -> CsvOptions:
    """The options completed by a first line ``sep=;``, as spreadsheets write and read it."""
    hint = _HINT.match(sample)
    if hint is None or wishes.skip_rows is not None or wishes.header_row is not None:
        return wishes
    return replace(wishes, skip_rows=1, delimiter=wishes.delimiter or hint.group(1).decode())


def _with_order(encoding: str, head: bytes) -> str:
    """UTF-16 as the user named it, with the byte order that the file has."""
    if re.fullmatch(r"utf-(16|32)", encoding):
        found, _ = find_encoding(head)
        return found if found.startswith(encoding) else f"{encoding}-le"
    return encoding


def _transcoded(path: Any, encoding: str, mark: int, scratch: Any) -> Any:
    """A copy of the file in UTF-8."""
    scratch.mkdir(parents=True, exist_ok=True)
    copy = scratch / "utf8.csv"
    with open_file(path) as source, copy.open("wb") as target:
        transcode(source, target, encoding, mark)
    return copy


def _sample(file: BinaryIO) -> bytes:
    """The start of a file: some whole lines, more of it where lines are very long."""
    sample, size = b"", SAMPLE_BYTES
    while True:
        part = file.read(size - len(sample))
        sample += part
        if not part:
            return sample
        if len(sample) < size:
            continue
        lines = sample.count(b"\n") or sample.count(b"\r")
        if lines >= _LINES_IN_SAMPLE or size >= MAX_RECORD:
            newline = max(sample.rfind(b"\n"), sample.rfind(b"\r", 0, -1) if b"\n" not in sample else -1)
            return sample[: newline + 1] if newline >= 0 else sample
        size = min(4 * size, MAX_RECORD)


def _after(sample: bytes, lines: int) -> bytes:
    return b"".join(sample.splitlines(keepends=True)[lines:]) if lines else sample


def _cut(file: Any, path: Any, start: int, layout: Layout, rules: Grammar, chunk_rows: int) -> tuple[ChunkPlan, ...]:
    """Chunks of ``chunk_rows`` records each, the last one of what is left."""
    chunks: list[ChunkPlan] = []
    done = 0
    begin, begin_line, end = start, layout.line, start
    for block in read_blocks(file, start, None, layout.line, rules, len(layout.columns), _BLOCK):
        first_cut = -(-done // chunk_rows) * chunk_rows or chunk_rows
        for cut in range(first_cut, done + block.rows, chunk_rows):
            place = block.offset + int(block.starts[cut - done])
            chunks.append(_chunk(len(chunks), cut - chunk_rows, chunk_rows, path, begin, place, begin_line))
            begin, begin_line = place, int(block.line_numbers()[cut - done])
        done += block.rows
        end = block.offset + block.size
    left = done - len(chunks) * chunk_rows
    if left:
        chunks.append(_chunk(len(chunks), done - left, left, path, begin, end, begin_line))
    return tuple(chunks)


def _chunk(index: int, before: int, rows: int, path: Any, start: int, end: int, line: int) -> ChunkPlan:
    location = {"path": str(path), "start": start, "end": end, "line": line}
    return ChunkPlan(index=index, first_row=before + 1, rows=rows, location=location)
