"""Rows by way of a temporary table: set statements first, and where the database refuses, down to the rows it means.

The database either takes a set of rows whole or refuses the set. What it refuses is sifted by set-based
questions (whose foreign key points nowhere, whose unique value is taken, whose check is false), then
halved, and what is left of a refused stretch goes row by row inside the database. Savepoints
stand around each attempt, so that the good rows stay.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import polars as pl

from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.runs.frames import SET_PREFIX
from airflow_provider_ingest.targets.cursor import CursorWriter, Refused
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.refusals import duplicate, failed_check, unknown_reference
from airflow_provider_ingest.targets.statements import DEFAULT_PREFIX, POSITION, TURN, Grammar, Statements
from airflow_provider_ingest.targets.stretch import Stretch
from airflow_provider_ingest.targets.writer import (
    Prepared,
    Tally,
    refuse_existing,
    refuse_missing_keys,
    turns,
)

FLOOR = 256
"""Stretches of up to this many rows are not halved but written row by row."""

ATTEMPTS = 2
"""A statement is repeated once when another transaction may have inserted the same key in between."""

OWN = frozenset({POSITION, TURN})
"""Columns of a staged frame that are no columns of the table."""


def staged(prepared: Prepared) -> pl.DataFrame:
    """The rows of a batch with the columns of the temporary table."""
    return prepared.frame.clone().insert_column(1, prepared.turn.alias(TURN))


class StagedWriter(CursorWriter):
    """Common to the databases with temporary tables; one cursor of the driver, no values in SQL texts."""

    grammar: Grammar

    def __init__(self, plan: TablePlan, cursor: Any, number: int) -> None:
        super().__init__(plan, cursor)
        self.rows = self.grammar.quote(f"_ingest_rows_{number}")
        self._staged: tuple[str, ...] | None = None
        self._has_second_turn = False

    # what a database adds -------------------------------------------------------------------------------------

    @abstractmethod
    def create_rows(self, frame: pl.DataFrame) -> None:
        """Create the temporary table for frames with these columns, replacing one of another form."""

    @abstractmethod
    def load(self, frame: pl.DataFrame) -> None:
        """Put a frame into the temporary table."""

    def load_prepared(self, frame: pl.DataFrame, prepared: Prepared) -> None:
        """Put the staged rows of a batch into the temporary table."""
        self.load(frame)

    @abstractmethod
    def one_by_one(self, statements: Statements, where: str, tally: Tally) -> None:
        """Write rows in order, each for itself."""

    def add_columns(self, frame: pl.DataFrame, conditional: Sequence[str], references: Sequence[str]) -> pl.DataFrame:
        """Add the columns that are filled on insert alone."""
        return frame

    def direct(self, prepared: Prepared) -> bool:
        """Try to write without the temporary table; ``False`` if that cannot be or was refused."""
        return False

    def reset(self) -> None:
        """The temporary tables may be gone."""
        self._staged = None

    # the way of a batch -------------------------------------------------------------------------------------------

    def prepare(self, frame: pl.DataFrame, conditional: Sequence[str], references: Sequence[str] = ()) -> Prepared:
        """Refuse rows without a key, add columns and find the rows that have to wait for others."""
        tally = Tally(rows=frame.height)
        given = frozenset(frame.columns)
        frame = refuse_missing_keys(self.plan, frame, tally)
        if frame.is_empty():
            return Prepared(tally=tally, given=given, frame=frame)
        frame = self.add_columns(frame, conditional, references)
        turn = turns(self.plan, frame)
        return Prepared(tally=tally, given=given, frame=frame, turn=turn, has_second_turn=bool((turn == 2).any()))

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
        attributes = tuple(name for name in frame.columns if name not in OWN and not name.startswith(SET_PREFIX))
        prepared = prepared or self.prepare(frame, conditional, references)
        tally, frame = prepared.tally, prepared.frame
        if frame.is_empty():
            return tally
        self._has_second_turn = prepared.has_second_turn
        known = [name for name in references if name in frame.columns]
        if not conditional and not self._has_second_turn and len(known) == len(references) and self.direct(prepared):
            tally.references = frame.select(POSITION, *known) if references else None
            return tally
        extra = tuple(
            name for name in frame.columns if name not in prepared.given and not name.startswith(DEFAULT_PREFIX)
        )
        frame = staged(prepared)
        statements = Statements(self.plan, self.grammar, self.rows, attributes, frozenset(conditional), extra)
        self._stage(frame, prepared)
        first = frame.filter(pl.col(TURN) == 1).get_column(POSITION)
        whole = Stretch(first, int(frame.item(0, POSITION)), int(frame.item(-1, POSITION)))
        self._settle(statements, whole, tally, want_ends, is_sifted=False)
        if self._has_second_turn:
            self.one_by_one(statements, f"b.{TURN} = 2", tally)
        if references:
            tally.references = self._references(statements, frame, references, known)
        return tally

    def _stage(self, frame: pl.DataFrame, prepared: Prepared) -> None:
        if self._staged != tuple(frame.columns):
            self.create_rows(frame)
            self._staged = tuple(frame.columns)
        else:
            self.cursor.execute(self.empty_rows())
        try:
            with self.savepoint():
                self.load_prepared(frame, prepared)
        except Refused:
            self._load(frame, prepared.tally)

    def empty_rows(self) -> str:
        """The statement that empties the temporary table."""
        return f"DELETE FROM {self.rows}"

    def _load(self, frame: pl.DataFrame, tally: Tally) -> None:
        """Load a frame; a value that even the temporary table refuses is found by halving."""
        try:
            with self.savepoint():
                self.load(frame)
        except Refused as error:
            if frame.height == 1:
                tally.refuse([int(frame.item(0, POSITION))], error.refusal)
                return
            middle = frame.height // 2
            self._load(frame[:middle], tally)
            self._load(frame[middle:], tally)

    def _settle(
        self, statements: Statements, stretch: Stretch, tally: Tally, want_ends: bool, *, is_sifted: bool
    ) -> None:
        for _ in range(ATTEMPTS):
            try:
                with self.savepoint():
                    self.apply(statements, stretch, tally, want_ends)
                return
            except Refused as error:
                is_key = statements.key and set(error.refusal.columns) == set(statements.key)
                if not is_key or error.refusal.code != "duplicate_key":
                    break
        if not is_sifted:
            self._sift(statements, stretch.where, tally)
            self._settle(statements, stretch, tally, want_ends, is_sifted=True)
        elif stretch.high - stretch.low < FLOOR:
            self.one_by_one(statements, stretch.where, tally)
        else:
            for half in stretch.halves:
                self._settle(statements, half, tally, want_ends, is_sifted=True)

    def apply(self, statements: Statements, stretch: Stretch, tally: Tally, want_ends: bool) -> None:
        """Write rows as a set and count them; raises :class:`Refused` with nothing counted."""
        strategy, where = self.plan.strategy, stretch.where
        if strategy is None:
            self.run(statements.insert(where))
            return
        hits = self.fetch(statements.hits(where)) if want_ends or strategy is DuplicateStrategy.FAIL else []
        if strategy is DuplicateStrategy.FAIL:
            self._refuse_hits(hits, tally)
            where = f"{where} AND b.{TURN} = 1"
        total = self.fetch(f"SELECT count(*) FROM {self.rows} AS b WHERE {where}")[0][0]
        update = statements.update(where)
        changed = self.run(update) if update else 0
        created = self.run(statements.insert(where))
        if strategy is DuplicateStrategy.UPDATE:
            tally.updated_count += total - created
            tally.updated.extend(position for position, _ in hits)
        elif strategy is DuplicateStrategy.FAIL:
            if total != created:  # a row came in between: the caller repeats, and finds it
                raise Refused(duplicate(statements.key))
        else:
            is_newer = strategy is DuplicateStrategy.UPDATE_IF_NEWER
            tally.updated_count += changed
            tally.skipped_count += total - created - changed
            tally.updated.extend(position for position, newer in hits if is_newer and newer)
            tally.skipped.extend(position for position, newer in hits if not (is_newer and newer))

    def _refuse_hits(self, hits: Sequence[tuple[Any, ...]], tally: Tally) -> None:
        positions = [position for position, _ in hits]
        self._take_out(positions, 0)
        refuse_existing(self.plan, positions, tally)

    # finding the rows that the database means ---------------------------------------------------------------------

    def _sift(self, statements: Statements, where: str, tally: Tally) -> None:
        """Take out what questions about the whole set can find; what they leave is found by halving."""
        shape, attributes = self.plan.shape, {*statements.columns, *statements.extra}
        for local, (table, remote) in shape.foreign_keys.items():
            if attributes.issuperset(local) and table != self.plan.label and table != shape.name:
                name = ".".join(self.grammar.quote(part) for part in table.split("."))
                found = self._ask(statements.unknown_references(local, name, remote, where))
                self._take_out(found, 0)
                tally.refuse(found, unknown_reference(local, table))
        for name, expression in self.plan.checks.items():
            found = self._ask(statements.fails_check(expression, where))
            self._take_out(found, 0)
            tally.refuse(found, failed_check(name))
        if self.plan.strategy in (DuplicateStrategy.UPDATE, DuplicateStrategy.UPDATE_IF_NEWER):
            return  # an earlier row may free a value that is taken now
        for unique in (shape.primary_key, *shape.unique_keys):
            if not unique or not attributes.issuperset(unique) or not statements.conditional.isdisjoint(unique):
                continue
            if set(unique) != set(statements.key):
                found = self._ask(statements.taken(unique, where))
                self._take_out(found, 0)
                tally.refuse(found, duplicate(unique))
                later = self._ask(statements.repeated(unique, where))
                self._take_out(later, 2)
                self._has_second_turn = self._has_second_turn or bool(later)

    def _ask(self, question: str) -> list[int]:
        """The positions a question finds; none if the database cannot answer it."""
        try:
            with self.savepoint():
                return [int(row[0]) for row in self.fetch(question)]
        except self.errors:
            return []

    def _take_out(self, positions: Sequence[int], turn: int) -> None:
        for start in range(0, len(positions), 1000):
            some = ", ".join(str(int(position)) for position in positions[start : start + 1000])
            self.cursor.execute(f"UPDATE {self.rows} SET {TURN} = {turn} WHERE {POSITION} IN ({some})")

    def _references(
        self, statements: Statements, frame: pl.DataFrame, references: Sequence[str], known: Sequence[str]
    ) -> pl.DataFrame:
        if len(known) == len(references):
            return frame.select(POSITION, *known)
        found = self.fetch(statements.references(references, f"b.{TURN} > 0"))
        schema = [POSITION, *references]
        columns = list(zip(*found, strict=True)) or [()] * len(schema)
        return pl.DataFrame(dict(zip(schema, map(list, columns), strict=True))).unique(POSITION, keep="first")
