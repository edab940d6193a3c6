"""Frames as rows of COPY's binary format: what it takes to write is no more than text, and the server parses nothing.

The format is that of PostgreSQL's documentation of COPY and of the ``…_recv`` functions of its types. Each row is the
number of its fields and, for each field, the length of its bytes (−1 for null) and the bytes, numbers with the highest
byte first. Fields of one width are laid side by side in NumPy; PyArrow joins them with the texts, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from airflow_provider_ingest.formats.arrow_memory import arrow_pool

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""What the data begin with: no flags, no header extension."""

END = b"\xff\xff"
"""What the data end with."""

INTEGERS = {"smallint": 2, "integer": 4, "bigint": 8}
"""Bytes of integers."""

WHOLE = frozenset({pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64})
"""Whole numbers that NumPy has; the engine's 128 bits go as text."""

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
LONGEST_CODE = 64
"""Bytes of texts that are laid out with the numbers where all are equally long."""

NEGATIVE = 0x4000
"""The sign of a negative ``numeric``."""

Values = np.ndarray[Any, np.dtype[Any]]
Fill = Callable[[Values, pl.Series], None]
"""Puts the values of a column into their place."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A type whose values take equally many bytes.

    :param form: how NumPy calls them.
    """

    form: Any
    fill: Fill


@dataclass(slots=True)
class Stretch:
    """Neighbouring fields that take equally many bytes in each row, up to the length of a field that may not.

    :param fields: NumPy's names and forms, in order; each column has a length and its value.
    :param fixed: the columns among them.
    :param last: the column that follows: a text, or one with nulls.
    """

    fields: list[tuple[str, Any]] = field(default_factory=list)
    fixed: list[tuple[str, Fixed]] = field(default_factory=list)
    last: tuple[str, Fixed | None] | None = None


class BinaryRows:
    """Encodes the frames of one set of columns; :meth:`of` tells whether that can be done.

    >>> frame = pl.DataFrame({"id": [1, 2], "name": ["a", None]})
    >>> bytes(BinaryRows.of(frame, {"id": "integer", "name": "text"}).encode(frame)).hex(" ", 1)[:41]
    '00 02 00 00 00 04 00 00 00 01 00 00 00 01'
    """

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = stretches

    @classmethod
    def of(cls, frame: pl.DataFrame, types: Mapping[str, str]) -> BinaryRows | None:
        """What encodes this frame and slices of it, or ``None`` where a column has to be written as text.

        :param types: columns with their types as PostgreSQL writes them.
        """
        stretches = [Stretch([("columns", ">i2")])]
        for column in frame.get_columns():
            name, type_ = column.name, types.get(column.name, "")
            is_varying = _is_varying(column.dtype, type_)
            fixed = _of_one_length(column) if is_varying else _fixed(column, type_)
            if fixed is None and not is_varying:
                return None
            stretches[-1].fields.append((f"length of {name}", ">i4"))
            if fixed is None or column.null_count():
                stretches[-1].last = name, fixed
                stretches.append(Stretch())
            else:
                stretches[-1].fields.append((name, fixed.form))
                stretches[-1].fixed.append((name, fixed))
        return cls([stretch for stretch in stretches if stretch.fields])

    def encode(self, frame: pl.DataFrame) -> memoryview:
        """The rows, without signature and end."""
        parts = []
        for stretch in self._stretches:
            block = np.empty(frame.height, stretch.fields)
            if stretch is self._stretches[0]:
                block["columns"] = frame.width
            for name, fixed in stretch.fixed:
                block[f"length of {name}"] = np.dtype(fixed.form).itemsize
                fixed.fill(block[name], frame.get_column(name))
            parts.append(block)
            if stretch.last is not None:
                name, follows = stretch.last
                last, lengths = _texts(frame.get_column(name)) if follows is None else _gaps(frame[name], follows)
                block[f"length of {name}"] = lengths
                parts.append(last)
        arrays = [_pieces(part) if isinstance(part, np.ndarray) else part for part in parts]
        rows = pc.binary_join_element_wise(*arrays, _NOTHING, null_handling="skip", memory_pool=arrow_pool())
        _, ends, data = rows.buffers()
        return memoryview(data)[: int(np.frombuffer(ends, np.int64)[frame.height])]


_NOTHING = pa.scalar(b"", pa.large_binary())


def _is_varying(dtype: pl.DataType, type_: str) -> bool:
    if dtype == pl.Binary:
        return type_ == "bytea"
    return (
        dtype == pl.String and type_.startswith(TEXTS) and not type_.endswith("[]")
    )  # arrays have a form of their own


def _of_one_length(column: pl.Series) -> Fixed | None:
    """Texts that are equally long, as codes are, stand between numbers as one of them: joining is what takes long."""
    if column.null_count():
        return None
    lengths = column.str.len_bytes() if column.dtype == pl.String else column.bin.size()
    shortest, longest = int(lengths.min() or 0), int(lengths.max() or 0)  # type: ignore[arg-type]  # integers
    is_code = 0 < shortest == longest <= LONGEST_CODE
    return Fixed(f"V{longest}", _fill_codes) if is_code else None


