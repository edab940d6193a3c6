"""A part of the rows of a batch that stand in the temporary table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import polars as pl

from airflow_provider_ingest.targets.statements import POSITION, TURN


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows of the first turn between two positions, both included.

    :param positions: of all rows of the first turn, ascending.
    """

    positions: pl.Series
    low: int
    high: int

    @property
    def where(self) -> str:
        """The condition for its staged rows."""
        return f"b.{TURN} = 1 AND b.{POSITION} BETWEEN {self.low} AND {self.high}"

    @property
    def halves(self) -> tuple[Stretch, Stretch]:
        """Two stretches of half the length."""
        middle = (self.low + self.high) // 2
        return replace(self, high=middle), replace(self, low=middle + 1)

    def count(self, refused: Collection[int]) -> int:
        """How many of its rows are not among the refused ones, which spares the database the question."""
        inside = self.positions.filter(self.positions.is_between(self.low, self.high))
        return inside.len() - int(inside.is_in(list(refused)).sum() if refused else 0)
