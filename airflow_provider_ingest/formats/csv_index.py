"""Where the records of a CSV file are: a stream of blocks of whole records, with flat memory.

A block whose quotes are regular is cut by a vectorised scan; any other by the grammar of :mod:`.csv_exact`, record
by record. What a record is depends only on the bytes from its start on, so the planner, who sees the whole file,
and the reader of a chunk, who starts in the middle and in other blocks, find the same records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import csv_exact
from airflow_provider_ingest.formats.byte_masks import (
    Mask,
    Positions,
    after,
    before,
    bit,
    count,
    mask_of,
    odd_from,
    places,
)
from airflow_provider_ingest.formats.csv_exact import MAX_LINE, MAX_RECORD, NEWLINE, Grammar
from airflow_provider_ingest.formats.csv_recover import LOOKAHEAD_BYTES, broken_end

_LF, _CR = 10, 13
KEPT_OF_LONG = 64 << 10
"""Bytes that are kept of a record that is too long."""
_SKIP_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records, one after the other.

    :param data: the bytes; every offset below counts from its start.
    :param offset: where ``data`` starts in the file.
    :param starts: of each record.
    :param ends: after each record's newline.
    :param line: physical line, from 1, on which ``data`` starts.
    :param lines: of each record, relative to ``line``; ``None`` where the records are consecutive lines.
    :param height: physical lines of the block.
    :param broken: reasons by index of the record.
    :param size: bytes that the block takes in the file; more than ``data`` only for a record too long to keep.
    :param is_regular: no quote or escape stands where it needs the grammar to tell what it means.
    """

    data: bytes
    offset: int
    starts: Positions
    ends: Positions
    line: int
    lines: Positions | None
    height: int
    size: int
    broken: dict[int, str] = field(default_factory=dict)
    is_regular: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether each physical line is a record, and any reader of CSV finds the same ones."""
        return self.is_regular and self.lines is None

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.starts)

    @property
    def is_dense(self) -> bool:
        """Whether nothing stands between the records."""
        return self.rows > 0 and int((self.ends - self.starts).sum()) == int(self.ends[-1] - self.starts[0])

    def line_numbers(self) -> Positions:
        """The physical line of each record."""
        return self.line + (np.arange(self.rows, dtype=np.int64) if self.lines is None else self.lines)


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
    starts, ends = np.array([0], np.int64), np.array([len(kept)], np.int64)
    return Block(kept, offset, starts, ends, line, None, height, size, {0: csv_exact.TOO_LONG})


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
    found = _scan(data, newlines, rules, is_last)
    broken: dict[int, str] = {}
    is_regular = found is not None
    if found is None:
        found, broken = _walk(data, rules, width, is_last)
    if not len(found):
        return None
    size = int(found[-1])
    starts = np.empty_like(found)
    starts[0], starts[1:] = 0, found[:-1]
    ends = found
    height = count(newlines, size) + (size == len(data) and data[-1] not in (_LF, _CR))
    lines = None
    if height != len(ends):
        lines = np.searchsorted(places(newlines), starts).astype(np.int64)
    if width > 1:
        starts, ends, lines, broken = _without_blanks(data, starts, ends, lines, broken)
    kept = data[:size] if size < len(data) else data
    return Block(kept, offset, starts, ends, line, lines, height, size, broken, is_regular)


def _newlines(data: bytes, is_last: bool) -> Mask:
    """The last byte of every newline, in quotes or not."""
    feeds = mask_of(data, _LF)
    if b"\r" not in data:
        return feeds
    followed = before(feeds)
    if not is_last:
        followed |= bit(feeds, len(data) - 1)
    return feeds | (mask_of(data, _CR) & ~followed)


def _scan(data: bytes, newlines: Mask, rules: Grammar, is_last: bool) -> Positions | None:
    """Ends of the records by the parity of quotes; ``None`` if a quote, an escape or a length is irregular."""
    if rules.escape and rules.escape in data:
        return None
    if rules.quote and rules.quote in data:
        if len(rules.delimiter) > 1:
            return None
        quotes = mask_of(data, rules.quote[0])
        quoted = odd_from(quotes)
        if not _are_regular(data, quotes, quoted, newlines, rules) or (is_last and count(quotes) % 2):
            return None
        newlines = newlines & ~quoted
    ends = places(newlines) + 1
    if is_last and (not len(ends) or ends[-1] != len(data)):
        ends = np.append(ends, len(data))
    longest = int(np.diff(ends, prepend=0).max()) if len(ends) else 0
    tail = len(data) - (int(ends[-1]) if len(ends) else 0)
    return None if max(longest, tail) > MAX_RECORD else ends


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


def _without_blanks(
    data: bytes, starts: Positions, ends: Positions, lines: Positions | None, broken: dict[int, str]
) -> tuple[Positions, Positions, Positions | None, dict[int, str]]:
    """Leave out records that are nothing but a newline."""
    short = np.flatnonzero(ends - starts <= 2)
    blank = [index for index in short.tolist() if not data[starts[index] : ends[index]].strip(b"\r\n")]
    if not blank:
        return starts, ends, lines, broken
    keep = np.ones(len(starts), np.bool_)
    keep[blank] = False
    kept = np.flatnonzero(keep)
    places = {int(old): new for new, old in enumerate(kept)} if broken else {}
    lines = kept if lines is None else lines[keep]
    return starts[keep], ends[keep], lines, {places[index]: reason for index, reason in broken.items()}
