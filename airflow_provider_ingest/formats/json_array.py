"""JSON arrays: one top-level array, read in blocks cut at the borders of its elements.

A block is cut where a guess says that an element ends. The parser itself proves the guess: a prefix of a JSON
array that parses with a bracket added can only have been cut between two elements. Where the guess was wrong, a
vectorised scan that knows strings and depth finds the border.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
import polars as pl

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import plan_frames
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.formats.limits import LIMITS, MIB, Limits
from airflow_provider_ingest.formats.rows import Malformed, RowFrames, collection_paused
from airflow_provider_ingest.formats.values import NumberText

BLOCK = MIB
BLANKS = b" \t\r\n"
BOM = b"\xef\xbb\xbf"

_decoder = msgspec.json.Decoder(float_hook=NumberText)
decode = _decoder.decode
"""Parse JSON text; numbers with a fraction or an exponent stay as they are written."""

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def plan_json(
    stream: Any, *, chunk_rows: int, scratch: Any, facts: Mapping[str, Any], limits: Limits = LIMITS
) -> FilePlan:
    """Stream a JSON array into chunk files.

    Row and line number are both the element's position, from 1. An element that is no object is a malformed
    row; a file that is not one array, or is not JSON somewhere, is refused with the byte position.

    :param stream: binary, only read from start to end.
    """
    frames = RowFrames(limits=limits)

    def produced() -> Iterator[pl.DataFrame]:
        first = 1
        for elements in ArrayReader(stream, limits).blocks():
            numbers = range(first, first + len(elements))
            yield from frames.frames(elements, numbers, numbers)
            first += len(elements)

    with collection_paused():
        return plan_frames(produced(), frames, chunk_rows=chunk_rows, scratch=scratch, facts=facts)


class ArrayReader:
    """Reads the elements of one top-level array in blocks of about 1 MiB of text."""

    def __init__(self, stream: Any, limits: Limits = LIMITS) -> None:
        self._stream = stream
        self._limits = limits
        self._buffer = b""
        self._position = 0  # of the buffer's first byte in the file
        self._elements = 0

    def blocks(self) -> Iterator[list[Any]]:
        """Elements in file order; :class:`Malformed` where one cannot be represented."""
        self._open_array()
        block = BLOCK
        while True:
            data = self._stream.read(block)
            self._buffer += data
            if not data:
                break
            found = self._take()
            if found is None:
                check_record(self._buffer, f"Element {self._elements + 1:,} of the array", self._limits)
                block = max(block, len(self._buffer))
                continue
            block = BLOCK
            self._elements += len(found)
            yield found
        found = self._close_array()
        if found:
            yield found

    def _open_array(self) -> None:
        head = self._stream.read(BLOCK)
        text = head.removeprefix(BOM).lstrip(BLANKS)
        while head and not text:  # nothing but blanks so far
            self._position += len(head)
            head = self._stream.read(BLOCK)
            text = head.lstrip(BLANKS)
        if not text.startswith(b"["):
            raise FormatError(f"Expected one top-level array of objects, found {describe(text)}.")
        self._buffer = text[1:]
        self._position += len(head) - len(self._buffer)

    def _take(self) -> list[Any] | None:
        """Cut whole elements off the buffer; ``None`` if it holds no border yet."""
        guess = self._buffer.rfind(b"},") + 1
        if guess:
            try:
                found: list[Any] = decode(b"[%b]" % self._buffer[:guess])
            except DECODE_ERRORS:
                pass
            else:
                self._drop(guess + 1)
                return found
        commas, _ = borders(self._buffer)
        if not commas:
            return None
        cut = commas[-1]
        found = self._parse(self._buffer[:cut], commas[:-1])
        self._drop(cut + 1)
        return found

    def _close_array(self) -> list[Any]:
        """The elements before the closing bracket, which must be the last thing in the file.

        :raises FormatError: about what is wrong first, as if the file had been read in smaller blocks.
        """
        commas, closed = borders(self._buffer)
        if closed < 0:
            if commas:
                self._parse(self._buffer[: commas[-1]], commas[:-1])
            end = self._position + len(self._buffer)
            number = self._elements + len(commas) + 1
            raise FormatError(f"The array is not closed: the file ends at byte {end:,} inside element {number}.")
        last = self._buffer[:closed]
        found = self._parse(last, commas) if last.strip(BLANKS) or self._elements else []
        if self._buffer[closed] != ord("]"):
            number, at = self._elements + len(commas) + 1, self._position + closed
            raise FormatError(f"Element {number:,} of the array is not JSON: unexpected brace at byte {at:,}.")
        rest = self._buffer[closed + 1 :]
        if rest.strip(BLANKS):
            at = self._position + closed + 1 + len(rest) - len(rest.lstrip(BLANKS))
            raise FormatError(f"The array ends, but more follows at byte {at:,}; expected one top-level array.")
        return found

    def _drop(self, size: int) -> None:
        self._buffer = self._buffer[size:]
        self._position += size

    def _parse(self, text: bytes, commas: list[int]) -> list[Any]:
        """Parse elements whose borders are known; only if that fails one by one."""
        try:
            found: list[Any] = decode(b"[%b]" % text)
        except DECODE_ERRORS:
            pass
        else:
            if text.strip(BLANKS):
                return found
        elements: list[Any] = []
        start = 0
        for end in (*commas, len(text)):
            elements.append(self._element(text[start:end], self._elements + len(elements) + 1, self._position + start))
            start = end + 1
        return elements

    def _element(self, text: bytes, number: int, position: int) -> Any:
        try:
            return decode(text)
        except DECODE_ERRORS as error:
            reason = representable(text)
            if reason is not None:
                return Malformed(reason, text.decode(errors="replace").strip())
            start = position + len(text) - len(text.lstrip(BLANKS))
            where = f"Element {number:,} of the array, at byte {start:,}, is not JSON"
            raise FormatError(f"{where}: {explain(error, text, position)}.") from None


def check_record(text: bytes, what: str, limits: Limits) -> None:
    """Refuse a record, or as much of it as was read, that is too large or becomes much more once it is parsed.

    :raises FormatError: says so of ``what``.
    """
    if len(text) > limits.record_bytes:
        raise FormatError(f"{what} is larger than {limits.record_bytes // MIB} MiB.")
    if text.count(b"[") + text.count(b"{") > limits.record_containers:
        raise FormatError(f"{what} holds more than {limits.record_containers:,} arrays and objects.")


_SIGNIFICANT = np.zeros(256, bool)
_SIGNIFICANT[list(b",[]{}")] = True
_STEP = np.zeros(256, np.int32)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1


def borders(text: bytes) -> tuple[list[int], int]:
    """Where the commas between an array's elements are, and where the bracket that closes it (-1: not in here).

    :param text: starts inside the array, between two elements.
    """
    commas: list[int] = []
    depth = quotes = 0
    is_escaped = False
    for start in range(0, len(text), BLOCK):
        part = text[start : start + BLOCK]
        data = np.frombuffer(part, np.uint8)
        quoted = np.flatnonzero(data == 34)
        if is_escaped or b'\\"' in part:
            quoted = quoted[~escaped(data, quoted, is_escaped)]
        at = np.flatnonzero(_SIGNIFICANT[data])
        at = at[((np.searchsorted(quoted, at) + quotes) & 1) == 0]
        depths = np.cumsum(_STEP[data[at]]) + depth
        ends = np.flatnonzero(depths < 0)
        if len(ends):
            at, depths = at[: ends[0] + 1], depths[: ends[0] + 1]
        commas += (at[(depths == 0) & (data[at] == 44)] + start).tolist()
        if len(ends):
            return commas, int(at[-1]) + start
        depth = int(depths[-1]) if len(depths) else depth
        quotes += len(quoted)
        backslashes = len(part) - len(part.rstrip(b"\\"))
        is_escaped = bool((backslashes + (is_escaped and backslashes == len(part))) & 1)
    return commas, -1


def escaped(data: Any, quotes: Any, first: bool) -> Any:
    """Which quotes stand behind an odd number of backslashes; ``first``: the first byte is escaped from before."""
    positions = np.arange(len(data), dtype=np.int32)
    last_other = np.maximum.accumulate(np.where(data != 92, positions, -1))
    before = quotes - 1
    others = np.where(before >= 0, last_other[before], -1)
    run = before - others + np.where(others < 0, int(first), 0)
    return (run & 1) == 1


def describe(text: bytes) -> str:
    """What stands at the start of a text that is no array, in words."""
    if not text:
        return "nothing"
    if text.startswith(b"{"):
        try:
            keys = list(json.loads(text))
        except (ValueError, RecursionError):
            return "an object"
        named = ", ".join(f'"{key[:40]}"' for key in keys[:5])
        return f"an object with the keys {named}{' and more' if len(keys) > 5 else ''}" if keys else "an empty object"
    if text.startswith(b'"'):
        return "a string"
    if text[:1].isdigit() or text.startswith(b"-"):
        return "a number"
    return {b"t": "true", b"f": "false", b"n": "null"}.get(text[:1], "text that is not JSON")


def representable(text: bytes) -> str | None:
    """Why an element that has the form of JSON cannot be a row; ``None`` if it is not JSON at all."""
    try:
        json.loads(text.decode("utf-8", "surrogateescape"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    try:
        text.decode()
    except UnicodeDecodeError:
        return "is not valid UTF-8"
    return "holds half of a surrogate pair"


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def explain(error: Exception, text: bytes, position: int | None = None) -> str:
    """A parser's complaint as a part of a sentence, with the place if it is told where the text starts in the file."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not text.strip(BLANKS):
        return "there is nothing between two commas"
    if "truncated" in str(error):
        return "it ends too early"
    message = str(error).removeprefix("JSON is malformed: ")
    message, _, offset = message.rstrip(".)").partition(" (byte ")
    return f"{message} (byte {position + int(offset):,})" if position is not None and offset else message
