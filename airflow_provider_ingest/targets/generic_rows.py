"""Any database that SQLAlchemy speaks to: batched statements with bound values, halved where they are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any
from uuid import UUID

import polars as pl
import sqlalchemy as sa
from sqlalchemy.exc import DataError, IntegrityError, StatementError

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.runs.frames import SET_PREFIX
from airflow_provider_ingest.targets.defaults import with_constants
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.generic_refusals import refusal_of
from airflow_provider_ingest.targets.refusals import duplicate
from airflow_provider_ingest.targets.statements import DEFAULT_PREFIX, POSITION
from airflow_provider_ingest.targets.writer import (
    CREATED,
    SKIPPED,
    UPDATED,
    Prepared,
    TableWriter,
    Tally,
    refuse_missing_keys,
    turns,
)

SLICE = 200
"""Keys asked for at once."""

Row = dict[str, Any]


class GenericWriter(TableWriter):
    """Writes one table with SQLAlchemy's own statements; values are bound with the types of the reflected table."""

    def __init__(self, plan: TablePlan, connection: sa.Connection) -> None:
        super().__init__(plan)
        self._connection = connection
        self._table = plan.table
        self._key = plan.key.attributes if plan.key else ()
        self._newer = plan.key.newer_column if plan.key else None

    def write(
        self,
        frame: pl.DataFrame,
        conditional: Sequence[str],
        *,
        want_ends: bool,
        references: Sequence[str],
        prepared: Prepared | None = None,
    ) -> Tally:
        """Write what can be written."""
        tally = Tally(rows=frame.height)
        attributes = [name for name in frame.columns if name != POSITION and not name.startswith(SET_PREFIX)]
        frame = refuse_missing_keys(self.plan, frame, tally)
        if frame.is_empty():
            return tally
        turn = turns(self.plan, frame)
        rows = self._rows(with_constants(self.plan, frame, conditional), attributes, conditional)
        first = [row for row, its in zip(rows, turn, strict=True) if its == 1]
        unknown = [name for name in references if name not in attributes]
        if self._key:
            for start in range(0, len(first), SLICE):
                self._write_keyed(first[start : start + SLICE], tally)
        elif unknown:
            for row in first:
                self._insert_and_learn(row, tally)
        else:
            self._in_bulk(first, self._insert, tally)
        for row, its in zip(rows, turn, strict=True):
            if its == 2:
                self._write_one(row, tally)
        if references:
            tally.references = self._references(rows, references, tally)
        return tally

    def _rows(self, frame: pl.DataFrame, attributes: Sequence[str], conditional: Sequence[str]) -> list[Row]:
        """Each row as ``{"pos", "set": values to write, "new": values for a new record only}``."""
        convert = {name: _converter(self._table.columns[name].type) for name in frame.columns if name in self._table.c}
        made = []
        for values in frame.iter_rows(named=True):
            left_out = {name for name in conditional if not values[SET_PREFIX + name]}
            given = {name: convert[name](values[name]) for name in attributes if name not in left_out}
            fresh = {
                name: convert[name](values[name])
                for name in frame.columns
                if name in convert and name not in attributes
            }
            fresh |= {
                name: values[DEFAULT_PREFIX + name] for name in left_out if DEFAULT_PREFIX + name in frame.columns
            }
            made.append({"pos": values[POSITION], "set": given, "new": fresh})
        return made

    # a set of rows ------------------------------------------------------------------------------------------------

    def _in_bulk(self, rows: Sequence[Row], write: Callable[[Sequence[Row]], None], tally: Tally) -> None:
        """Write rows at once, or halved until those that are refused stand alone."""
        if not rows:
            return
        try:
            with self._connection.begin_nested():
                write(rows)
        except (IntegrityError, DataError, StatementError) as error:
            if refusal_of(error, self.plan) is None:
                raise
            if len(rows) == 1:
                self._write_one(rows[0], tally)
                return
            middle = len(rows) // 2
            self._in_bulk(rows[:middle], write, tally)
            self._in_bulk(rows[middle:], write, tally)

    def _insert(self, rows: Sequence[Row]) -> None:
        for columns, group in _alike(rows, lambda row: (*row["set"], *row["new"])):
            if columns:
                self._connection.execute(self._table.insert(), [row["set"] | row["new"] for row in group])

    def _update(self, rows: Sequence[Row]) -> None:
        for columns, group in _alike(rows, lambda row: tuple(name for name in row["set"] if name not in self._key)):
            if columns:
                bound = [{f"_{name}": value for name, value in row["set"].items()} for row in group]
                statement = (
                    self._table.update()
                    .where(*(self._table.c[name] == sa.bindparam(f"_{name}") for name in self._key))
                    .values({name: sa.bindparam(f"_{name}") for name in columns})
                )
                self._connection.execute(statement, bound)

    def _write_keyed(self, rows: Sequence[Row], tally: Tally) -> None:
        known = self._known(rows)
        fresh = [row for row in rows if self._key_of(row) not in known]
        self._in_bulk(fresh, self._insert, tally)
        hits = [row for row in rows if self._key_of(row) in known]
        strategy = self.plan.strategy
        if strategy is DuplicateStrategy.FAIL:
            tally.refuse([row["pos"] for row in hits], duplicate(self._key))
            return
        updated = [row for row in hits if self._updates(row, known[self._key_of(row)])]
        self._in_bulk(updated, self._update, _Quiet(tally))
        written = {id(row) for row in updated}
        for row in hits:
            if row["pos"] not in tally.refused:
                tally.end(row["pos"], UPDATED if id(row) in written else SKIPPED)

    def _updates(self, row: Row, stored: Any) -> bool:
        if self.plan.strategy is DuplicateStrategy.UPDATE:
            return True
        if self.plan.strategy is DuplicateStrategy.UPDATE_IF_NEWER:
            value = row["set"].get(self._newer)
            return value is not None and (stored is None or stored < value)
        return False

    # one row --------------------------------------------------------------------------------------------------------

    def _write_one(self, row: Row, tally: Tally) -> None:
        """Write a row by itself: the database says whether its key is there."""
        try:
            with self._connection.begin_nested():
                end = self._try_one(row)
        except (IntegrityError, DataError, StatementError) as error:
            refusal = refusal_of(error, self.plan)
            if refusal is None:
                raise
            tally.refuse([row["pos"]], refusal)
            return
        if end is None:
            tally.refuse([row["pos"]], duplicate(self._key))
        else:
            tally.end(row["pos"], end)

    def _try_one(self, row: Row) -> str | None:
        if self._key:
            column = self._table.c[self._newer] if self._newer else sa.literal(1)
            query = sa.select(column).select_from(self._table).where(self._matches(row))
            found = self._connection.execute(query).first()
            if found is not None:
                if self.plan.strategy is DuplicateStrategy.FAIL:
                    return None
                if not self._updates(row, found[0]):
                    return SKIPPED
                self._update([row])
                return UPDATED
        self._insert([row])
        return CREATED

    def _insert_and_learn(self, row: Row, tally: Tally) -> None:
        """Insert a row and remember the primary key that the database gave it."""
        try:
            with self._connection.begin_nested():
                given = self._connection.execute(self._table.insert().values(row["set"] | row["new"]))
        except (IntegrityError, DataError, StatementError) as error:
            refusal = refusal_of(error, self.plan)
            if refusal is None:
                raise
            tally.refuse([row["pos"]], refusal)
            return
        names = [column.name for column in self._table.primary_key.columns]
        row["learned"] = dict(zip(names, given.inserted_primary_key or (), strict=False))

    # keys -------------------------------------------------------------------------------------------------------------

    def _key_of(self, row: Row) -> tuple[Any, ...]:
        return tuple(row["set"][name] for name in self._key)

    def _matches(self, row: Row) -> sa.ColumnElement[bool]:
        return sa.and_(*(self._table.c[name] == row["set"][name] for name in self._key))

    def _known(self, rows: Sequence[Row]) -> dict[tuple[Any, ...], Any]:
        """The keys that are there, each with its record's ``newer_column``."""
        columns = [self._table.c[name] for name in self._key]
        wanted = [*columns, self._table.c[self._newer]] if self._newer else columns
        if len(columns) == 1:
            where: sa.ColumnElement[bool] = columns[0].in_([row["set"][self._key[0]] for row in rows])
        else:
            where = sa.or_(*(self._matches(row) for row in rows))
        found = self._connection.execute(sa.select(*wanted).where(where))
        return {tuple(one[: len(columns)]): one[-1] for one in found}

    def _references(self, rows: Sequence[Row], references: Sequence[str], tally: Tally) -> pl.DataFrame:
        """The columns that nested rows refer to."""
        made = []
        for row in rows:
            if row["pos"] in tally.refused:
                continue
            values = row["set"] | row["new"] | row.get("learned", {})
            if any(name not in values for name in references) and self._key:
                query = sa.select(*(self._table.c[name] for name in references)).where(self._matches(row))
                found = self._connection.execute(query).first()
                values |= dict(zip(references, found or (), strict=False))
            missing = [name for name in references if name not in values]
            if missing:
                raise TargetError(
                    f"{self.plan.label}: the database does not tell {', '.join(missing)} of new records, which nested "
                    "rows refer to; give the importer a key (keyed_by)"
                )
            made.append([row["pos"], *(values[name] for name in references)])
        return pl.DataFrame(made, schema=[POSITION, *references], orient="row", infer_schema_length=None)


class _Quiet(Tally):
    """A tally that takes refusals for another one, and leaves counting to the caller."""

    __slots__ = ()

    def __init__(self, other: Tally) -> None:
        super().__init__(refused=other.refused)


def _alike(
    rows: Sequence[Row], columns: Callable[[Row], tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], list[Row]]]:
    """Rows in groups that set the same columns, in order."""
    for names, group in groupby(rows, columns):
        yield names, list(group)


def _converter(type_: Any) -> Callable[[Any], Any]:
    """From the values of frames to those that SQLAlchemy binds for a type."""
    if isinstance(type_, sa.JSON):
        return lambda value: json.loads(value) if isinstance(value, str) else value
    if isinstance(type_, sa.Uuid):
        return lambda value: UUID(value) if isinstance(value, str) and type_.as_uuid else value
    if isinstance(type_, sa.Numeric) and not isinstance(type_, sa.Float):
        return lambda value: Decimal(value) if isinstance(value, str) else value
    return lambda value: value
