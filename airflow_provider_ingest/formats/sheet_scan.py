"""Cells of a worksheet by a vectorised look at its XML: every step works on all tags of a block at once.

It reads what spreadsheet programs and libraries write: ``<c r="B2" s="1" t="s"><v>7</v></c>``, attributes in this
order, nothing between the tags of a cell. Anything else raises :class:`NotPlain`, never a guess: the exact reader then
reads the sheet from its start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from airflow_provider_ingest.formats.sheet_cells import BOOLEAN, ERROR, ISO_DATE, NUMBER, SHARED, TEXT, Cells, Extent
from airflow_provider_ingest.formats.xml_scan import PAD, Blocks, NotPlain, packed, require, texts

_MERGED = b"<mergeCell "

_C, _V, _V_END, _C_END, _IS, _IS_END, _T, _T_SPACE, _T_END, _F, _F_END, _ROW, _ROW_END = range(1, 14)
_TAGS = {
    b"c ": _C,
    b"v>": _V,
    b"/v": _V_END,
    b"/c": _C_END,
    b"is": _IS,
    b"/i": _IS_END,
    b"t>": _T,
    b"t ": _T_SPACE,
    b"/t": _T_END,
    b"f>": _F,
    b"f ": _F,
    b"/f": _F_END,
    b"ro": _ROW,
    b"/r": _ROW_END,
}
_CODES = np.zeros(1 << 16, np.uint8)
for _tag, _code in _TAGS.items():
    _CODES[int.from_bytes(_tag, "little")] = _code


def scan_cells(pieces: Iterable[bytes], extent: Extent) -> Iterator[Cells]:
    """The cells of a sheet.

    :param pieces: its XML. :param extent: is told of merged ranges and of formulas without a value.
    :raises NotPlain: it is written in an unusual way, or is no XML at all.
    """
    blocks = Blocks(pieces, b"sheetData", b"row")
    for block in blocks:
        if block:
            yield scan_block(block, extent)
    last = b""
    for piece in blocks.rest():
        extent.merged += (last + piece).count(_MERGED) - last.count(_MERGED)
        last = (last + piece)[-32:]
    if not last.rstrip().endswith(b"</worksheet>"):
        raise NotPlain


def scan_block(block: bytes, extent: Extent | None = None) -> Cells:
    """The cells of whole rows.

    >>> scan_block(b'<row r="7"><c r="B7" t="str"><v>x</v></c></row>').column.tolist()
    [1]
    """
    if b"\r" in block or b"]]>" in block:
        raise NotPlain
    padded = block + PAD
    data = np.frombuffer(padded, np.uint8)
    words = np.ndarray((len(block) + 40,), "<u8", padded, 0, (1,))  # at each position the eight bytes that follow
    pairs = np.ndarray((len(block) + 40,), "<u2", padded, 0, (1,))
    tags = np.flatnonzero(data == ord("<"))
    codes = _CODES[pairs[tags + 1]]
    if not len(tags) or not codes.all() or codes[0] != _ROW:
        raise NotPlain
    ends = np.concatenate([tags, np.full(6, len(block))])  # of a tag, the start of the next
    codes = np.concatenate([codes, np.zeros(6, np.uint8)])

    is_row = codes[: len(tags)] == _ROW
    rows = np.flatnonzero(is_row)
    lines, widths = _numbers(words, tags[rows] + 8)
    row_ends = ends[rows + 1]
    row_ends -= data[row_ends - 1] == ord("\n")  # Apache POI breaks the line there
    is_void = data[row_ends - 2] == ord("/")
    require(words[tags[rows]] == packed(b'<row r="'), widths > 0, data[row_ends - 1] == ord(">"))

    cells = np.flatnonzero(codes == _C)
    row = np.cumsum(is_row)[cells] - 1
    at = tags[cells]
    column, at = _references(words, at, words[tags[rows] + 8], widths, row)
    style, at = _styles(words, at)
    kind, at = _types(words, data, at)
    after = data[at]
    is_open = after == ord(">")
    at = at + (after == ord(" "))
    is_void_cell = (data[at] == ord("/")) & (data[at + 1] == ord(">"))
    require(is_open | is_void_cell, ends[cells + 1] == at + 2 - is_open)

    start, stop, used = _values(words, data, ends, codes, cells, is_open)
    if int(used.sum()) + 2 * len(rows) - int(is_void.sum()) != len(tags):
        raise NotPlain
    if extent is not None:
        extent.uncalculated += int(((codes[cells + 1] == _F) & is_open & (stop <= start) & (kind != TEXT)).sum())
    kept = np.flatnonzero(stop > start)
    text = texts(padded, start[kept], stop[kept], b"&" in block)
    return Cells(lines, row[kept], column[kept], kind[kept], style[kept], text)


def _numbers(words: Any, at: Any) -> tuple[Any, Any]:
    """Numbers of up to seven digits before a quote, and their digits; 0 digits where none stands."""
    word = words[at]
    number, digits = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
    is_digit = np.ones(len(at), bool)
    for _ in range(7):
        byte = (word & np.uint64(255)).astype(np.int64) - ord("0")
        is_digit &= (byte >= 0) & (byte <= 9)
        if not is_digit.any():
            break
        number = np.where(is_digit, number * 10 + byte, number)
        digits += is_digit
        word = word >> np.uint64(8)
    quote = (words[at + digits] & np.uint64(255)) == ord('"')
    return number, np.where(quote, digits, 0)


def _references(words: Any, at: Any, row_words: Any, widths: Any, row: Any) -> tuple[Any, Any]:
    """Columns of the cells, and where their references end; a reference must name the row that it stands in."""
    letters = words[at + 6]
    first = (letters & np.uint64(255)).astype(np.int64) - ord("A")
    second = ((letters >> np.uint64(8)) & np.uint64(255)).astype(np.int64) - ord("A")
    third = ((letters >> np.uint64(16)) & np.uint64(255)).astype(np.int64) - ord("A")
    has_second = second >= 0
    has_third = has_second & (third >= 0)
    require(
        (words[at] & np.uint64((1 << 48) - 1)) == packed(b'<c r="'),
        (first >= 0) & (first < 26) & (second < 26) & (~has_third | (third < 26)),
    )
    column = np.where(has_second, (first + 1) * 26 + second, first)
    column = np.where(has_third, (column + 1) * 26 + third, column)
    at = at + 7 + has_second + has_third
    masks = (np.uint64(1) << (8 * (widths + 1)).astype(np.uint64)) - np.uint64(1)
    masks[widths == 7] = np.uint64((1 << 64) - 1)
    require(((words[at] ^ row_words[row]) & masks[row]) == 0)
    return column, at + widths[row] + 1


def _styles(words: Any, at: Any) -> tuple[Any, Any]:
    style = np.zeros(len(at), np.int64)
    has_style = np.flatnonzero((words[at] & np.uint64((1 << 32) - 1)) == packed(b' s="'))
    if len(has_style):
        number, digits = _numbers(words, at[has_style] + 4)
        require(digits > 0)
        style[has_style] = number
        at = at.copy()
        at[has_style] += digits + 5
    return style, at


_TYPES = {
    b's"': (SHARED, 1),
    b'n"': (NUMBER, 1),
    b'b"': (BOOLEAN, 1),
    b'e"': (ERROR, 1),
    b'd"': (ISO_DATE, 1),
    b"st": (TEXT, 3),
    b"in": (TEXT, 9),
}
_TYPE_CODES = np.full(1 << 16, 255, np.uint8)
_TYPE_SIZES = np.zeros(1 << 16, np.int64)
for _tag, (_code, _size) in _TYPES.items():
    _TYPE_CODES[int.from_bytes(_tag, "little")] = _code
    _TYPE_SIZES[int.from_bytes(_tag, "little")] = _size


def _types(words: Any, data: Any, at: Any) -> tuple[Any, Any]:
    kind = np.full(len(at), NUMBER, np.uint8)
    word = words[at]
    has_type = np.flatnonzero((word & np.uint64((1 << 32) - 1)) == packed(b' t="'))
    if len(has_type):
        pair = ((word[has_type] >> np.uint64(32)) & np.uint64(0xFFFF)).astype(np.int64)
        found = _TYPE_CODES[pair]
        at = at.copy()
        at[has_type] += _TYPE_SIZES[pair] + 5
        require(found != 255, data[at[has_type] - 1] == ord('"'))
        kind[has_type] = found
    return kind, at


def _values(words: Any, data: Any, ends: Any, codes: Any, cells: Any, is_open: Any) -> tuple[Any, Any, Any]:
    """Where the cells' values start and stop, and how many tags each cell has."""
    used = np.ones(len(cells), np.int64)
    start, stop = np.zeros(len(cells), np.int64), np.zeros(len(cells), np.int64)
    following = cells + 1
    formulas = np.flatnonzero(is_open & (codes[following] == _F))
    if len(formulas):
        tags = np.where(codes[following[formulas] + 1] == _F_END, 2, 1)
        following[formulas] += tags
        used[formulas] += tags
        require(data[ends[following[formulas]] - 1] == ord(">"))
    content = codes[following]
    empty = is_open & (content == _C_END)
    used += empty
    plain = np.flatnonzero(is_open & (content == _V))
    at = following[plain]
    start[plain], stop[plain] = ends[at] + 3, ends[at + 1]
    used[plain] += 3
    require(codes[at + 1] == _V_END, codes[at + 2] == _C_END, ends[at + 2] == ends[at + 1] + 4)
    inline = np.flatnonzero(is_open & (content == _IS))
    at = following[inline]
    opens = ends[at + 1]
    has_space = codes[at + 1] == _T_SPACE
    start[inline] = opens + np.where(has_space, 24, 3)
    stop[inline] = ends[at + 2]
    used[inline] += 5
    require(
        opens == ends[at] + 4,
        has_space | (codes[at + 1] == _T),
        ~has_space | ((words[opens + 2] == packed(b" xml:spa")) & (data[opens + 23] == ord(">"))),
        (codes[at + 2] == _T_END) & (codes[at + 3] == _IS_END) & (codes[at + 4] == _C_END),
        ends[at + 3] == ends[at + 2] + 4,
    )
    require(~is_open | empty | (content == _V) | (content == _IS))
    return start, stop, used
