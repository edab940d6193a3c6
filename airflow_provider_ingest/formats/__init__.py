"""How files become frames: detect, plan, read; rows leave as text columns with their row and line numbers.

Light to import: what reads a format is loaded when a file of it turns up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_ingest.formats.contract import FilePlan
    from airflow_provider_ingest.formats.detect import Format
    from airflow_provider_ingest.formats.rows import Malformed
    from airflow_provider_ingest.formats.table import read_table as read_table
    from airflow_provider_ingest.runs.frames import RowBatch
    from airflow_provider_ingest.runs.records import ChunkPlan

__all__ = ["detect_format", "plan_file", "plan_rows", "read_chunk", "read_table"]


def detect_format(head: bytes, name: str | None = None) -> Format:
    """What a file is, by its first bytes (256 KiB at most are looked at).

    :param name: only for the message of the error.
    :raises UnsupportedFile: (415) for content that is none of the supported formats.
    """
    from airflow_provider_ingest.formats.detect import detect_format as detect

    return detect(head, name)


def plan_file(path: Any, *, options: Mapping[str, Any], chunk_rows: int, scratch: Any) -> FilePlan:
    """Detect a file's format by content and cut it into chunks.

    :param path: a ``pathlib.Path`` or an object-storage path.
    :param options: ``format``, ``sheet``, ``header_row``, ``delimiter``, …; they overrule what is found.
    :param chunk_rows: records of a chunk.
    :param scratch: directory of the same kind, for chunk files of what cannot be cut in place. It must
        live until the last chunk has been read.
    :raises UnsupportedFile: the content is in none of the supported formats.
    :raises FormatError: the file is damaged, hostile or of a shape that is no table.
    """
    from airflow_provider_ingest.formats.plan import plan_any_file

    return plan_any_file(path, options=options, chunk_rows=chunk_rows, scratch=scratch)


def plan_rows(
    rows: Iterable[Mapping[str, Any] | Malformed],
    *,
    columns: Iterable[str] | None = None,
    chunk_rows: int,
    scratch: Any,
) -> FilePlan:
    """Stream rows of a custom source, or of a retry, into chunk files.

    A row may carry its original numbers under ``_row_number`` and ``_line_number``; else rows are counted from 1. A
    record that is known to be no row is given as :class:`~airflow_provider_ingest.formats.rows.Malformed`.

    :param columns: columns that come first, in this order; more may turn up in the rows.
    """
    from airflow_provider_ingest.formats.plan import plan_mappings

    return plan_mappings(rows, columns=columns, chunk_rows=chunk_rows, scratch=scratch)


def read_chunk(reader: Mapping[str, Any], chunk: ChunkPlan, *, batch_rows: int = 80_000) -> Iterator[RowBatch]:
    """The rows of one chunk in batches.

    :param reader: of the :class:`FilePlan` that the chunk belongs to. :param chunk: its ``location["path"]`` is the
        text of a local path, or a path object: object storage needs the latter.
    """
    if reader["format"] == "csv":
        from airflow_provider_ingest.formats.csv import read_csv_chunk

        return read_csv_chunk(reader, chunk, batch_rows=batch_rows)
    if reader["format"] == "parquet":
        from airflow_provider_ingest.formats.parquet import read_parquet_chunk

        return read_parquet_chunk(reader, chunk, batch_rows=batch_rows)
    from airflow_provider_ingest.formats.arrow import read_chunk_file

    return read_chunk_file(reader, chunk, batch_rows=batch_rows)


def __getattr__(name: str) -> Any:
    if name == "read_table":
        from airflow_provider_ingest.formats.table import read_table

        return read_table
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
