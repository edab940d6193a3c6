"""Counts of rows: what a chunk reports and what a run shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


def in_rows(count: int) -> str:
    """A number of rows in words.

    >>> in_rows(1), in_rows(1234)
    ('1 row', '1,234 rows')
    """
    return f"{count:,} row{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many rows came to which end.

    Counts are derived from the recorded chunk results by adding them up, never incremented.
    """

    created: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0

    @property
    def successful(self) -> int:
        """Rows that were written or skipped on purpose."""
        return self.created + self.updated + self.skipped

    @property
    def processed(self) -> int:
        """Rows that came to any end."""
        return self.successful + self.failed

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            created=self.created + other.created,
            updated=self.updated + other.updated,
            skipped=self.skipped + other.skipped,
            failed=self.failed + other.failed,
        )

    def to_dict(self) -> dict[str, int]:
        """The counts as a JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Counts:
        """The inverse of :meth:`to_dict`; other keys are ignored."""
        return cls(**{name: int(data.get(name) or 0) for name in ("created", "updated", "skipped", "failed")})

    @classmethod
    def total(cls, parts: Iterable[Counts]) -> Counts:
        """The sum of all parts."""
        result = cls()
        for part in parts:
            result = result + part
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A run's counts against its number of rows; ``total`` is 0 until the run is planned."""

    total: int = 0
    counts: Counts = Counts()
    is_terminal: bool = False

    @property
    def unprocessed(self) -> int:
        """Rows that were not worked (yet, or never once the run has ended)."""
        return max(self.total - self.counts.processed, 0)

    @property
    def adds_up(self) -> bool:
        """Whether the ledger balances: no row is counted twice or beyond the total."""
        return self.counts.processed <= self.total

    def to_dict(self) -> dict[str, int]:
        """The ``progress`` member of a run resource."""
        return {
            "total": self.total,
            "processed": self.counts.processed,
            "successful": self.counts.successful,
            **self.counts.to_dict(),
            "unprocessed": self.unprocessed,
        }
