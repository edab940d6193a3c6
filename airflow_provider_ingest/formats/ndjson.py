"""NDJSON: one JSON object a line, parsed line by line and streamed into chunk files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from airflow_provider_ingest.formats.arrow import plan_frames
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.formats.json_array import (
    BLANKS,
    BLOCK,
    BOM,
    DECODE_ERRORS,
    check_record,
    decode,
    explain,
    representable,
)
from airflow_provider_ingest.formats.limits import LIMITS, Limits
from airflow_provider_ingest.formats.rows import Malformed, RowFrames, collection_paused


def plan_ndjson(
    stream: Any, *, chunk_rows: int, scratch: Any, facts: Mapping[str, Any], limits: Limits = LIMITS
) -> FilePlan:
    """Stream NDJSON into chunk files.

    The line number is the physical line; blank lines are no rows. A line that is not one JSON object is a
    malformed row.

    :param stream: binary, only read from start to end.
    """
    frames = RowFrames(limits=limits)

    def produced() -> Iterator[pl.DataFrame]:
        row = line = 1
        for texts in line_blocks(stream, limits):
            records, lines = parse_lines(texts, line)
            line += len(texts)
            if records:
                yield from frames.frames(records, range(row, row + len(records)), lines)
                row += len(records)

    with collection_paused():
        return plan_frames(produced(), frames, chunk_rows=chunk_rows, scratch=scratch, facts=facts)


def line_blocks(stream: Any, limits: Limits) -> Iterator[list[bytes]]:
    """The file's lines without their ends, in blocks of about 1 MiB; a line above the cap is refused."""
    held = b""
    number = 0
    head = True
    while data := stream.read(BLOCK):
        if head:
            data, head = data.removeprefix(BOM), False
        cut = data.rfind(b"\n")
        if cut < 0:
            held += data
        else:
            lines = (held + data[:cut]).split(b"\n")
            held = data[cut + 1 :]
            number += len(lines)
            yield lines
        if len(held) > BLOCK:
            check_record(held, f"Line {number + 1:,}", limits)
    if held:
        yield [held]


def parse_lines(texts: list[bytes], first: int) -> tuple[list[Any], list[int] | range]:
    """The records of the lines that are not blank, and their line numbers."""
    try:
        return [decode(text) for text in texts], range(first, first + len(texts))
    except DECODE_ERRORS:
        pass  # a blank or a broken line among them
    records: list[Any] = []
    lines: list[int] = []
    for number, text in enumerate(texts, first):
        if not text.strip(BLANKS):
            continue
        lines.append(number)
        try:
            records.append(decode(text))
        except DECODE_ERRORS as error:
            reason = representable(text) or f"is not JSON: {explain(error, text)}"
            records.append(Malformed(reason, text.decode(errors="replace").strip()))
    return records, lines
