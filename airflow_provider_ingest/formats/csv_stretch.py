"""What the planner tells the reader of a chunk: how many records stand in how many bytes, and which are plain.

The planner has looked at every byte. Where it found nothing but regular lines, the reader can take so many bytes for
so many records without looking for them again; a wrong count or an unusual byte sends it back to the careful way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

LEAST_ROWS, LEAST_BYTES = 10_000, 4 << 20
"""A stretch is closed when it has so many records or bytes: a chunk of a million rows has about a hundred."""
FIRST_PART = 4
"""The part of a batch that the first one of a chunk is."""


@dataclass(slots=True)
class Stretches:
    """The stretches of a chunk in the making: ``[records, bytes, 1 if plain else 0]`` each."""

    found: list[list[int]] = field(default_factory=list)

    def add(self, rows: int, size: int, is_plain: bool) -> None:
        """Note the next records."""
        if not rows and not size:
            return
        last = self.found[-1] if self.found else None
        if last is not None and last[2] == is_plain and last[0] < LEAST_ROWS and last[1] < LEAST_BYTES:
            last[0] += rows
            last[1] += size
        else:
            self.found.append([rows, size, int(is_plain)])

    def end(self) -> list[list[int]]:
        """The stretches so far; the next chunk starts with none."""
        found, self.found = self.found, []
        return found


def grouped(stretches: Iterable[Sequence[int]], most_rows: int, most_bytes: int) -> Iterator[tuple[int, int, bool]]:
    """Neighbours of one kind put together, as long as they are one batch: records, bytes, whether they are plain.

    The first batch is a small one, so that the target has something to write soon, and the next one twice as large, so
    that it is ready when that is written.
    """
    limit, most_rows = most_rows, most_rows // FIRST_PART
    rows = size = 0
    kind: bool | None = None
    for more_rows, more_size, is_plain in stretches:
        fits = rows + more_rows <= most_rows and size + more_size <= most_bytes
        if kind is not None and (kind != bool(is_plain) or not fits):
            yield rows, size, kind
            rows = size = 0
            most_rows = min(2 * most_rows, limit)
        kind = bool(is_plain)
        rows, size = rows + more_rows, size + more_size
    if kind is not None:
        yield rows, size, kind
