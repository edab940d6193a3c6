"""How many rows a chunk holds."""

from __future__ import annotations

SMALLEST = 250_000
"""Rows of the smallest automatic chunk: below, the task costs more than its work."""

MOST_CHUNKS = 1_000
"""Chunks of one run; Airflow refuses to map over more than ``[core] max_map_length`` (1,024)."""


def chunk_rows(declared: int | None, most: int, *, rows: int, slots: int) -> int:
    """Rows per chunk: as the importer declares, else enough chunks for the slots, each neither small nor huge.

    Never so few that more than :data:`MOST_CHUNKS` chunks would come.

    >>> chunk_rows(None, 1_000_000, rows=90_000, slots=4), chunk_rows(None, 1_000_000, rows=2_000_000, slots=4)
    (250000, 500000)
    >>> chunk_rows(1_000, 1_000_000, rows=5_000_000, slots=4)
    5000

    :param declared: by the importer.
    :param most: rows of an automatic chunk, at most (``[ingest] chunk_size``).
    :param rows: how many rows there are, about.
    :param slots: how many chunks may work at once.
    """
    size = declared or min(max(-(-rows // max(slots, 1)), SMALLEST), most)
    return max(size, -(-rows // MOST_CHUNKS))


def estimated_rows(head: bytes, size: int) -> int:
    r"""About how many lines a file of ``size`` bytes has, from its beginning; 0 for what is no text.

    >>> estimated_rows(b"a,b\n1,2\n", 8_000_000)
    2000000
    """
    lines = max(head.count(b"\n"), head.count(b"\r"))
    return 0 if not lines or b"\0" in head else size * lines // len(head)
