"""The SQL that carries staged rows into a table: written once for every database with temporary tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.runs.frames import SET_PREFIX
from airflow_provider_ingest.targets.definition import TablePlan

POSITION = "_pos"
TURN = "_turn"
"""1: written with all others; 2: one after the other, since its key came before; 0: refused."""

DEFAULT_PREFIX = "_default:"
"""Prefix of the column with the mapped class's constant for a conditional attribute."""


class Grammar(ABC):
    """What differs between databases."""

    quote_mark = '"'

    def quote(self, name: str) -> str:
        """A quoted identifier."""
        mark = self.quote_mark
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"

    def qualified(self, plan: TablePlan) -> str:
        """The quoted name of the table."""
        table = self.quote(plan.shape.name)
        return f"{self.quote(plan.shape.schema)}.{table}" if plan.shape.schema else table

    @abstractmethod
    def staged_type(self, plan: TablePlan, column: str) -> str:
        """The type of a column in the temporary table."""

    @abstractmethod
    def value(self, plan: TablePlan, column: str, staged: str | None = None) -> str:
        """The staged value as the column takes it.

        :param staged: where it stands, if not under the column's name.
        """

    def compared(self, plan: TablePlan, column: str) -> str:
        """The staged value as it is compared with the column of a record."""
        return self.value(plan, column)

    @abstractmethod
    def differs(self, plan: TablePlan, column: str, value: str) -> str:
        """Whether the record ``t`` has another value than this one, nulls being equal."""

    def insert_hint(self, plan: TablePlan, columns: Sequence[str]) -> str:
        """What stands between the column list and the SELECT."""
        return ""

    def update(self, target: str, rows: str, sets: Sequence[tuple[str, str]], condition: str) -> str:
        """An update of records from staged rows.

        :param sets: columns and their values.
        """
        assigned = ", ".join(f"{self.quote(column)} = {value}" for column, value in sets)
        return f"UPDATE {target} AS t SET {assigned} FROM {rows} AS b WHERE {condition}"


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements for one table and one set of columns; ``t`` is the table, ``b`` the staged rows.

    :param columns: the attributes that came.
    :param conditional: those of them that are set in some rows only.
    :param extra: columns that are filled on insert alone.
    """

    plan: TablePlan
    grammar: Grammar
    rows: str
    columns: tuple[str, ...]
    conditional: frozenset[str]
    extra: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The quoted table."""
        return self.grammar.qualified(self.plan)

    @property
    def key(self) -> tuple[str, ...]:
        """The key's columns."""
        return self.plan.key.attributes if self.plan.key else ()

    @property
    def settable(self) -> tuple[str, ...]:
        """The columns that an update sets."""
        return tuple(column for column in self.columns if column not in self.key)

    @property
    def match(self) -> str:
        """Whether a record has the row's key."""
        quote, grammar = self.grammar.quote, self.grammar
        return " AND ".join(f"t.{quote(name)} = {grammar.compared(self.plan, name)}" for name in self.key)

    @property
    def joined(self) -> str:
        """Staged rows with the records of their keys."""
        return f"{self.rows} AS b JOIN {self.target} AS t ON {self.match}"

    @property
    def newer(self) -> str:
        """Whether the row is newer than the record."""
        assert self.plan.key is not None
        assert self.plan.key.newer_column is not None
        column = self.plan.key.newer_column
        stored = f"t.{self.grammar.quote(column)}"
        value = self.grammar.value(self.plan, column)
        return f"(({stored} IS NULL AND {value} IS NOT NULL) OR {stored} < {value})"

    def inserted_value(self, column: str) -> str:
        """What a new record gets in a column."""
        quote, value = self.grammar.quote, self.grammar.value(self.plan, column)
        if column not in self.conditional:
            return value
        source = self.plan.sources.get(column)
        default = source.expression if source and source.expression else "NULL"
        if column in self.plan.constants:
            default = self.grammar.value(self.plan, column, f"b.{quote(DEFAULT_PREFIX + column)}")
        return f"CASE WHEN b.{quote(SET_PREFIX + column)} THEN {value} ELSE {default} END"

    def updated_value(self, column: str) -> str:
        """What an existing record gets in a column."""
        quote, value = self.grammar.quote, self.grammar.value(self.plan, column)
        if column not in self.conditional:
            return value
        return f"CASE WHEN b.{quote(SET_PREFIX + column)} THEN {value} ELSE t.{quote(column)} END"

    def is_changed(self, source: str | None = None) -> str:
        """Whether the update would change anything.

        :param source: a row of the table's own type to take the new values from, instead of the staged ones.
        """
        parts = []
        for column in self.settable:
            value = f"{source}.{self.grammar.quote(column)}" if source else self.grammar.value(self.plan, column)
            part = self.grammar.differs(self.plan, column, value)
            if column in self.conditional:
                part = f"(b.{self.grammar.quote(SET_PREFIX + column)} AND {part})"
            parts.append(part)
        return f"({' OR '.join(parts)})"

    def insert_head(self, alias: str = "") -> str:
        """``INSERT INTO … SELECT … FROM`` the staged rows, up to its WHERE."""
        columns = (*self.columns, *self.extra)
        names = ", ".join(self.grammar.quote(column) for column in columns)
        values = ", ".join(self.inserted_value(column) for column in columns)
        hint = self.grammar.insert_hint(self.plan, columns)
        return f"INSERT INTO {self.target}{alias} ({names}){hint} SELECT {values} FROM {self.rows} AS b"

    def insert(self, where: str) -> str:
        """Insert the rows whose key is not there yet (all, without a key)."""
        unless = f" AND NOT EXISTS (SELECT 1 FROM {self.target} AS t WHERE {self.match})" if self.key else ""
        return f"{self.insert_head()} WHERE {where}{unless} ORDER BY b.{POSITION}"

    def update(self, where: str) -> str | None:
        """Update the records whose key came, where the strategy does so and something is to be set."""
        strategy = self.plan.strategy
        if not self.settable or strategy not in (DuplicateStrategy.UPDATE, DuplicateStrategy.UPDATE_IF_NEWER):
            return None
        only = self.newer if strategy is DuplicateStrategy.UPDATE_IF_NEWER else self.is_changed()
        sets = [(column, self.updated_value(column)) for column in self.settable]
        return self.grammar.update(self.target, self.rows, sets, f"{where} AND {self.match} AND {only}")

    def hits(self, where: str) -> str:
        """Position of each row whose key is there, and whether the strategy updates the record."""
        newer = self.newer if self.plan.strategy is DuplicateStrategy.UPDATE_IF_NEWER else "1 = 1"
        return f"SELECT b.{POSITION}, {newer} FROM {self.joined} WHERE {where}"

    def references(self, columns: Sequence[str], where: str) -> str:
        """Position and the wanted columns of each row's record."""
        names = ", ".join(f"t.{self.grammar.quote(column)}" for column in columns)
        return f"SELECT b.{POSITION}, {names} FROM {self.joined} WHERE {where}"

    def unknown_references(self, local: Sequence[str], table: str, remote: Sequence[str], where: str) -> str:
        """Positions whose foreign key points to nothing."""
        quote = self.grammar.quote
        given = [f"{self.grammar.value(self.plan, column)} IS NOT NULL" for column in local]
        given += [f"b.{quote(SET_PREFIX + column)}" for column in local if column in self.conditional]
        same = " AND ".join(
            f"r.{quote(there)} = {self.grammar.compared(self.plan, here)}"
            for here, there in zip(local, remote, strict=True)
        )
        return (
            f"SELECT b.{POSITION} FROM {self.rows} AS b WHERE {where} AND {' AND '.join(given)} "
            f"AND NOT EXISTS (SELECT 1 FROM {table} AS r WHERE {same})"
        )

    def taken(self, unique: Sequence[str], where: str) -> str:
        """Positions whose unique value a record has already."""
        same = " AND ".join(
            f"t.{self.grammar.quote(column)} = {self.grammar.compared(self.plan, column)}" for column in unique
        )
        return (
            f"SELECT b.{POSITION} FROM {self.rows} AS b WHERE {where} "
            f"AND EXISTS (SELECT 1 FROM {self.target} AS t WHERE {same})"
        )

    def repeated(self, unique: Sequence[str], where: str) -> str:
        """Positions whose unique value an earlier row has."""
        values = ", ".join(self.grammar.compared(self.plan, column) for column in unique)
        given = " AND ".join(f"{self.grammar.compared(self.plan, column)} IS NOT NULL" for column in unique)
        return (
            f"SELECT n.{POSITION} FROM (SELECT b.{POSITION}, row_number() OVER (PARTITION BY {values} "
            f"ORDER BY b.{POSITION}) AS nth FROM {self.rows} AS b WHERE {where} AND {given}) AS n WHERE n.nth > 1"
        )

    def fails_check(self, expression: str, where: str) -> str:
        """Positions for which a check's expression is false; fails where it needs columns that did not come."""
        plain = [column for column in (*self.columns, *self.extra) if column not in self.conditional]
        values = ", ".join(
            f"{self.grammar.value(self.plan, column)} AS {self.grammar.quote(column)}" for column in plain
        )
        name = self.grammar.quote(self.plan.shape.name)
        return (
            f"SELECT {POSITION} FROM (SELECT b.{POSITION}, {values} FROM {self.rows} AS b WHERE {where}) AS {name} "
            f"WHERE NOT ({expression})"
        )
