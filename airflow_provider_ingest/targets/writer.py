"""What writes the rows of one table, and what it tells of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.refusals import Refusal, duplicate, missing_key
from airflow_provider_ingest.targets.statements import POSITION

CREATED, UPDATED, SKIPPED = "created", "updated", "skipped"


@dataclass(slots=True)
class Tally:
    """What happened to the rows of one table, by position.

    ``updated`` and ``skipped`` list positions only if they were asked for; all others not refused were created.
    """

    rows: int = 0
    updated_count: int = 0
    skipped_count: int = 0
    refused: dict[int, Refusal] = field(default_factory=dict)
    updated: list[int] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    references: pl.DataFrame | None = None

    @property
    def created_count(self) -> int:
        """Rows that became new records."""
        return self.rows - self.updated_count - self.skipped_count - len(self.refused)

    def refuse(self, positions: Iterable[int], why: Refusal) -> None:
        """Note why rows are refused; the first reason stands."""
        for position in positions:
            self.refused.setdefault(position, why)

    def end(self, position: int, end: str) -> None:
        """Count one row that was written by itself."""
        if end == UPDATED:
            self.updated_count += 1
            self.updated.append(position)
        elif end == SKIPPED:
            self.skipped_count += 1
            self.skipped.append(position)

    def ends(self, positions: pl.Series) -> pl.DataFrame:
        """Position and end of each row that was not refused."""
        frame = pl.DataFrame({POSITION: positions.cast(pl.Int64)})
        exceptions = pl.DataFrame(
            {
                POSITION: [*self.updated, *self.skipped, *self.refused],
                "end": [UPDATED] * len(self.updated) + [SKIPPED] * len(self.skipped) + [None] * len(self.refused),
                "_known": [True] * (len(self.updated) + len(self.skipped) + len(self.refused)),
            },
            schema={POSITION: pl.Int64, "end": pl.String, "_known": pl.Boolean},
        )
        joined = frame.join(exceptions, on=POSITION, how="left", maintain_order="left")
        ended = pl.when(pl.col("_known").is_null()).then(pl.lit(CREATED)).otherwise(pl.col("end"))
        return joined.select(POSITION, end=ended).drop_nulls("end")


@dataclass(slots=True, kw_only=True)
class Prepared:
    """Rows of a batch with all that can be done to them before the database is asked.

    :param given: the columns that came.
    :param frame: the rows that remain, with the columns that are added.
    :param turn: of each row, see :func:`turns`.
    :param has_second_turn: whether rows have to wait for others.
    :param load: the rows as the database's fastest way into the table takes them, if that was begun.
    :param staged_load: the same for the temporary table, where the rows go by way of one.
    """

    tally: Tally
    given: frozenset[str]
    frame: pl.DataFrame
    turn: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.Int16))
    has_second_turn: bool = False
    load: Any = None
    staged_load: Any = None


class TableWriter(ABC):
    """Writes batches of one table inside the chunk's transaction."""

    def __init__(self, plan: TablePlan) -> None:
        self.plan = plan

    def prepare(self, frame: pl.DataFrame, conditional: Sequence[str]) -> Prepared | None:
        """What can be done for rows without nested ones while the database still takes those before: called from
        another thread, so that no statement may be sent. ``None`` if that is nothing.
        """
        return None

    @abstractmethod
    def write(
        self,
        frame: pl.DataFrame,
        conditional: Sequence[str],
        *,
        want_ends: bool,
        references: Sequence[str],
        prepared: Prepared | None = None,
    ) -> Tally:
        """Write what can be written.

        :param frame: ``_pos`` (unique, ascending), the attributes, the ``_set:`` columns of conditional ones.
        :param references: columns of the records that nested rows refer to; given back as a frame with ``_pos``.
        :param prepared: what :meth:`prepare` made of this very frame.
        """

    def reset(self) -> None:  # noqa: B027 - not all need it
        """Forget what was set up inside a savepoint that was rolled back."""


def refuse_missing_keys(plan: TablePlan, frame: pl.DataFrame, tally: Tally) -> pl.DataFrame:
    """Refuse rows without a value in their key: they identify nothing, and would be doubled at each import."""
    if plan.key is None:
        return frame
    for column in plan.key.attributes:
        if column in frame.columns and frame.get_column(column).null_count():
            without = frame.filter(pl.col(column).is_null()).get_column(POSITION)
            tally.refuse(without.to_list(), missing_key(column))
            frame = frame.filter(pl.col(column).is_not_null())
    return frame


def turns(plan: TablePlan, frame: pl.DataFrame) -> pl.Series:
    """1 for the first row of each key, 2 for the later ones, which are written one after the other."""
    if plan.key is None or plan.key.assume_unique:
        return pl.repeat(1, frame.height, dtype=pl.Int16, eager=True)
    alone = frame.select(_together(plan.key.attributes).is_first_distinct()).to_series()
    if not alone.all():
        # a later row of a key may take or free a value that must be unique: all that share one keep their order
        written = [set(unique) for unique in (plan.shape.primary_key, *plan.shape.unique_keys) if unique]
        others = [unique for unique in written if unique <= set(frame.columns) and unique != set(plan.key.attributes)]
        for columns in (set(plan.key.attributes), *others) if others else ():
            names = sorted(columns)
            is_given = pl.all_horizontal(pl.col(names).is_not_null())
            alone &= ~frame.select(_together(names).is_duplicated() & is_given).to_series()
    return alone.replace_strict({True: 1, False: 2}, return_dtype=pl.Int16)


def _together(columns: Sequence[str]) -> pl.Expr:
    return pl.col(columns[0]) if len(columns) == 1 else pl.struct(columns)


def refuse_existing(plan: TablePlan, positions: Iterable[int], tally: Tally) -> None:
    """Rows whose key is taken, under ``FAIL``."""
    assert plan.key is not None
    assert plan.key.on_duplicate is DuplicateStrategy.FAIL
    tally.refuse(positions, duplicate(plan.key.attributes))
