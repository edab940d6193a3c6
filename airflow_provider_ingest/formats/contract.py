"""What every format gives: facts about the file, chunks of it, and the rows of a chunk in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from airflow_provider_ingest.runs.frames import Kind, RowBatch
from airflow_provider_ingest.runs.records import ChunkPlan

BATCH_ROWS = 80_000
"""Rows of a batch inside a chunk: memory stays flat whatever the chunk's size."""


class Storage(Protocol):
    """A file that can be read from any position: a local path or an object-storage path."""

    def open(self, mode: str = "rb") -> Any:
        """A seekable binary file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """A file as planned.

    :param columns: the header's names in order, made unique.
    :param kinds: of the columns that are not text.
    :param chunks: in order, without gaps.
    :param reader: JSON facts a chunk's reader needs (dialect, encoding, which reader); the same for all chunks.
    :param facts: what people are shown: format, encoding, delimiter, sheet, …
    :param warnings: sentences: a repeated header name got a suffix, …
    """

    columns: tuple[str, ...]
    chunks: Sequence[ChunkPlan]
    reader: Mapping[str, Any]
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of records, malformed ones included."""
        return sum(chunk.rows for chunk in self.chunks)


class Planner(Protocol):
    """``formats.plan_file``: detect the format by content, cut the file into chunks.

    Signature of the public functions of :mod:`airflow_provider_ingest.formats`::

        plan_file(path, *, options, chunk_rows, scratch) -> FilePlan
        read_chunk(plan_reader, chunk, *, batch_rows=BATCH_ROWS) -> Iterator[RowBatch]
        read_table(path, **options) -> Table(frame, malformed)

    ``path`` is a ``pathlib.Path`` or an object-storage path (both have ``open("rb")``), ``scratch`` a directory
    of the same kind that may receive Arrow IPC chunk files or a transcoded copy, for what cannot be cut in place.
    """

    def __call__(self, path: Any, *, options: Mapping[str, Any], chunk_rows: int, scratch: Any) -> FilePlan:
        """Plan the file."""


class Reader(Protocol):
    """``formats.read_chunk``: the rows of one chunk."""

    def __call__(
        self, reader: Mapping[str, Any], chunk: ChunkPlan, *, batch_rows: int = BATCH_ROWS
    ) -> Iterator[RowBatch]:
        """Yield the chunk's rows, malformed records beside them."""
