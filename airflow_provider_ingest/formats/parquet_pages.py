"""What the pages of a Parquet file say of themselves: each is inflated as a whole, whatever the footer states.

A page's header is a struct in Thrift's compact protocol; only its two sizes matter here, the rest is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airflow_provider_ingest.exceptions import FormatError

_UNCOMPRESSED, _COMPRESSED = 2, 3
_INTEGERS = frozenset({4, 5, 6})
_BOOLEANS = frozenset({1, 2})
_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 3, 7, 8, 9, 10, 12
_HEAD, _LONGEST_HEAD = 1 << 10, 1 << 24
_DEEPEST = 16


class _Incomplete(Exception):
    """The header goes on behind what was read of it."""


def page_sizes(file: Any, start: int, size: int) -> Iterator[tuple[int, int]]:
    """Of each page of a column: its bytes in memory, and in the file.

    :param start: where the column's first page begins. :param size: of all its pages, headers included.
    :raises FormatError: what stands there is no page.
    """
    at, end = start, start + size
    while at < end:
        header, inflated, packed = _page(file, at)
        yield inflated, packed
        at += header + packed


def _page(file: Any, at: int) -> tuple[int, int, int]:
    """The size of the header at this place, and the two sizes that it states."""
    wanted = _HEAD
    while True:
        file.seek(at)
        data = file.read(wanted)
        try:
            size, sizes = _struct(data, 0, 0)
            inflated, packed = sizes[_UNCOMPRESSED], sizes[_COMPRESSED]
        except _Incomplete:
            if len(data) < wanted or wanted >= _LONGEST_HEAD:
                raise FormatError("The Parquet file is damaged: a page does not begin where it should.") from None
            wanted *= 16
            continue
        except KeyError:
            raise FormatError("The Parquet file is damaged: a page does not state its size.") from None
        if inflated < 0 or packed < 0:
            raise FormatError("The Parquet file is damaged: a page has a negative size.")
        return size, inflated, packed


def _struct(data: bytes, at: int, depth: int) -> tuple[int, dict[int, int]]:
    """Where a struct ends, and its integers by their field numbers."""
    if depth > _DEEPEST:
        raise FormatError("The Parquet file is damaged: a page's header is nested too deeply.")
    found: dict[int, int] = {}
    field = 0
    while True:
        kind, at = _byte(data, at)
        if not kind:
            return at, found
        delta, kind = kind >> 4, kind & 15
        if delta:
            field += delta
        else:
            number, at = _varint(data, at)
            field = (number >> 1) ^ -(number & 1)
        if kind in _INTEGERS:
            number, at = _varint(data, at)
            found[field] = (number >> 1) ^ -(number & 1)
        elif kind not in _BOOLEANS:
            at = _behind(data, at, kind, depth)


def _behind(data: bytes, at: int, kind: int, depth: int) -> int:
    """Where a value ends."""
    if kind == _STRUCT:
        return _struct(data, at, depth + 1)[0]
    if kind in _INTEGERS:
        return _varint(data, at)[1]
    if kind == _BINARY:
        size, at = _varint(data, at)
        return _within(data, at + size)
    if kind in (_BYTE, *_BOOLEANS):
        return _within(data, at + 1)
    if kind == _DOUBLE:
        return _within(data, at + 8)
    if kind in (_LIST, _SET):
        head, at = _byte(data, at)
        number, kind = head >> 4, head & 15
        if number == 15:
            number, at = _varint(data, at)
        for _ in range(number):
            at = _behind(data, at, kind, depth + 1)
        return at
    raise FormatError("The Parquet file is damaged: a page's header is none.")


def _byte(data: bytes, at: int) -> tuple[int, int]:
    return data[_within(data, at + 1) - 1], at + 1


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte, at = _byte(data, at)
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise FormatError("The Parquet file is damaged: a page's header is none.")


def _within(data: bytes, at: int) -> int:
    if at > len(data):
        raise _Incomplete
    return at
