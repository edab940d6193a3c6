"""A vectorised look at XML that is written in the plain way: every step works on all tags of a block at once.

What is not plain raises :class:`NotPlain`, never a guess: an XML parser then reads the part from its start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from airflow_provider_ingest.formats.limits import MIB

BLOCK = 2 * MIB
"""XML that is looked at together."""

LONGEST_RECORD = 32 * MIB
PAD = bytes(48)
"""What a block is padded with: a look ahead never leaves it."""

_DECLARED = re.compile(rb"<\?xml[^>]*encoding=[\"']([^\"']+)")
_ENTITY = "&(?:lt|gt|quot|apos|amp|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});"
_NUMBERED = re.compile("&(?:#x([0-9a-fA-F]+)|#([0-9]+)|[a-z]+);")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}


class NotPlain(Exception):
    """The XML is written in another way; a parser is needed."""


class Blocks:
    """The records inside one element of a document, in blocks of whole records; what follows it is in ``tail``."""

    def __init__(self, pieces: Iterable[bytes], element: bytes, record: bytes) -> None:
        """:param element: the name of the element. :param record: of the elements in it."""
        self._source = iter(pieces)
        self._opening = re.compile(b"<" + element + rb"(?:\s[^<>]*)?>")
        self._closing = b"</" + element + b">"
        self._record_end = b"</" + record + b">"
        self.tail = b""

    def __iter__(self) -> Iterator[bytes]:
        """Blocks without blanks at the start.

        :raises NotPlain: the element is not there, or is not UTF-8, or a record is too long.
        """
        held = self._open()
        wanted = BLOCK
        while True:
            parts, size = [held], len(held)
            piece = b"x"
            while size < wanted and (piece := next(self._source, b"")):
                parts.append(piece)
                size += len(piece)
            held = b"".join(parts)
            cut = held.rfind(self._record_end)
            cut = 0 if cut < 0 else cut + len(self._record_end)
            end = held.find(self._closing, cut)
            if end >= 0:
                yield held[:end]
                self.tail = held[end:]
                return
            if not piece or (not cut and len(held) > LONGEST_RECORD):
                raise NotPlain
            if cut:
                yield held[:cut]
            held = held[cut:]
            wanted = len(held) + BLOCK

    def rest(self) -> Iterator[bytes]:
        """What follows the records, after the last block."""
        yield self.tail
        yield from self._source

    def _open(self) -> bytes:
        held = b""
        for piece in self._source:
            held += piece
            found = self._opening.search(held)
            if found:
                head = held[: found.end()]
                declared = _DECLARED.search(head)
                is_utf8 = declared is None or declared[1].lower() == b"utf-8"
                if not is_utf8 or b"\0" in head or b"<!" in head or head.endswith(b"/>"):
                    raise NotPlain
                return held[found.end() :]
            if len(held) > MIB:
                break
        raise NotPlain


def require(*conditions: Any) -> None:
    """Raise :class:`NotPlain` unless all elements of all arrays are true."""
    for condition in conditions:
        if not condition.all():
            raise NotPlain


def packed(text: bytes) -> Any:
    """Up to eight bytes as the number that an overlapping view of eight bytes shows."""
    return np.uint64(int.from_bytes(text, "little"))


def texts(padded: bytes, start: Any, stop: Any, has_entities: bool) -> pl.Series:
    """Slices of a block as text, entities dissolved."""
    if not len(start):
        return pl.Series([], dtype=pl.String)
    bounds = np.empty(2 * len(start), np.int64)
    bounds[0::2], bounds[1::2] = start, stop
    slices = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(padded)]
    )
    values = slices.take(pa.array(np.arange(0, len(bounds) - 1, 2)))
    try:
        text = pl.Series(values.cast(pa.large_string()))
    except pa.ArrowInvalid:
        raise NotPlain from None  # not UTF-8: the XML parser says where
    return _without_entities(text) if has_entities else text


def _without_entities(text: pl.Series) -> pl.Series:
    """Text with XML's entities and character references dissolved, each once."""
    if (text.str.count_matches("&", literal=True) != text.str.count_matches(_ENTITY)).any():
        raise NotPlain
    numbered = text.str.contains("&#", literal=True)
    plain = text.str.replace_many(list(_ENTITIES), list(_ENTITIES.values()))
    if not numbered.any():
        return plain
    at = numbered.arg_true()
    return plain.scatter(at, pl.Series([_NUMBERED.sub(_character, one) for one in text.gather(at)], dtype=pl.String))


def _character(found: re.Match[str]) -> str:
    """What an entity or a character reference stands for; one to what XML does not allow is the parser's to refuse."""
    if not (found[1] or found[2]):
        return _ENTITIES[found[0]]
    code = int(found[1], 16) if found[1] else int(found[2])
    if not (code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000):
        raise NotPlain
    return chr(code)
