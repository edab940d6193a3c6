"""Where the records of a CSV file are: a stream of blocks of whole records, with flat memory.

A block whose quotes are regular is cut by a vectorised scan; any other by the grammar of :mod:`.csv_exact`, record
by record. What a record is depends only on the bytes from its start on, so the planner, who sees the whole file,
and the reader of a chunk, who starts in the middle and in other blocks, find the same records.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import csv_exact
from airflow_provider_ingest.formats.byte_masks import (
    Mask,
    Positions,
    after,
    are_marked_at,
    before,
    bit,
    count,
    end_of,
    mask_of,
    odd_from,
    places,
)
from airflow_provider_ingest.formats.csv_block import Block, Records
from airflow_provider_ingest.formats.csv_exact import MAX_LINE, MAX_RECORD, NEWLINE, Grammar
from airflow_provider_ingest.formats.csv_recover import LOOKAHEAD_BYTES, broken_end

_LF, _CR = 10, 13
KEPT_OF_LONG = 64 << 10
"""Bytes that are kept of a record that is too long."""
_SKIP_BYTES = 1 << 20


def read_blocks(
    file: Any, start: int, end: int | None, line: int, rules: Grammar, width: int, block_bytes: int
) -> Iterator[Block]:
    """Cut a range of a file into blocks of whole records.

    Empty lines are left out, unless the table has one column: there an empty line is an empty cell.

    :param file: open and seekable.
    :param start: where a record starts.
    :param end: after the last record; ``None`` is the end of the file.
    :param line: physical line at ``start``.
    :raises FormatError: a line does not end within :data:`~.csv_exact.MAX_LINE` bytes.
    """
    file.seek(start)
    carry, offset, is_last = b"", start, False
    wanted = block_bytes
    while not is_last:
        position = offset + len(carry)
        chunk = file.read(wanted if end is None else min(wanted, end - position))
        is_last = not chunk or position + len(chunk) == end
        data = carry + chunk if carry else chunk
        if not data:
            return
        block = _cut(data, offset, line, rules, width, is_last)
        if block is None and len(data) > MAX_RECORD + 2 * LOOKAHEAD_BYTES:
            after = _line_end(file, offset + len(data) - data.endswith(b"\r"), end, most=offset + MAX_LINE)
            if after is None:
                raise FormatError(f"Line {line:,} is longer than {MAX_LINE >> 20} MiB: that is no line of a table.")
            height = count(_newlines(data, is_last=False)) + 1
            block = _too_long(data[:KEPT_OF_LONG], offset, line, height, after - offset)
            carry, is_last = b"", after == end
            file.seek(after)
        elif block is None:
            carry, wanted = data, max(block_bytes, len(data))
            continue
        else:
            carry = data[block.size :]
        wanted = block_bytes
        offset, line = offset + block.size, line + block.height
        yield block


def _too_long(kept: bytes, offset: int, line: int, height: int, size: int) -> Block:
    """The block of one record of which only the start is kept."""
    records = Records(np.array([0], np.int64), np.array([len(kept)], np.int64))
    return Block.of(records, kept, offset, line=line, height=height, size=size, broken={0: csv_exact.TOO_LONG})


def _line_end(file: Any, position: int, end: int | None, most: int) -> int | None:
    """Where the line that goes on at ``position`` ends, after its newline, without keeping it; ``None`` if that is
    behind ``most``.
    """
    file.seek(position)
    while chunk := file.read(_SKIP_BYTES if end is None else min(_SKIP_BYTES, end - position)):
        feed = chunk.find(b"\n")
        carriage = chunk.find(b"\r", 0, feed if feed >= 0 else len(chunk))
        found = carriage if carriage >= 0 else feed
        if found >= 0:
            after: int = position + found + 1
            if found == carriage and (end is None or after < end):
                file.seek(after)
                after += file.read(1) == b"\n"
            return after
        position += len(chunk)
        if position > most:
            return None
    return position


def _cut(data: bytes, offset: int, line: int, rules: Grammar, width: int, is_last: bool) -> Block | None:
    """The whole records of ``data``, or ``None`` if not even one ends in it."""
    newlines = _newlines(data, is_last)
    marks = _scan(data, newlines, rules, is_last)
    if marks is None:
        ends, broken = _walk(data, rules, width, is_last)
        size = int(ends[-1]) if len(ends) else 0
    else:
        size = end_of(marks)
    if not size:
        return None
    height = count(newlines, size) + (size == len(data) and data[-1] not in (_LF, _CR))
    kept = data[:size] if size < len(data) else data
    if marks is not None and not (width > 1 and _may_have_blanks(data, marks)):
        find = partial(_records, marks, newlines, height)
        return Block(kept, offset, count(marks), line, height, size, find, is_regular=True)
    records = _records_at(ends, newlines, height) if marks is None else _records(marks, newlines, height)
    if width > 1:
        records, broken = _without_blanks(data, records, {} if marks is not None else broken)
    return Block.of(
        records, kept, offset, line=line, height=height, size=size, broken=broken, is_regular=marks is not None
    )


def _records(marks: Mask, newlines: Mask, height: int) -> Records:
    """Records that end with the marked bytes."""
    return _records_at(places(marks) + 1, newlines, height)


def _records_at(ends: Positions, newlines: Mask, height: int) -> Records:
    """Records by their ends, each of which is the start of the next one."""
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1]
    is_consecutive = height == len(ends)
    lines = None if is_consecutive else np.searchsorted(places(newlines), starts).astype(np.int64)
    return Records(starts, ends, lines)


def _may_have_blanks(data: bytes, marks: Mask) -> bool:
    """Whether a record may be nothing but a newline, of one byte or of two."""
    return are_marked_at(marks, 1) or (b"\r" in data and are_marked_at(marks, 2)) or bool(int(marks[0]) & 0b11)


def _newlines(data: bytes, is_last: bool) -> Mask:
    """The last byte of every newline, in quotes or not."""
    feeds = mask_of(data, _LF)
    if b"\r" not in data:
        return feeds
    followed = before(feeds)
    if not is_last:
        followed |= bit(feeds, len(data) - 1)
    return feeds | (mask_of(data, _CR) & ~followed)


def _scan(data: bytes, newlines: Mask, rules: Grammar, is_last: bool) -> Mask | None:
    """The last byte of each record by the parity of quotes; ``None`` if a quote, an escape or a length is irregular."""
    if rules.escape and rules.escape in data:
        return None
    marks = newlines
    if rules.quote and rules.quote in data:
        if len(rules.delimiter) > 1:
            return None
        quotes = mask_of(data, rules.quote[0])
        quoted = odd_from(quotes)
        if not _are_regular(data, quotes, quoted, newlines, rules) or (is_last and count(quotes) % 2):
            return None
        marks = newlines & ~quoted
    if is_last and end_of(marks) != len(data):
        marks = marks | bit(marks, len(data) - 1)
    if len(data) <= MAX_RECORD:
        return marks
    ends = np.append(places(marks) + 1, len(data))
    return None if int(np.diff(ends, prepend=0).max()) > MAX_RECORD else marks


def _are_regular(data: bytes, quotes: Mask, quoted: Mask, newlines: Mask, rules: Grammar) -> bool:
    """Whether each opening quote stands behind a delimiter, a newline or a quote, and each closing one before one."""
    beside = mask_of(data, rules.delimiter[0]) | quotes | newlines
    if b"\r" in data:
        beside |= mask_of(data, _LF) | mask_of(data, _CR)
    behind = after(beside) | bit(quotes, 0)
    ahead = before(beside) | bit(quotes, len(data) - 1)
    opening = quotes & quoted
    return not ((opening & ~behind) | ((quotes ^ opening) & ~ahead)).any()


def _walk(data: bytes, rules: Grammar, width: int, is_last: bool) -> tuple[Positions, dict[int, str]]:
    """Ends of the records by the grammar, and the reasons of those that are broken."""
    ends: list[int] = []
    broken: dict[int, str] = {}
    position, size = 0, len(data)
    while position < size:
        limit = min(size, position + MAX_RECORD)
        match = rules.fields.match(data, position, limit)
        stop = match.end() if match else position
        if match and stop < limit and data[stop] in (_LF, _CR):
            end = stop + (2 if data.startswith(b"\r\n", stop) else 1)
        elif match and stop == limit == size and is_last:
            end = size
        else:
            end, reason = _broken(data, rules, position, stop, match is not None, width, is_last)
            if end < 0:
                break
            broken[len(ends)] = reason
        if end == size and data[size - 1] == _CR and not is_last:
            broken.pop(len(ends), None)
            break
        ends.append(end)
        position = end
    return np.array(ends, np.int64), broken


def _broken(
    data: bytes, rules: Grammar, start: int, stop: int, has_fields: bool, width: int, is_last: bool
) -> tuple[int, str]:
    """End and fault of the record at ``start``, good up to ``stop``; -1 if more bytes are needed to tell."""
    size = len(data)
    limit = min(size, start + MAX_RECORD)
    is_decided = limit - start == MAX_RECORD or (is_last and limit == size)
    fault = stop
    if stop < limit or not has_fields:
        fault = stop + len(rules.delimiter) if has_fields else start
        opened = rules.opened.match(data, fault, limit)
        if not is_decided and (opened.end() if opened else limit) >= limit - 1 - len(rules.delimiter):
            return -1, ""
    elif not is_decided:
        return -1, ""
    newline = NEWLINE.search(data, fault)
    if (newline is not None or is_last) and (newline.start() if newline else size) - start > MAX_RECORD:
        return newline.end() if newline else size, csv_exact.TOO_LONG
    if not is_last and (newline is None or newline.end() + LOOKAHEAD_BYTES >= size):
        return -1, ""  # a byte behind those looked at says whether the last line among them goes on
    end = broken_end(rules, data, start, fault, size, width, is_last)
    # The reason may depend on the record's own bytes only: the reader of a chunk sees no more of the file.
    opened = rules.opened.match(data, fault, end)
    return end, csv_exact.OPEN_QUOTE if opened is None or opened.end() == end else csv_exact.STRAY_QUOTE


def _without_blanks(data: bytes, records: Records, broken: dict[int, str]) -> tuple[Records, dict[int, str]]:
    """Leave out records that are nothing but a newline."""
    starts, ends, lines = records
    short = np.flatnonzero(ends - starts <= 2)
    blank = [index for index in short.tolist() if not data[starts[index] : ends[index]].strip(b"\r\n")]
    if not blank:
        return records, broken
    keep = np.ones(len(starts), np.bool_)
    keep[blank] = False
    kept = np.flatnonzero(keep)
    new = {int(old): place for place, old in enumerate(kept)} if broken else {}
    lines = kept if lines is None else lines[keep]
    return Records(starts[keep], ends[keep], lines), {new[index]: reason for index, reason in broken.items()}
