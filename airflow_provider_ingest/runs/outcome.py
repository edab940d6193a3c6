"""What a chunk did: the document that is its commit marker in the target and its record in the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from airflow_provider_ingest.runs.progress import Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCount:
    """How often a message occurred among the failed rows of a chunk.

    :param field: the field of a validation message, ``None`` for a general one.
    """

    message: str
    count: int
    field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOutcome:
    """The result of one chunk, complete enough to be reported again from its marker alone.

    :param errors: the error summary of the chunk: each failed row counts once among the general
        messages (``field`` is ``None``) and once per (field, message).
    :param warnings: sentences for the run's summary.
    :param duration: seconds of work.
    """

    counts: Counts
    errors: tuple[ErrorCount, ...] = ()
    warnings: tuple[str, ...] = ()
    duration: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The outcome as a JSON object."""
        return {
            "counts": self.counts.to_dict(),
            "errors": [[error.field, error.message, error.count] for error in self.errors],
            "warnings": list(self.warnings),
            "duration": self.duration,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ChunkOutcome:
        """The inverse of :meth:`to_dict`."""
        return cls(
            counts=Counts.from_dict(data["counts"]),
            errors=tuple(ErrorCount(field=f, message=m, count=c) for f, m, c in data.get("errors", ())),
            warnings=tuple(data.get("warnings", ())),
            duration=float(data.get("duration", 0.0)),
        )


def merge_errors(parts: Iterable[ErrorCount]) -> tuple[ErrorCount, ...]:
    """Equal messages of equal fields added up, most frequent first."""
    totals: dict[tuple[str | None, str], int] = {}
    for part in parts:
        key = (part.field, part.message)
        totals[key] = totals.get(key, 0) + part.count
    ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1]))
    return tuple(ErrorCount(field=field, message=message, count=count) for (field, message), count in ordered)
