"""What the record batches of an Arrow file or stream say of themselves: each is inflated as a whole when it is read.

The metadata of a message is a table in the Flatbuffers encoding; only what tells sizes is looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.compression import check_size
from airflow_provider_ingest.formats.limits import GIB, MIB, Limits

MOST_IN_MEMORY = GIB
"""Bytes of a record batch and the dictionaries before it, once inflated."""
MOST_VALUES = 100_000_000
"""Rows of a batch, or values of a nested column in it; nulls take no bytes, so that a file may state any number."""

_MAGIC = b"ARROW1"
_OLD_COMPRESSION = b"ARROW:experimental_compression"
_CONTINUES = 0xFFFFFFFF
_LONGEST_METADATA = 256 * MIB
_DICTIONARY, _BATCH = 2, 3


@dataclass(frozen=True, slots=True)
class _Sizes:
    """A batch: its rows, the values of its largest column, its bytes in memory and in the file."""

    rows: int
    values: int
    inflated: int
    packed: int


def check_arrow_sizes(file: Any, limits: Limits) -> None:
    """Refuse a file with a batch that becomes suspiciously much, or more than fits, in memory.

    :param file: open and seekable; it stands at its start afterwards.
    :raises FormatError: says by how much; or the file is damaged.
    """
    try:
        rows = held = 0
        for is_dictionary, sizes in _batches(file):
            check_size(sizes.inflated, sizes.packed, limits)
            rows += 0 if is_dictionary else sizes.rows
            if sizes.values > MOST_VALUES:
                raise FormatError(f"A record batch has more than {MOST_VALUES:,} values in one column.")
            if held + sizes.inflated > MOST_IN_MEMORY:
                raise FormatError(
                    f"A record batch takes more than {MOST_IN_MEMORY // MIB:,} MiB in memory: write the file with"
                    " fewer rows in each batch."
                )
            held += sizes.inflated if is_dictionary else 0
        if rows > max(MOST_VALUES, limits.inflate_ratio * file.seek(0, 2)):
            raise FormatError(f"The file states more than {limits.inflate_ratio} rows for each of its bytes.")
    except (struct.error, IndexError):
        raise FormatError("The Arrow file is damaged: a message does not hold what it states.") from None
    file.seek(0)


def values_per_row(batch: Any) -> float:
    """Values of the widest column of a batch for each of its rows, nested ones counted."""
    most = max((_values(column) for column in batch.columns), default=0)
    return most / max(int(batch.num_rows), 1)


def _values(column: Any) -> int:
    from pyarrow import types

    most = len(column)
    if types.is_struct(column.type):
        most = max([most, *(_values(child) for child in column.flatten())])
    elif types.is_map(column.type):
        most = max(most, _values(column.keys), _values(column.items))
    elif types.is_list(column.type) or types.is_large_list(column.type) or types.is_fixed_size_list(column.type):
        most = max(most, _values(column.values))
    return most


def _batches(file: Any) -> Iterator[tuple[bool, _Sizes]]:
    """Of each batch: whether it is a dictionary, and its sizes."""
    for metadata, body in _messages(file):
        kind, at = _u8(metadata, _field(metadata, _root(metadata), 1)), _field(metadata, _root(metadata), 2)
        if kind not in (_DICTIONARY, _BATCH) or not at:
            continue
        table = _follow(metadata, at)
        if kind == _DICTIONARY:
            table = _follow(metadata, _field(metadata, table, 1))
        yield kind == _DICTIONARY, _sizes(file, metadata, table, body)


def _messages(file: Any) -> Iterator[tuple[bytes, int]]:
    """The metadata of each message, and where its body starts."""
    file.seek(0)
    if file.read(len(_MAGIC)) == _MAGIC:
        for offset, size in _blocks(file):
            prefix = _read(file, offset, 8)
            skipped = 8 if struct.unpack_from("<I", prefix)[0] == _CONTINUES else 4
            yield _read(file, offset + skipped, size - skipped), offset + size
        return
    at, end = 0, file.seek(0, 2)
    while at + 4 <= end:
        size = struct.unpack("<I", _read(file, at, 4))[0]
        at += 4
        if size == _CONTINUES:
            size = struct.unpack("<I", _read(file, at, 4))[0]
            at += 4
        if not size:
            return
        metadata = _read(file, at, size)
        yield metadata, at + size
        length = _field(metadata, _root(metadata), 3)
        at += size + (_i64(metadata, length) if length else 0)


def _blocks(file: Any) -> Iterator[tuple[int, int]]:
    """Offset and metadata's size of each dictionary and batch, by the file's footer."""
    end = file.seek(0, 2)
    size = struct.unpack("<i", _read(file, end - 10, 4))[0]
    footer = _read(file, end - 10 - size, size)
    for vector in (2, 3):
        at = _field(footer, _root(footer), vector)
        for place in _vector(footer, at, 24) if at else ():
            offset, metadata = struct.unpack_from("<qi", footer, place)
            yield offset, metadata


def _sizes(file: Any, metadata: bytes, table: int, body: int) -> _Sizes:
    rows, nodes, buffers, compression = (_field(metadata, table, number) for number in range(4))
    length = _i64(metadata, rows) if rows else 0
    values = [_i64(metadata, at) for at in _vector(metadata, nodes, 16)] if nodes else []
    is_packed = compression or _OLD_COMPRESSION in metadata
    inflated = packed = 0
    for at in _vector(metadata, buffers, 16) if buffers else ():
        offset, size = struct.unpack_from("<qq", metadata, at)
        stated = size
        if is_packed and size > 8:
            stated = struct.unpack("<q", _read(file, body + offset, 8))[0]
            stated = size if stated == -1 else stated
        if size < 0 or stated < 0:
            raise FormatError("The Arrow file is damaged: a buffer has a negative size.")
        inflated, packed = inflated + stated, packed + size
    return _Sizes(length, max([length, *values]), inflated, packed)


def _read(file: Any, at: int, size: int) -> bytes:
    """Exactly so many bytes from this place."""
    if at < 0 or not 0 <= size <= _LONGEST_METADATA:
        raise IndexError
    file.seek(at)
    data: bytes = file.read(size)
    if len(data) < size:
        raise IndexError
    return data


def _root(data: bytes) -> int:
    return _follow(data, 0)


def _follow(data: bytes, at: int) -> int:
    """Where an offset at this place points to."""
    return at + int(struct.unpack_from("<I", data, at)[0])


def _field(data: bytes, table: int, number: int) -> int:
    """Where a table's field is; 0 where it has none."""
    layout = table - struct.unpack_from("<i", data, table)[0]
    if 4 + 2 * number >= struct.unpack_from("<H", data, layout)[0]:
        return 0
    offset = int(struct.unpack_from("<H", data, layout + 4 + 2 * number)[0])
    return table + offset if offset else 0


def _vector(data: bytes, at: int, size: int) -> range:
    """The places of a vector's elements."""
    start = _follow(data, at)
    number = struct.unpack_from("<I", data, start)[0]
    if start + 4 + number * size > len(data):
        raise IndexError
    return range(start + 4, start + 4 + number * size, size)


def _u8(data: bytes, at: int) -> int:
    return data[at] if at else 0


def _i64(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<q", data, at)[0])
