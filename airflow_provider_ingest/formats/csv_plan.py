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
from airflow_provider_ingest.formats.csv_stretch import Stretches
from airflow_provider_ingest.formats.encoding import SAMPLE_BYTES, find_encoding, named_encoding, samples, transcode
from airflow_provider_ingest.formats.limits import LIMITS
from airflow_provider_ingest.runs.records import ChunkPlan

EMPTY_FILE = "The file is empty."

_TOO_WIDE = f"The file has more than {LIMITS.columns:,} columns."
_BLOCK = 256 << 10
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
        blank, blank_lines = _blank_start(file)
        sample = _sample(file)
        mark = len(_BOM) if sample.startswith(_BOM) else 0
        text = sample[mark:]
        if not text.strip():
            raise FormatError(EMPTY_FILE if not (text or blank) else "The file holds blank lines only.")
        wishes = _with_hint(text, _behind(wishes, blank_lines))
        dialect = find_dialect(_after(text, wishes.skipped), wishes)
        _check_width(text, dialect)
        rules = grammar(dialect)
        layout = find_layout(text, rules, wishes)
        if len(layout.columns) > LIMITS.columns:
            raise FormatError(_TOO_WIDE)
        layout = replace(layout, line=layout.line + blank_lines, skipped_lines=layout.skipped_lines + blank_lines)
        chunks = _cut(file, path, blank + mark + layout.start, layout, rules, chunk_rows)
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


def _blank_start(file: BinaryIO) -> tuple[int, int]:
    """Where a file goes on that starts with more blank lines than a sample holds, and how many lines those are."""
    position = lines = 0
    while block := file.read(SAMPLE_BYTES):
        text = block.lstrip()
        if text and not position:
            break  # the usual file
        head = block[: len(block) - len(text)]
        cut = head.rfind(b"\n") + 1 or head.rfind(b"\r") + 1
        lines += head.count(b"\n", 0, cut) or head.count(b"\r", 0, cut)
        position += cut
        file.seek(position)
        if text or not cut:
            break
    file.seek(position)
    return position, lines


def _behind(wishes: CsvOptions, lines: int) -> CsvOptions:
    """The options for what follows the file's first lines, which are blank."""
    header_row, skip_rows = wishes.header_row, wishes.skip_rows
    return replace(
        wishes,
        header_row=None if header_row is None or header_row <= lines else header_row - lines,
        skip_rows=None if skip_rows is None else max(skip_rows - lines, 0),
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


def _check_width(sample: bytes, dialect: Dialect) -> None:
    """Refuse lines of very many cells before each cell of them is an object."""
    delimiter, quote = dialect.delimiter.encode(), dialect.quote.encode()
    lines = sample.splitlines()[:100]
    wide = sum(line.count(delimiter) >= LIMITS.columns and not (quote and quote in line) for line in lines)
    if delimiter and wide * 2 > len(lines):
        raise FormatError(_TOO_WIDE)


def _after(sample: bytes, lines: int) -> bytes:
    return b"".join(sample.splitlines(keepends=True)[lines:]) if lines else sample


def _cut(file: Any, path: Any, start: int, layout: Layout, rules: Grammar, chunk_rows: int) -> tuple[ChunkPlan, ...]:
    """Chunks of ``chunk_rows`` records each, the last one of what is left."""
    chunks: list[ChunkPlan] = []
    done = 0
    begin, begin_line, end = start, layout.line, start
    stretches = Stretches()
    for block in read_blocks(file, start, None, layout.line, rules, len(layout.columns), _BLOCK):
        first_cut = -(-done // chunk_rows) * chunk_rows or chunk_rows
        for cut in range(first_cut, done + block.rows, chunk_rows):
            place = block.offset + int(block.starts[cut - done])
            stretches.add(cut - max(done, cut - chunk_rows), place - max(block.offset, begin), block.is_plain)
            before = cut - chunk_rows
            chunks.append(_chunk(len(chunks), before, chunk_rows, path, begin, place, begin_line, stretches.end()))
            begin, begin_line = place, int(block.line_numbers()[cut - done])
        done += block.rows
        end = block.offset + block.size
        left = done - len(chunks) * chunk_rows
        stretches.add(min(left, block.rows), end - max(block.offset, begin), block.is_plain)
    if left := done - len(chunks) * chunk_rows:
        chunks.append(_chunk(len(chunks), done - left, left, path, begin, end, begin_line, stretches.end()))
    return tuple(chunks)


def _chunk(
    index: int, before: int, rows: int, path: Any, start: int, end: int, line: int, stretches: list[list[int]]
) -> ChunkPlan:
    location = {"path": str(path), "start": start, "end": end, "line": line, "stretches": stretches}
    return ChunkPlan(index=index, first_row=before + 1, rows=rows, location=location)
