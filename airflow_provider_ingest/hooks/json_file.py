"""JSON: a file that holds one top-level array, each element a row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.hooks.base import Stream
from airflow_provider_ingest.hooks.filesystem import FilesystemHook

_SHAPES = {
    b"{": "one object at the top (is it NDJSON? then use a FILESYSTEM source)",
    b'"': "a text at the top",
    b"<": "markup",
}
_BOM = b"\xef\xbb\xbf"
_COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd")


class JsonFileHook(FilesystemHook):
    """Reads a JSON file of a disk; what does not begin as an array is refused before it is copied."""

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """Open the file and look at its first character."""
        with super().open() as stream:
            first = next(stream.blocks, b"")
            check_array(first)
            yield Stream(name=stream.name, blocks=_chain(first, stream.blocks), size=stream.size, facts=stream.facts)


def check_array(head: bytes) -> None:
    """Raise :class:`FormatError` unless the file may be a JSON array (compressed files are looked at later)."""
    if head.startswith(_COMPRESSED) or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return
    text = head.removeprefix(_BOM).lstrip(b" \t\r\n")
    if text.startswith(b"["):
        return
    found = _SHAPES.get(text[:1], "something else") if text else "an empty file"
    raise FormatError(f"A JSON source holds one top-level array ('[' … ']'), found {found}.")


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest
