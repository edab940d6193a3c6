"""The encoding of a text file: found from its bytes, and made UTF-8 where it is something else."""

from __future__ import annotations

import codecs
import re
from typing import Any

from airflow_provider_ingest.exceptions import FormatError

SAMPLE_BYTES = 256 << 10
_WINDOW = 64 << 10
_BLOCK = 1 << 20
_FEW_CONTROLS = 4

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_WESTERN = re.compile(
    rb"(?:(?<=[A-Za-z\xc0-\xfe])|(?=.[A-Za-z\xc0-\xfe]))[\xc0-\xd6\xd8-\xf6\xf8-\xfe]"
    rb"|(?<=[\s\d(,;\t\"'A-Za-z])[\x80\x82\x84\x85\x91-\x97\xa0\xa3\xa7\xab\xb0\xb2\xb3\xb4\xb5\xb7\xbb\xbf]",
    re.DOTALL,
)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x01\x1a\x1c\x1d\x1e\x1f"))
"""Bytes that text does not have; some files use \\x01 or \\x1c to \\x1f as their delimiter, and \\x1a as their end."""

_PAIR = re.compile(rb"[\x81-\x9f\xe0-\xfc][\x40-\xfc]")


def find_encoding(head: bytes, others: tuple[bytes, ...] = ()) -> tuple[str, int]:
    """The encoding of a file and the length of its byte order mark, from samples.

    A file that is nearly UTF-8 is UTF-8: the rows that are not are malformed. Only where no sample holds a valid
    multi-byte sequence, and what is there looks like Western European letters or Japanese, another encoding is taken.

    :param head: the first bytes of the file.
    :param others: samples from further on, cut anywhere.
    :raises FormatError: the bytes are no text.
    """
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8", len(codecs.BOM_UTF8)
    wide = wide_encoding(head)
    if wide:
        return wide
    sample = b"\n".join((head, *others))
    if is_binary(sample):
        raise FormatError("The file is no text: it holds control characters as only binary files do.")
    if sample.isascii():
        return "utf-8", 0
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < SAMPLE_BYTES)
        if not others:
            return "utf-8", 0
    except UnicodeDecodeError:
        pass
    rest = _UTF8_SEQUENCE.sub(b"", sample)
    strange = sum(byte > 0x7F for byte in rest.translate(None, bytes(range(128))))
    sequences = len(_UTF8_SEQUENCE.findall(sample))
    if not strange or strange < sequences or (sequences and strange <= 3 * len(others) + 3):
        return "utf-8", 0
    if _is_shift_jis(sample):
        return "cp932", 0
    lines = sample.splitlines() or [b""]
    affected = sum(not line.isascii() for line in lines)
    in_header = not next((line for line in lines if line.strip()), b"").isascii()  # names are no row that could fail
    is_common = in_header or affected * 4 >= len(lines) - 1 or affected >= max(5, len(lines) // 100)
    if is_common and len(_WESTERN.findall(sample)) >= strange * 0.7:
        return "cp1252", 0
    return "utf-8", 0


def control_bytes(sample: bytes) -> int:
    """How many bytes text does not have."""
    return len(sample) - len(sample.translate(None, _CONTROL))


def is_binary(sample: bytes) -> bool:
    r"""Whether there are more strange bytes than the rows of a text explain.

    A few may be broken rows. More may only be of one or two kinds, as in files that write NUL for an empty field or
    have a delimiter that nobody can type, where all else is lines of text: then their rows are to say what is wrong.

    >>> is_binary(b"a,b\n1,\0\n2,\0\n3,\0\n4,\0\n5,\0\n"), is_binary(bytes(range(32)) + b"a,b\n")
    (False, True)
    """
    strange = control_bytes(sample)
    if strange * 2 > len(sample):
        return True
    if strange <= max(_FEW_CONTROLS, len(sample) // 20):
        return False
    beyond_ascii = len(sample.translate(None, bytes(range(128))))
    is_in_lines = b"\n" in sample or b"\r" in sample
    return len(set(sample) & set(_CONTROL)) > 2 or not is_in_lines or beyond_ascii * 3 > len(sample)


def wide_encoding(head: bytes) -> tuple[str, int] | None:
    """UTF-16 or UTF-32 and the length of its byte order mark, if the head looks like it.

    >>> wide_encoding("[1]".encode("utf-16-be")), wide_encoding(b"[1]")
    (('utf-16-be', 0), None)
    """
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name, len(mark)
    found = _wide(head)
    return (found, 0) if found else None


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark: text has its NULs in the same place of each unit."""
    size = len(head) // 4 * 4
    if size < 4 or head.count(b"\0") < size // 4:
        return None
    share = [head[place:size:4].count(0) / (size // 4) for place in range(4)]
    if share[0] < 0.5 and share[1] > 0.9 and share[2] > 0.9 and share[3] > 0.9:
        return "utf-32-le"
    if share[3] < 0.5 and share[0] > 0.9 and share[1] > 0.9 and share[2] > 0.9:
        return "utf-32-be"
    odd, even = (share[1] + share[3]) / 2, (share[0] + share[2]) / 2
    if odd > 0.5 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.5 and odd < 0.1 else None


def _is_shift_jis(sample: bytes) -> bool:
    """Whether it decodes as Shift-JIS into kana and everyday kanji.

    A few Western letters may do so by chance; then the second byte of nearly every pair is an ASCII letter.
    """
    try:
        codecs.getincrementaldecoder("cp932")().decode(sample)
    except UnicodeDecodeError:
        return False
    pairs = _PAIR.findall(sample)
    everyday = sum(0x81 <= pair[0] <= 0x84 or 0x88 <= pair[0] <= 0x97 for pair in pairs)
    high = sum(pair[1] >= 0x80 for pair in pairs)
    return len(pairs) >= 4 and everyday >= 0.9 * len(pairs) and high * 3 >= len(pairs)


def named_encoding(name: str) -> str:
    """The codec of an encoding that the user named; ASCII is read as UTF-8.

    :raises FormatError: Python knows no such encoding of text.
    """
    try:
        codec = codecs.lookup(name)
        "".encode(codec.name)
    except LookupError:
        raise FormatError(
            f"The encoding {name!r} is unknown: use a name as utf-8, utf-16, cp1252, latin-1 or shift_jis."
        ) from None
    return {"ascii": "utf-8", "utf-8-sig": "utf-8"}.get(codec.name, codec.name)


def samples(file: Any) -> tuple[bytes, tuple[bytes, ...]]:
    """The head of an open file, and windows from its middle and its end where it is longer."""
    head = _read(file, SAMPLE_BYTES)
    size = file.seek(0, 2)
    others = []
    for position in (size // 2, size - _WINDOW):
        if position >= len(head):
            file.seek(position)
            others.append(_whole_lines(_read(file, _WINDOW)))
    file.seek(0)
    return head, tuple(others)


def _read(file: Any, size: int) -> bytes:
    """Exactly ``size`` bytes, or all there are: a raw file may give less at a time."""
    parts = []
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _whole_lines(window: bytes) -> bytes:
    first, last = window.find(b"\n"), window.rfind(b"\n")
    return window[first + 1 : last + 1] if last > first >= 0 else b""


class Utf8Stream:
    """A stream of text in another encoding, read as UTF-8."""

    def __init__(self, stream: Any, head: bytes, encoding: str) -> None:
        """:param head: what was read from the stream already, without byte order mark."""
        self._stream = stream
        self._head = head
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="ingest_invalid")
        self._is_done = False

    def read(self, size: int) -> bytes:
        """Some bytes; none only at the end."""
        text = ""
        while not text and not self._is_done:
            block, self._head = self._head or self._stream.read(size), b""
            self._is_done = not block
            text = self._decoder.decode(block, final=self._is_done)
        return text.encode("utf-8", "surrogateescape")


def transcode(source: Any, target: Any, encoding: str, skip: int) -> None:
    """Copy an open file as UTF-8, a block at a time.

    What the encoding does not allow becomes a byte that is no UTF-8, so that its row alone is malformed.

    :param skip: bytes to leave out at the start: the byte order mark.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors="ingest_invalid")
    source.seek(skip)
    while block := source.read(_BLOCK):
        target.write(decoder.decode(block).encode("utf-8", "surrogateescape"))
    target.write(decoder.decode(b"", final=True).encode("utf-8", "surrogateescape"))


def _invalid(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\udcff", error.end


codecs.register_error("ingest_invalid", _invalid)
