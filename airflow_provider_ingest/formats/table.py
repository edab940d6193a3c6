"""A whole file as one table, for notebooks, tests and small files."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from airflow_provider_ingest.runs.frames import LINE_NUMBER, MALFORMED, ROW_NUMBER
from airflow_provider_ingest.runs.records import ChunkPlan

_CHUNK_ROWS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All rows of a file.

    :param frame: row and line number, then the file's columns, all text.
    :param malformed: records that are no rows: row and line number, reason, raw text, and the cells that could be
        made out as a JSON object.
    :param columns: the names of the file's columns.
    :param facts: format, encoding, delimiter, …
    """

    frame: pl.DataFrame
    malformed: pl.DataFrame
    columns: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def records(self) -> list[list[Any]]:
        """Every record of the file in its order, the malformed ones as they were most probably meant.

        Those may have fewer or more cells than there are columns. The header is no record: see ``columns``, and
        ``facts["has_header"]`` of a CSV for whether the names are the file's own.
        """
        from airflow_provider_ingest.formats.csv_ragged import EXTRA

        found = {row[0]: list(row[2:]) for row in self.frame.rows()}
        for number, data in self.malformed.select(ROW_NUMBER, "data").rows():
            cells = json.loads(data or "{}")
            surplus = cells.pop(EXTRA, [])
            found[number] = [*cells.values(), *surplus]
        return [found[number] for number in sorted(found)]


def read_table(path: Any, **options: Any) -> Table:
    """Read a file of any supported format; its good and its malformed rows together are all there are.

    An empty file is an empty table.

    :param path: a path, its text, or an object-storage path.
    :param options: of the format: ``delimiter``, ``quote``, ``escape``, ``encoding``, ``header_row``, ``header_rows``,
        ``skip_rows``, ``has_header``, ``column_names``, ``on_ragged``, ``sheet``, ``format``.
    :raises FormatError: the file cannot be read as a table.
    """
    from airflow_provider_ingest import formats

    source = Path(path) if isinstance(path, str) else path
    with source.open("rb") as file:
        is_empty = not file.read(1)
    if is_empty:
        return Table(frame=_empty(()), malformed=pl.DataFrame(schema=MALFORMED), warnings=("The file is empty.",))
    with tempfile.TemporaryDirectory(prefix="ingest-") as scratch:
        plan = formats.plan_file(source, options=options, chunk_rows=_CHUNK_ROWS, scratch=Path(scratch))
        chunks = [_opened(chunk, source) for chunk in plan.chunks]
        batches = [batch for chunk in chunks for batch in formats.read_chunk(plan.reader, chunk)]
    frames = [batch.frame for batch in batches] or [_empty(plan.columns)]
    malformed = [batch.malformed for batch in batches] or [pl.DataFrame(schema=MALFORMED)]
    return Table(
        frame=pl.concat(frames),
        malformed=pl.concat(malformed),
        columns=plan.columns,
        facts=dict(plan.facts),
        warnings=plan.warnings,
    )


def _opened(chunk: ChunkPlan, source: Any) -> ChunkPlan:
    """The chunk with the path object in place of its text, which alone does not lead to an object storage."""
    if chunk.location.get("path") != str(source):
        return chunk
    return replace(chunk, location={**chunk.location, "path": source})


def _empty(columns: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame(schema={ROW_NUMBER: pl.Int64, LINE_NUMBER: pl.Int64, **dict.fromkeys(columns, pl.String)})
