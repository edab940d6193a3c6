"""What every source gives: its bytes as a stream, and the sink that takes them in."""

from __future__ import annotations

import hashlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from airflow_provider_ingest.exceptions import RunFailed, SourceError

log = logging.getLogger(__name__)

BLOCK = 1 << 20
"""Bytes moved at a time."""

PROGRESS_SECONDS = 5.0
"""How often a long transfer says how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An opened source.

    :param name: of the file, for people and for its ending.
    :param blocks: its bytes, in pieces.
    :param size: its bytes as announced; a transfer that gives another number is refused as cut.
    :param facts: what else is worth keeping on the run (never secrets).
    """

    name: str
    blocks: Iterator[bytes]
    size: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class Sink:
    """Takes in a file: counts, caps, hashes, and tells the log how far it is.

    :param file: a binary file open for writing, closed at the end; ``None`` only counts and hashes.
    :param max_bytes: a file above it is refused as soon as that shows.
    """

    def __init__(self, file: BinaryIO | None, *, max_bytes: int) -> None:
        self.size = 0
        self._file = file
        self._max_bytes = max_bytes
        self._digest = hashlib.sha256()
        self._told = time.monotonic()

    def write(self, block: bytes) -> None:
        """Append a block."""
        self.size += len(block)
        if self.size > self._max_bytes:
            raise SourceError(
                f"The file is larger than the {self._max_bytes:,} bytes that [ingest] max_source_bytes allows."
            )
        if self._file is not None:
            self._file.write(block)
        self._digest.update(block)
        if time.monotonic() - self._told > PROGRESS_SECONDS:
            self._told = time.monotonic()
            log.info("Fetched %s bytes so far", f"{self.size:,}")

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def sha256(self) -> str:
        """SHA-256 of what was written."""
        return self._digest.hexdigest()


class SourceHook(ABC):
    """A source of one kind, ready to be read once.

    A subclass opens the stream; copying, counting and the check for a cut transfer are the same for all.
    """

    @abstractmethod
    def open(self) -> AbstractContextManager[Stream]:
        """Open the source; raises :class:`SourceError`, retryable where waiting may help."""

    def fetch(self, sink: Sink) -> Stream:
        """Copy the whole file into ``sink`` with flat memory, and return what is known about it."""
        with self.open() as stream:
            try:
                for block in stream.blocks:
                    sink.write(block)
            except RunFailed:
                raise
            except OSError as error:
                raise SourceError(
                    f"{stream.name}: the transfer broke off after {sink.size:,} bytes ({type(error).__name__}).",
                    retryable=True,
                ) from error
        if stream.size is not None and sink.size != stream.size:
            raise SourceError(
                f"{stream.name}: {stream.size:,} bytes were announced, {sink.size:,} came: it was cut.",
                retryable=True,
            )
        return stream

    def test_connection(self) -> tuple[bool, str]:
        """Whether the source can be opened, and what hinders; as Airflow's connection test wants it."""
        try:
            with self.open() as stream:
                return True, f"{stream.name} can be read."
        except RunFailed as error:
            return False, str(error)