def _fill_codes(into: Values, column: pl.Series) -> None:
    texts = column.to_arrow(compat_level=pl.CompatLevel.oldest())
    start = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset]
    into[...] = np.frombuffer(texts.buffers()[2], into.dtype, len(texts), start)


def _fixed(column: pl.Series, type_: str) -> Fixed | None:
    """How values of this dtype become bytes of this type, if each takes as many."""
    dtype = column.dtype
    is_whole = dtype in WHOLE
    if is_whole and type_ in INTEGERS:
        return Fixed(f">i{INTEGERS[type_]}", _fill_numbers) if _fits(column, INTEGERS[type_]) else None
    if (is_whole or dtype.is_decimal()) and type_.startswith("numeric"):
        return _numeric(column)
    if dtype == pl.Float64 and type_ == "double precision":
        return Fixed(">f8", _fill_numbers)
    if dtype == pl.Boolean and type_ == "boolean":
        return Fixed("u1", _fill_numbers)
    if dtype == pl.Date and type_ == "date":
        return Fixed(">i4", partial(_fill_times, since=EPOCH_DAYS))
    if isinstance(dtype, pl.Datetime) and dtype.time_unit == "us" and ZONES.get(type_) is (dtype.time_zone is not None):
        return Fixed(">i8", partial(_fill_times, since=EPOCH_MICROSECONDS))
    return None


def _fits(column: pl.Series, width: int) -> bool:
    """Whether all values have room in so many bytes; what the server says of the others is said of their text."""
    low, high = column.min(), column.max()
    limit = 1 << (8 * width - 1)
    return low is None or (-limit <= int(low) and int(high) < limit)  # type: ignore[arg-type]  # integers


def _fill_numbers(into: Values, column: pl.Series) -> None:
    into[...] = column.to_numpy()


def _fill_times(into: Values, column: pl.Series, since: int) -> None:
    times = column.to_arrow()  # over the same memory, which asking Polars for the numbers is not
    form = f"<i{times.type.bit_width // 8}"
    into[...] = np.frombuffer(times.buffers()[1], form, len(times), times.offset * np.dtype(form).itemsize) - since


def _numeric(column: pl.Series) -> Fixed | None:
    """``numeric`` in as many digits (of 10,000) as the largest value needs; the server drops leading zeros."""
    scale = column.dtype.scale if isinstance(column.dtype, pl.Decimal) else 0
    fraction = -(-scale // 4)
    padding = 10 ** (4 * fraction - scale)
    extremes = [value for value in (column.min(), column.max()) if value is not None]
    largest = max((abs(int(value * 10**scale)) for value in extremes), default=0) * padding  # type: ignore[operator]
    if largest >= 1 << 63:
        return None
    digits = max(-(-len(str(largest)) // 4), fraction + 1)
    head = (digits, digits - fraction - 1, scale)
    return Fixed((">u2", (4 + digits,)), partial(_fill_digits, head=head, padding=padding))


def _fill_digits(into: Values, column: pl.Series, head: tuple[int, int, int], padding: int) -> None:
    """The head of a ``numeric`` (digits, weight of the first, sign, shown decimals) and its digits."""
    into[:, 0], into[:, 1], into[:, 3] = head
    values = _unscaled(column) * padding
    into[:, 2] = np.where(values < 0, NEGATIVE, 0)
    left = np.abs(values)
    for place in range(into.shape[1] - 1, 3, -1):
        left, into[:, place] = np.divmod(left, 10_000)


def _unscaled(column: pl.Series) -> Values:
    """The integers behind decimals: of each 128 bits the lower half, which holds them all."""
    if column.dtype.is_integer():
        return column.to_numpy().astype(np.int64)
    decimals = column.to_arrow()
    halves = np.frombuffer(decimals.buffers()[1], "<i8").reshape(-1, 2)
    return halves[decimals.offset : decimals.offset + len(decimals), 0]


def _texts(column: pl.Series) -> tuple[pa.Array, Values]:
    """The texts as an Arrow array of bytes, and their lengths, −1 for null."""
    texts = column.to_arrow(compat_level=pl.CompatLevel.oldest())
    ends = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(ends)
    if column.null_count():
        lengths = np.where(column.is_not_null().to_numpy(), lengths, -1)
    return pa.Array.from_buffers(pa.large_binary(), len(texts), texts.buffers(), offset=texts.offset), lengths


def _gaps(column: pl.Series, fixed: Fixed) -> tuple[pa.Array, Values]:
    """Values of one width with nulls between them as an Arrow array of bytes, and their lengths, −1 for null."""
    valid = column.is_not_null().to_numpy()
    block = np.empty(len(column), [("value", fixed.form)])
    fixed.fill(block["value"], column.fill_null(pl.Series([0]).cast(column.dtype)[0]))
    return _pieces(block, valid), np.where(valid, block.itemsize, -1)


def _pieces(block: Values, valid: Values | None = None) -> pa.Array:
    """An Arrow array of pieces of one width, over the same memory; null where not valid."""
    width = block.itemsize
    ends = np.arange(0, (len(block) + 1) * width, width, dtype=np.int64)
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [bits, pa.py_buffer(ends), pa.py_buffer(block.view(np.uint8))]
    return pa.Array.from_buffers(pa.large_binary(), len(block), buffers)
