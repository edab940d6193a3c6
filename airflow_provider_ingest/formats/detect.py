"""What a file is, by its first bytes: never by its name."""

from __future__ import annotations

import codecs
import json
import re
import zlib
from dataclasses import dataclass
from typing import Literal

from airflow_provider_ingest.exceptions import UnsupportedFile
from airflow_provider_ingest.formats.compression import compression_of
from airflow_provider_ingest.formats.encoding import control_bytes, is_binary, wide_encoding

HEAD_BYTES = 256 * 1024
"""How much of a file detection looks at; fewer bytes do for all but odd ones."""

Compression = Literal["gzip", "zip", "zstd"]
FormatName = Literal["csv", "xlsx", "json", "ndjson", "parquet", "arrow"]
FORMATS: tuple[FormatName, ...] = ("csv", "xlsx", "json", "ndjson", "parquet", "arrow")


@dataclass(frozen=True, slots=True)
class Format:
    """A recognised format; ``csv`` stands for text with any delimiter.

    >>> str(Format("csv", "gzip"))
    'csv (gzip)'
    """

    name: FormatName
    compression: Compression | None = None

    def __str__(self) -> str:
        return f"{self.name} ({self.compression})" if self.compression else self.name


def detect_format(head: bytes, name: str | None = None) -> Format:
    """The format of a file.

    :param head: its first bytes, :data:`HEAD_BYTES` at most needed.
    :param name: the file's name; only for the message of the error.
    :raises UnsupportedFile: (415) for content that is none of the supported formats.

    >>> detect_format(b'[{"id": 1}]')
    Format(name='json', compression=None)
    """
    head = head[:HEAD_BYTES]
    compression = compression_of(head)
    if compression is None:
        return Format(_plain(head, name))
    if compression == "zip" and _is_workbook(head):
        return Format("xlsx")
    if head[30:38] == b"mimetype" and b"opendocument" in head[:200]:
        raise UnsupportedFile(f"{_called(name)} is an OpenDocument file; save it as .xlsx. {_SUPPORTED}")
    inner = {"gzip": _gzip_head, "zstd": _zstd_head, "zip": _zip_head}[compression](head)
    if compression_of(inner) is not None and not _is_workbook(inner):
        raise UnsupportedFile(f"{_called(name)} is compressed more than once; one layer is read.")
    return Format("xlsx" if _is_workbook(inner) else _plain(inner, name), compression)


_BINARY: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x7fELF", "a program"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or other Office document; save it as .xlsx"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"BZh", "a bzip2 file; use gzip, zip or zstd"),
    (b"\xfd7zXZ\x00", "an xz file; use gzip, zip or zstd"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"Obj\x01", "an Avro file"),
    (b"ORC", "an ORC file"),
)

BLANKS = b" \t\r\n"

_MARKUP = re.compile(rb"\s*<(!doctype\s+html|html[\s>]|\?xml\s|!doctype\s)", re.IGNORECASE)


def _plain(head: bytes, name: str | None) -> FormatName:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1\x00\x00") or _is_arrow_stream(head):
        return "arrow"
    for magic, what in _BINARY:
        if head.startswith(magic) and (not magic.isalpha() or control_bytes(head) > 0):
            raise UnsupportedFile(f"{_called(name)} is {what}. {_SUPPORTED}")
    if head[257:262] == b"ustar":
        raise UnsupportedFile(f"{_called(name)} is a tar archive. {_SUPPORTED}")
    wide = wide_encoding(head)
    if wide:
        head = head[wide[1] :].decode(wide[0], "ignore").encode()
    text = head.removeprefix(codecs.BOM_UTF8)
    if _MARKUP.match(text):
        raise UnsupportedFile(f"{_called(name)} is an HTML or XML page. {_SUPPORTED}")
    if is_binary(head):
        raise UnsupportedFile(f"{_called(name)} is not text. {_SUPPORTED}")
    return _text(text.lstrip(BLANKS))


def _is_arrow_stream(head: bytes) -> bool:
    """A continuation mark, then the length of a schema message, which is a multiple of eight."""
    size = int.from_bytes(head[4:8], "little")
    return head.startswith(b"\xff\xff\xff\xff") and len(head) > 8 and size % 8 == 0 and 0 < size < 1 << 24


_SUPPORTED = "Supported are CSV, XLSX, JSON, NDJSON and Parquet, also in gzip, zip or zstd."


def _called(name: str | None) -> str:
    return f'"{name}"' if name else "The file"


_ARRAY_START = re.compile(rb'\[\s*([\[\]{"\d-]|true\b|false\b|null\b|$)')
_OBJECT_START = re.compile(rb'\{\s*(["}]|$)')


def _text(text: bytes) -> FormatName:
    """JSON, NDJSON or CSV, from text without mark and leading blanks."""
    if _ARRAY_START.match(text):
        return "json" if _goes_on_as_array(text) else "csv"
    if _OBJECT_START.match(text):
        return _objects(text)
    return "csv"


def _goes_on_as_array(text: bytes) -> bool:
    """Whether the first element, as far as it is in the head, is one of a JSON array."""
    content = text[1:].lstrip().decode("utf-8", "replace")
    if content[:1] in ("{", "]", ""):
        return True
    try:
        _, end = json.JSONDecoder().raw_decode(content)
    except ValueError:
        return content[0] == "[" or "\n" not in content
    except RecursionError:
        return True
    rest = content[end:].lstrip()
    return not rest or rest[0] == "," or not rest.lstrip("]").strip()


def _objects(text: bytes) -> FormatName:
    """One object a line is NDJSON; one object over many lines is a JSON document, which is refused later."""
    first, newline, rest = text.partition(b"\n")
    try:
        json.loads(first)
    except RecursionError:
        return "ndjson"
    except ValueError:
        if not newline:
            return "ndjson"  # a line longer than the head
        following = rest.lstrip()[:1]
        if following in (b"{", b""):
            return "ndjson"  # the first line is a broken row
        return "json" if following in (b'"', b"}", b"[", b"]", b",", b":") else "csv"
    return "ndjson"


def _is_workbook(head: bytes) -> bool:
    """A ZIP container whose first entries are those of an XLSX workbook."""
    if not head.startswith(b"PK\x03\x04"):
        return False
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if not name.startswith((b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", b"customXml/")):
        return False
    return b"word/document.xml" not in head and b"ppt/presentation.xml" not in head


def _gzip_head(head: bytes) -> bytes:
    return _inflate(zlib.decompressobj(wbits=31), head)


def _zip_head(head: bytes) -> bytes:
    """The first bytes of the first member that is a file."""
    at = 0
    while head[at : at + 4] == b"PK\x03\x04":
        name_size = int.from_bytes(head[at + 26 : at + 28], "little")
        extra_size = int.from_bytes(head[at + 28 : at + 30], "little")
        start = at + 30 + name_size + extra_size
        name = head[at + 30 : at + 30 + name_size]
        size = int.from_bytes(head[at + 18 : at + 22], "little")
        if not name.endswith(b"/"):
            method = int.from_bytes(head[at + 8 : at + 10], "little")
            if method == 8:
                return _inflate(zlib.decompressobj(wbits=-15), head[start:])
            return head[start : start + size] if method == 0 and size else b""
        at = start + size
    return b""


def _inflate(inflater: zlib._Decompress, data: bytes) -> bytes:
    try:
        return inflater.decompress(data, HEAD_BYTES)
    except zlib.error:
        return b""


def _zstd_head(head: bytes) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(head) as reader:
            return reader.read(HEAD_BYTES)
    except zstandard.ZstdError:
        return b""
