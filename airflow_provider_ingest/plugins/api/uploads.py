"""Taking in files and bodies: streamed, capped while they stream, and nothing left behind when they break off."""

from __future__ import annotations

import time
from asyncio import wrap_future
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import orjson
from anyio.to_thread import run_sync
from fastapi import Request
from pydantic import BaseModel, ValidationError

from airflow_provider_ingest import bootstrap
from airflow_provider_ingest.exceptions import InvalidParameter, UnsupportedFile, UploadTooLarge
from airflow_provider_ingest.formats.detect import HEAD_BYTES, detect_format
from airflow_provider_ingest.importers.suggestions import did_you_mean
from airflow_provider_ingest.plugins.api.multipart import FILE, MultipartForm, invalid
from airflow_provider_ingest.plugins.api.problems import validation_errors
from airflow_provider_ingest.service import StagedUpload
from airflow_provider_ingest.settings import load_settings

BLOCK = 1024 * 1024
"""Bytes that are gathered before a thread writes them."""

MAX_OVERHEAD = 64 * 1024
"""What a multipart body may have beside its file."""

MAX_JSON = 64 * 1024
"""Longest JSON body."""

LINGER_BYTES = 16 * 1024 * 1024
LINGER_SECONDS = 5.0
"""How much of a refused body is still read, so that the client gets to see the answer."""

BOOLEANS = {"1": True, "true": True, "0": False, "false": False}


@dataclass(slots=True, kw_only=True)
class Form:
    """A form that has arrived: its file in the staging area, its other fields."""

    upload: StagedUpload
    fields: dict[str, str] = field(default_factory=dict)

    def flag(self, name: str) -> bool:
        """A Boolean field; raises :class:`InvalidParameter` unless it is absent, 1, true, 0 or false."""
        value = self.fields.get(name, "0")
        if value.lower() not in BOOLEANS:
            raise invalid(name, f"{name} is 1, true, 0 or false.")
        return BOOLEANS[value.lower()]


class StagingSink:
    """Writes the file of a form into the staging area, after a look at its first bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._staging = bootstrap.staging()
        self._max_bytes = max_bytes
        self._upload: Any = None
        self._head: bytes | None = b""
        self.format: str | None = None
        self.name = FILE

    def open(self, name: str) -> None:
        """Begin the file in the staging area."""
        self.name = _client_name(name) or FILE
        self._upload = self._staging.receive(name, max_bytes=self._max_bytes)
        self._upload.__enter__()

    def write(self, block: bytes) -> None:
        """Look at the head, then write."""
        if self._head is not None:
            self._head += block
            if len(self._head) < HEAD_BYTES:
                return
            block, self._head = self._head, None
            self._look(block[:HEAD_BYTES])
        self._upload.write(block)

    def close(self) -> None:
        """Complete the file."""
        if self._head is not None:
            head, self._head = self._head, None
            self._look(head)
            self._upload.write(head)
        self._upload.__exit__(None, None, None)

    @property
    def staged(self) -> StagedUpload:
        """The complete file."""
        stored = self._upload.stored
        return StagedUpload(
            ref=stored.reference, name=self.name, size=stored.size, sha256=stored.sha256, format=self.format
        )

    def discard(self, error: BaseException | None) -> None:
        """Leave nothing behind, whether the file was complete or not."""
        if self._upload is None:
            return
        if hasattr(self._upload, "stored"):
            self._staging.remove(self._upload.stored.reference)
        else:
            self._upload.__exit__(type(error), error, None)

    def _look(self, head: bytes) -> None:
        if not head:
            raise UnsupportedFile("The file is empty.")
        self.format = str(detect_format(head, self.name))


@asynccontextmanager
async def received_form(request: Request, *flags: str) -> AsyncIterator[Form]:
    """The form of a request, its file staged; the file goes away again if the block raises.

    :param flags: the fields that count beside its file. Others are left alone, as forms of browsers have them, but for
        those that look like one of these: a misspelt ``dry_run`` must not start a real run.

    Raises :class:`UploadTooLarge`, :class:`UnsupportedFile` or :class:`InvalidParameter` as soon as that shows.
    """
    max_bytes = load_settings().max_upload_bytes
    sink = StagingSink(max_bytes)
    body = request.stream()
    try:
        if _declared_length(request) > max_bytes + MAX_OVERHEAD:
            raise UploadTooLarge(f"The file is larger than the {max_bytes:,} bytes that an upload may have.")
        form = MultipartForm(request.headers.get("content-type"), sink, flags)
        await _feed(body, form)
        for name in form.fields.keys() - {*flags}:
            if meant := did_you_mean(name, flags):
                raise invalid(name, f"The form takes no field {name!r}.{meant}")
        yield Form(upload=sink.staged, fields=form.fields)
    except BaseException as error:  # whatever breaks it off, a cancelled request too, the file has to go
        with anyio.CancelScope(shield=True):
            await run_sync(sink.discard, error)
            if isinstance(error, (UploadTooLarge, UnsupportedFile, InvalidParameter)):
                await _linger(body)
        raise


async def capped_body(request: Request, most: int) -> bytes:
    """The whole body, refused as soon as it is longer than ``most`` bytes."""
    body = bytearray()
    async for block in request.stream():
        body += block
        if len(body) > most:
            raise UploadTooLarge(f"The body is longer than {most:,} bytes.")
    return bytes(body)


async def json_body(request: Request, model: type[BaseModel]) -> Any:
    """The JSON body as a ``model``, with its defaults where the body is empty.

    Read by hand, so that authentication comes before the first byte of it and its size is capped.
    """
    body = await capped_body(request, MAX_JSON)
    if not body.strip():
        return model()
    try:
        return model.model_validate(orjson.loads(body))
    except orjson.JSONDecodeError:
        raise invalid("body", "The body is no JSON.") from None
    except ValidationError as error:
        errors = validation_errors(error.errors(include_url=False, include_context=False, include_input=False))
        raise InvalidParameter("The body is malformed.", tuple(errors)) from None


async def _feed(body: AsyncIterator[bytes], form: MultipartForm) -> None:
    """Parse and write in a thread, a block of about :data:`BLOCK` bytes at a time, while the next one arrives."""
    writer = ThreadPoolExecutor(1, "ingest-upload")
    try:
        writing: Future[None] | None = None
        async for block in _gathered(body):
            if writing is not None:
                await wrap_future(writing)
            writing = writer.submit(form.feed, block)
        if writing is not None:
            await wrap_future(writing)
        await wrap_future(writer.submit(form.finish))
    finally:
        with anyio.CancelScope(shield=True):  # nothing may be written once the file is discarded
            await run_sync(writer.shutdown)


async def _gathered(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The body in larger blocks: the server brings it in pieces of the network's size."""
    blocks: list[bytes] = []
    size = 0
    async for block in body:
        blocks.append(block)
        size += len(block)
        if size >= BLOCK:
            yield b"".join(blocks)
            blocks, size = [], 0
    if blocks:
        yield b"".join(blocks)


async def _linger(body: AsyncIterator[bytes]) -> None:
    """Read on for a moment: a client that is still sending would see a reset connection instead of the answer."""
    seen, until = 0, time.monotonic() + LINGER_SECONDS
    with anyio.move_on_after(LINGER_SECONDS):
        async for block in body:
            seen += len(block)
            if seen > LINGER_BYTES or time.monotonic() > until:
                return


def _declared_length(request: Request) -> int:
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isdecimal() else 0


def _client_name(name: str) -> str | None:
    """The last part of the client's file name, at most 255 characters, without control characters."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in last if character.isprintable())[-255:] or None
