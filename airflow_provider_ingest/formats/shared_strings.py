"""The shared strings of a workbook: each text once, cells name it by its position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import LIMITS, MIB, Limits
from airflow_provider_ingest.formats.sheet_values import without_escapes
from airflow_provider_ingest.formats.xml_parts import local_name, parse_xml
from airflow_provider_ingest.formats.xml_scan import PAD, Blocks, NotPlain, packed, require, texts

_BLOCK = 50_000
_BLOCK_BYTES = 16 * MIB
_PREFIX_SIZE = 16
"""What a text takes in memory besides its bytes."""


def shared_strings(pieces: Callable[[], Iterable[bytes]], limits: Limits = LIMITS) -> pl.Series:
    """All texts in their order, ``""`` as null; rich text without its formats, phonetic hints left out.

    :param pieces: gives the XML from its start.
    :raises FormatError: it is not well-formed, or the texts take more memory than the cap.
    """
    try:
        return _within(_scanned(pieces()), limits)
    except NotPlain:
        return _within(_parsed(pieces(), limits), limits)


def _within(parts: Iterable[pl.Series], limits: Limits) -> pl.Series:
    held: list[pl.Series] = []
    size = 0
    for part in parts:
        size += int(part.str.len_bytes().sum()) + _PREFIX_SIZE * len(part)
        if size > limits.shared_strings_bytes:
            raise FormatError(
                f"The workbook's texts take more than {limits.shared_strings_bytes // MIB:,} MiB; save it as CSV."
            )
        part = without_escapes(part)
        held.append(part.set(part == "", None) if (part == "").any() else part)
    return pl.concat(held, rechunk=True) if held else pl.Series([], dtype=pl.String)


def _scanned(pieces: Iterable[bytes]) -> Iterator[pl.Series]:
    """Plain texts, ``<si><t>…</t></si>``, by a vectorised look."""
    blocks = Blocks(pieces, b"sst", b"si")
    for block in blocks:
        if block:
            yield _scan_block(block)
    if not b"".join(blocks.rest()).strip() == b"</sst>":
        raise NotPlain


def _scan_block(block: bytes) -> pl.Series:
    padded = block + PAD
    data = np.frombuffer(padded, np.uint8)
    words = np.ndarray((len(block) + 40,), "<u8", padded, 0, (1,))
    tags = np.flatnonzero(data == ord("<"))
    if b"\r" in block or b"]]>" in block or len(tags) % 4 or not len(tags):
        raise NotPlain
    item, start, stop, end = tags.reshape(-1, 4).T
    has_space = data[start + 2] == ord(" ")
    opened = words[start] & np.uint64((1 << 24) - 1)
    require(
        (words[item] & np.uint64((1 << 32) - 1)) == packed(b"<si>"),
        start == item + 4,
        (opened == packed(b"<t>")) | (opened == packed(b"<t ")),
        ~has_space | ((words[start + 2] == packed(b" xml:spa")) & (data[start + 23] == ord(">"))),
        (words[stop] & np.uint64((1 << 32) - 1)) == packed(b"</t>"),
        end == stop + 4,
        (words[end] & np.uint64((1 << 40) - 1)) == packed(b"</si>"),
    )
    return texts(padded, start + np.where(has_space, 24, 3), stop, b"&" in block)


def _parsed(pieces: Iterable[bytes], limits: Limits) -> Iterator[pl.Series]:
    """Texts of any form, by an XML parser."""
    parts = _Parts(limits)
    for _ in parse_xml(pieces, parts.start, parts.end, parts.characters, "The workbook's part of shared strings"):
        if len(parts.texts) >= _BLOCK or parts.size >= _BLOCK_BYTES:
            yield parts.take()
    yield parts.take()


class _Parts:
    """Collects texts from an XML parser's events."""

    def __init__(self, limits: Limits) -> None:
        self.texts: list[str] = []
        self.size = 0
        self._limits = limits
        self._own_size = 0
        self._text: list[str] = []
        self._is_text = False
        self._phonetic = 0

    def take(self) -> pl.Series:
        taken, self.texts, self.size = pl.Series(self.texts, dtype=pl.String), [], 0
        return taken

    def start(self, tag: str, _: dict[str, str]) -> None:
        name = local_name(tag)
        if name == "si":
            self._text, self._own_size = [], 0
        elif name == "rPh":
            self._phonetic += 1
        self._is_text = name == "t" and not self._phonetic

    def characters(self, text: str) -> None:
        if self._is_text:
            self.size += len(text)
            self._own_size += len(text)
            if self._own_size > self._limits.record_bytes:
                raise FormatError(f"A text of the workbook is larger than {self._limits.record_bytes // MIB} MiB.")
            self._text.append(text)

    def end(self, tag: str) -> None:
        name = local_name(tag)
        self._is_text = False
        if name == "rPh":
            self._phonetic -= 1
        elif name == "si":
            self.texts.append("".join(self._text))
