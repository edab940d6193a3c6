"""Frames as rows of COPY's binary format: what it takes to write is no more than text, and the server parses nothing.

The format is that of PostgreSQL's documentation of COPY and of the ``…_recv`` functions of its types. Each row is the
number of its fields and, for each field, the length of its bytes (−1 for null) and the bytes, numbers with the highest
byte first. Fields of one width are laid side by side in NumPy; PyArrow joins them with the texts, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""What the data begin with: no flags, no header extension."""

END = b"\xff\xff"
"""What the data end with."""

INTEGERS = {"smallint": 2, "integer": 4, "bigint": 8}
"""Bytes of integers."""

TEXTS = ("text", "character varying", "character(")
ZONES = {
    "timestamp": False,
    "timestamp without time zone": False,
    "timestamptz": True,
    "timestamp with time zone": True,
}
"""Whether a type of timestamps has a time zone."""

EPOCH_DAYS = 10_957
"""From 1970, where Polars begins to count, to 2000, where PostgreSQL does."""

EPOCH_MICROSECONDS = EPOCH_DAYS * 86_400_000_000
NEGATIVE = 0x4000
"""The sign of a negative ``numeric``."""

Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
"""A row of bytes for each value."""

Encode = Callable[[pl.Series], Bytes]


class BinaryRows:
    """Encodes the frames of one set of columns; :meth:`of` tells whether that can be done.

    >>> frame = pl.DataFrame({"id": [1, 2], "name": ["a", None]})
    >>> bytes(BinaryRows.of(frame, {"id": "integer", "name": "text"}).encode(frame)).hex(" ", 1)[:41]
    '00 02 00 00 00 04 00 00 00 01 00 00 00 01'
    """

    def __init__(self, encodes: Sequence[Encode | None]) -> None:
        self._encodes = encodes

    @classmethod
    def of(cls, frame: pl.DataFrame, types: Mapping[str, str]) -> BinaryRows | None:
        """What encodes this frame and slices of it, or ``None`` where a column has to be written as text.

        :param types: columns with their types as PostgreSQL writes them.
        """
        encodes: list[Encode | None] = []
        for column in frame.get_columns():
            type_ = types.get(column.name, "")
            if _is_varying(column.dtype, type_):
                encodes.append(None)
            elif (encode := _fixed(column, type_)) is not None:
                encodes.append(encode)
            else:
                return None
        return cls(encodes)

    def encode(self, frame: pl.DataFrame) -> memoryview:
        """The rows, without signature and end."""
        height = frame.height
        beside = [_repeated(frame.width, ">i2", height)]
        parts = []
        for column, encode in zip(frame.get_columns(), self._encodes, strict=True):
            if encode is None:
                texts, lengths = _texts(column)
                parts += [_binary(_joined(beside, lengths)), texts]
                beside = []
            elif column.null_count():
                valid = column.is_not_null().to_numpy()
                values = encode(column)
                lengths = np.where(valid, values.shape[1], -1)
                parts += [_binary(_joined(beside, lengths)), _binary(values, valid)]
                beside = []
            else:
                values = encode(column)
                beside += [_repeated(values.shape[1], ">i4", height), values]
        if beside:
            parts.append(_binary(_joined(beside)))
        rows = pc.binary_join_element_wise(*parts, _NOTHING, null_handling="skip")
        _, ends, data = rows.buffers()
        return memoryview(data)[: int(np.frombuffer(ends, np.int64)[height])]


_NOTHING = pa.scalar(b"", pa.large_binary())


def _is_varying(dtype: pl.DataType, type_: str) -> bool:
    if dtype == pl.Binary:
        return type_ == "bytea"
    return dtype == pl.String and type_.startswith(TEXTS)


def _fixed(column: pl.Series, type_: str) -> Encode | None:
    """How values of this dtype become bytes of this type, if each takes as many."""
    dtype = column.dtype
    if dtype.is_integer() and type_ in INTEGERS:
        return partial(_numbers, form=f">i{INTEGERS[type_]}") if _fits(column, INTEGERS[type_]) else None
    if (dtype.is_integer() or dtype.is_decimal()) and type_.startswith("numeric"):
        return _numeric(column)
    if dtype == pl.Float64 and type_ == "double precision":
        return partial(_numbers, form=">f8")
    if dtype == pl.Boolean and type_ == "boolean":
        return partial(_numbers, form="u1")
    if dtype == pl.Date and type_ == "date":
        return partial(_numbers, form=">i4", since=EPOCH_DAYS)
    if isinstance(dtype, pl.Datetime) and dtype.time_unit == "us" and ZONES.get(type_) is (dtype.time_zone is not None):
        return partial(_numbers, form=">i8", since=EPOCH_MICROSECONDS)
    return None


