"""How many rows a chunk holds, and why."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_provider_ingest.runs.events import overrides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.importers.mapping import Mapping
    from airflow_provider_ingest.importers.nested import NestedConfig

SMALLEST = 250_000
"""Rows of the smallest automatic chunk: below, the task costs more than its work."""

TOO_SMALL = "smaller ones would take longer: each is a task of its own"
"""Why a chunk of so many rows is not divided."""

ROW_WISE_SHARE = 5
"""Chunks whose rows go through a user's Python one by one take so many times as long, and hold so much less."""

MOST_CHUNKS = 1_000
"""Chunks of one run; Airflow refuses to map over more than ``[core] max_map_length`` (1,024)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSize:
    """Rows per chunk, and the rule that gave them.

    :param rule: one sentence, shown with the run.
    """

    rows: int
    rule: str


def slots_of(parallelism: int, executor: str, limit: int | None = None) -> int:
    """How many chunks of a run can work at once, and all get on.

    With the LocalExecutor they share the cores of this machine: more chunks than cores only cost more starts.

    >>> slots_of(64, "CeleryExecutor", limit=8)
    8

    :param parallelism: ``[core] parallelism``.
    :param executor: ``[core] executor``.
    :param limit: ``max_active_tis_per_dagrun``, where it is given.
    """
    most = min(parallelism, limit or MOST_CHUNKS)
    return min(most, _cores()) if executor == "LocalExecutor" else most


def _cores() -> int:
    """Cores that this process may use, where the system tells; macOS does not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chunk_size(declared: int | None, most: int, *, rows: int, slots: int, row_wise: str | None = None) -> ChunkSize:
    """Rows per chunk: as the importer declares, else enough chunks for the slots, each neither small nor huge.

    Never so few that more than :data:`MOST_CHUNKS` chunks would come.

    >>> chunk_size(None, 1_000_000, rows=90_000, slots=4).rows
    250000
    >>> chunk_size(None, 1_000_000, rows=2_000_000, slots=4).rows
    500000
    >>> chunk_size(None, 1_000_000, rows=2_000_000, slots=4, row_wise="on_row_processed").rows
    200000
    >>> chunk_size(1_000, 1_000_000, rows=5_000_000, slots=4)
    ChunkSize(rows=5000, rule='at most 1,000 chunks in a run')

    :param declared: by the importer.
    :param most: rows of an automatic chunk, at most (``[ingest] chunk_size``).
    :param rows: how many rows there are, about.
    :param slots: how many chunks may work at once.
    :param row_wise: what of the importer is called for each row, if anything is.
    """
    fewest = -(-rows // MOST_CHUNKS)
    if declared is not None:
        size, rule = declared, "chunk_size() of the importer"
    else:
        smallest, largest = SMALLEST, most
        if row_wise:
            smallest, largest = SMALLEST // ROW_WISE_SHARE, max(most // ROW_WISE_SHARE, 1)
        share = -(-rows // max(slots, 1))
        size = min(max(share, smallest), largest)
        shared = f"one for each of {slots} slots" if size == share else TOO_SMALL
        rule = "[ingest] chunk_size" if size == largest else shared
        rule += f"; less since {row_wise} runs for each row" if row_wise else ""
    if fewest > size:
        return ChunkSize(rows=fewest, rule=f"at most {MOST_CHUNKS:,} chunks in a run")
    return ChunkSize(rows=size, rule=rule)


def row_wise_python(config: IngestConfig) -> str | None:
    """What of the importer is a user's Python that sees each row; ``None`` where columns are worked whole.

    Python that sees a value alone runs once for each distinct one, and does not count.
    """
    if any(overrides(handler, "on_row_processed") for handler in config.handlers):
        return "on_row_processed"
    for mapping in _mappings(config):
        if callable(mapping.condition):
            return f"the condition of {mapping.attribute}"
        for step in (*mapping.transformers, *mapping.validators):
            if getattr(step, "uses_row", False):
                return step.name
    return None


def _mappings(config: IngestConfig | NestedConfig) -> Iterator[Mapping]:
    yield from config.mappings
    for nested in config.nested:
        yield from _mappings(nested)


def estimated_rows(head: bytes, size: int) -> int:
    r"""About how many lines a file of ``size`` bytes has, from its beginning; 0 for what is no text.

    >>> estimated_rows(b"a,b\n1,2\n", 8_000_000)
    2000000
    """
    lines = max(head.count(b"\n"), head.count(b"\r"))
    return 0 if not lines or b"\0" in head else size * lines // len(head)
