"""A multipart body as it streams in: the file goes straight to its sink, small fields are kept.

Starlette's own form parsing spools files to a temporary directory first; this one holds one block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from email.message import Message
from typing import Protocol

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from airflow_provider_ingest.exceptions import InvalidParameter

MAX_FIELD = 4096
"""Longest value of a form field that is no file, in bytes."""

MAX_PARTS = 100
"""Most parts of a body."""

FILE = "file"
"""Name of the form field that holds the file."""

NO_FILE = f"The form field {FILE!r} is a text and no file: send it with a file name, with curl as -F {FILE}=@path."


class FileSink(Protocol):
    """Where the bytes of the file go."""

    def open(self, name: str) -> None:
        """The file begins; ``name`` is what the client calls it, empty if it has no name for it."""

    def write(self, block: bytes) -> None:
        """More of the file."""

    def close(self) -> None:
        """The file is complete."""


class MultipartForm:
    """Feeds a sink from the blocks of one multipart body.

    Raises :class:`InvalidParameter` for a body that is malformed, or is cut before its end.

    :param content_type: the request's header, with the boundary.
    :param counted: the fields that count beside the file, each of which may stand once only.
    """

    def __init__(self, content_type: str | None, sink: FileSink, counted: Collection[str] = ()) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise invalid(FILE, "Send the file as multipart/form-data.")
        self.fields: dict[str, str] = {}
        self.has_file = False
        self._sink = sink
        self._counted = counted
        self._parts = 0
        self._ended = False
        callbacks: dict[str, Callable[..., None]] = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._begin_data,
            "on_part_data": self._data,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }
        try:
            self._parser = MultipartParser(boundary, callbacks)  # type: ignore[arg-type]
        except FormParserError as error:
            raise invalid("body", "The multipart boundary is malformed.") from error

    def feed(self, block: bytes) -> None:
        """Parse the next block of the body."""
        try:
            self._parser.write(block)
        except FormParserError as error:
            raise invalid("body", "The multipart body is malformed.") from error

    def finish(self) -> None:
        """Raise unless the body ended with its last boundary and held a file."""
        if not self._ended:
            raise invalid("body", "The multipart body ends before its last boundary.")
        if not self.has_file:
            raise invalid(FILE, "The form has no file.")

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise invalid("body", f"A form may have at most {MAX_PARTS} parts.")
        self._headers: dict[bytes, bytes] = {}
        self._header = (b"", b"")
        self._value = b""

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        name, value = self._header
        self._header = (name + data[start:end], value)

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        name, value = self._header
        self._header = (name, value + data[start:end])

    def _end_header(self) -> None:
        name, value = self._header
        self._headers[name.lower()] = value
        self._header = (b"", b"")

    def _begin_data(self) -> None:
        disposition = self._headers.get(b"content-disposition", b"")
        _, options = parse_options_header(disposition)
        self._name = _text(options.get(b"name", b""))
        if self._name == FILE:
            if self.has_file:
                raise invalid(FILE, "Send one file at a time.")
            filename = options.get(b"filename", _encoded_name(disposition))
            if filename is None:  # what every client sends with a file, and none with a text
                raise invalid(FILE, NO_FILE)
            self.has_file = True
            self._sink.open(_text(filename))

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._name == FILE:
            self._sink.write(data[start:end])
            return
        self._value += data[start:end]
        if len(self._value) > MAX_FIELD:
            raise invalid(self._name, f"The field is longer than {MAX_FIELD} bytes.")

    def _end_part(self) -> None:
        if self._name == FILE:
            self._sink.close()
        elif self._name in self.fields and self._name in self._counted:
            raise invalid(self._name, f"The form has the field {self._name!r} twice.")
        else:
            self.fields[self._name] = _text(self._value)

    def _end(self) -> None:
        self._ended = True


def invalid(field: str, message: str) -> InvalidParameter:
    """The refusal of one field."""
    return InvalidParameter(message, ({"field": field, "message": message},))


def _encoded_name(disposition: bytes) -> bytes | None:
    """A file name that is not ASCII as clients from before RFC 7578 send it: ``filename*=utf-8''M%C3%A4rz.csv``."""
    message = Message()
    message["content-disposition"] = disposition.decode("latin-1")
    try:
        name = message.get_filename()
    except (ValueError, TypeError) as error:  # an encoding that is none, or pieces that are numbered in part
        raise invalid(FILE, "The file's name is encoded in a way that cannot be read.") from error
    return None if name is None else name.encode(errors="replace")


def _text(value: bytes) -> str:
    """UTF-8 as all clients send it, Latin-1 as some old ones do."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