def _fits(column: pl.Series, width: int) -> bool:
    """Whether all values have room in so many bytes; what the server says of the others is said of their text."""
    low, high = column.min(), column.max()
    limit = 1 << (8 * width - 1)
    return low is None or (-limit <= int(low) and int(high) < limit)  # type: ignore[arg-type]  # integers


def _numbers(column: pl.Series, form: str, since: int = 0) -> Bytes:
    plain = column.cast(pl.UInt8) if column.dtype == pl.Boolean else column.to_physical()
    values = plain.fill_null(0).to_numpy()
    return _as_bytes((values - since if since else values).astype(form))


def _numeric(column: pl.Series) -> Encode | None:
    """``numeric`` in as many digits (of 10,000) as the largest value needs; the server drops leading zeros."""
    scale = column.dtype.scale if isinstance(column.dtype, pl.Decimal) else 0
    fraction = -(-scale // 4)
    padding = 10 ** (4 * fraction - scale)
    extremes = [value for value in (column.min(), column.max()) if value is not None]
    largest = max((abs(int(value * 10**scale)) for value in extremes), default=0) * padding  # type: ignore[operator]
    if largest >= 1 << 63:
        return None
    digits = max(-(-len(str(largest)) // 4), fraction + 1)
    return partial(_digits, scale=scale, padding=padding, digits=digits, weight=digits - fraction - 1)


def _digits(column: pl.Series, scale: int, padding: int, digits: int, weight: int) -> Bytes:
    """The header of a ``numeric`` (digits, weight of the first, sign, shown decimals) and its digits."""
    values = _unscaled(column) * padding
    fields = np.empty((len(values), 4 + digits), ">u2")
    fields[:, 0], fields[:, 1], fields[:, 3] = digits, weight, scale
    fields[:, 2] = np.where(values < 0, NEGATIVE, 0)
    left = np.abs(values)
    for place in range(3 + digits, 3, -1):
        left, fields[:, place] = np.divmod(left, 10_000)
    return _as_bytes(fields)


def _unscaled(column: pl.Series) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The integers behind decimals: of each 128 bits the lower half, which holds them all."""
    if column.dtype.is_integer():
        return column.cast(pl.Int64).fill_null(0).to_numpy()
    decimals = column.fill_null(0).to_arrow()
    halves = np.frombuffer(decimals.buffers()[1], "<i8").reshape(-1, 2)
    return halves[decimals.offset : decimals.offset + len(decimals), 0]


def _texts(column: pl.Series) -> tuple[pa.Array, Any]:
    """The texts as an Arrow array of bytes, and their lengths, −1 for null."""
    texts = column.to_arrow(compat_level=pl.CompatLevel.oldest())
    ends = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(ends)
    if column.null_count():
        lengths = np.where(column.is_not_null().to_numpy(), lengths, -1)
    return pa.Array.from_buffers(pa.large_binary(), len(texts), texts.buffers(), offset=texts.offset), lengths


def _joined(beside: Sequence[Bytes], lengths: Any = None) -> Bytes:
    """What stands before the bytes of a field: fields that are complete, and the field's length."""
    last = [] if lengths is None else [_as_bytes(lengths.astype(">i4"))]
    return np.hstack([*beside, *last])


def _repeated(number: int, form: str, height: int) -> Bytes:
    return np.broadcast_to(np.array([number], form).view(np.uint8), (height, np.dtype(form).itemsize))


def _as_bytes(values: np.ndarray[Any, Any]) -> Bytes:
    return values.view(np.uint8).reshape(len(values), -1)


def _binary(values: Bytes, valid: np.ndarray[Any, np.dtype[np.bool_]] | None = None) -> pa.Array:
    """An Arrow array of pieces of one width, over the same memory; null where not valid."""
    height, width = values.shape
    ends = np.arange(0, (height + 1) * width, width, dtype=np.int64)
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.large_binary(), height, [bits, pa.py_buffer(ends), data])
