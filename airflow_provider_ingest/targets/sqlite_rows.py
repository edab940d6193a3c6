"""SQLite: executemany into the table where it takes the rows, through a temporary table where it does not."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from itertools import chain

import polars as pl

from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.importers.table import ColumnKind
from airflow_provider_ingest.targets.cursor import Refused
from airflow_provider_ingest.targets.defaults import with_constants
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.direct import DirectWriter
from airflow_provider_ingest.targets.refusals import Refusal, broken_reference, duplicate, failed_check, missing_value
from airflow_provider_ingest.targets.statements import POSITION, Grammar, Statements
from airflow_provider_ingest.targets.writer import CREATED, SKIPPED, UPDATED, Tally

NUMBERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.Float32, pl.Float64)

SLICE = 5_000
"""Rows that are Python objects at a time."""


class SqliteGrammar(Grammar):
    """SQLite: values take the affinity of the column they are stored in or compared with."""

    def staged_type(self, plan: TablePlan, column: str) -> str:
        """No type: the values stay as they were bound."""
        return ""

    def value(self, plan: TablePlan, column: str, staged: str | None = None) -> str:
        """The staged value."""
        return staged or f"b.{self.quote(column)}"

    def differs(self, plan: TablePlan, column: str, value: str) -> str:
        """Whether the record has another value, nulls being equal."""
        return f"t.{self.quote(column)} IS NOT {value}"


class SqliteWriter(DirectWriter):
    """Writes one table over a sqlite3 cursor."""

    grammar = SqliteGrammar()
    errors = (sqlite3.Error,)

    def __init__(self, plan: TablePlan, cursor: sqlite3.Cursor, number: int) -> None:
        super().__init__(plan, cursor, number)
        self.rows = f"temp.{self.rows}"

    def refusal(self, error: Exception) -> Refusal | None:
        """What the error says of the rows; SQLite names columns or constraints in its words only."""
        if isinstance(error, (OverflowError, sqlite3.DataError)):
            return Refusal(code="out_of_range", message="A number or text is larger than SQLite takes")
        if not isinstance(error, sqlite3.IntegrityError):
            return None
        words = str(error)
        names = tuple(re.findall(rf"{re.escape(self.plan.shape.name)}\.([^,]+)", words))
        if words.startswith(("UNIQUE", "PRIMARY KEY")):
            return duplicate(names)
        if words.startswith("NOT NULL"):
            return missing_value(names[0] if names else None)
        if words.startswith("FOREIGN KEY"):
            return broken_reference(self.plan)
        if words.startswith("CHECK"):
            return failed_check(words.partition(": ")[2] or None)
        if "datatype mismatch" in words:
            return Refusal(code="type", message="A value does not fit the type of its column")
        return Refusal(code="database", message="A trigger of the table refused the row", detail=words)

    def add_columns(self, frame: pl.DataFrame, conditional: Sequence[str], references: Sequence[str]) -> pl.DataFrame:
        """Add constants of the mapped class, and row ids where nested rows need them now (no one else writes)."""
        frame = with_constants(self.plan, frame, conditional)
        for name in references:
            if name not in frame.columns and self.plan.key is None:
                first = self._next_id(name)
                frame = frame.with_columns(pl.int_range(first, first + frame.height, eager=True).alias(name))
        return frame

    def _next_id(self, column: str) -> int:
        table = self.grammar.qualified(self.plan)
        highest = self.fetch(f"SELECT coalesce(max({self.grammar.quote(column)}), 0) FROM {table}")[0][0]
        if self.fetch("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_sequence'")[0][0]:
            self.cursor.execute(
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?", [self.plan.shape.name]
            )
            highest = max(highest, self.cursor.fetchone()[0])
        return int(highest) + 1

    def create_rows(self, frame: pl.DataFrame) -> None:
        """Create the temporary table; it ends with the connection."""
        columns = ", ".join(
            f"{self.grammar.quote(name)}{' INTEGER PRIMARY KEY' if name == POSITION else ''}" for name in frame.columns
        )
        self.cursor.execute(f"DROP TABLE IF EXISTS {self.rows}")
        self.cursor.execute(f"CREATE TABLE {self.rows} ({columns})")

    def load(self, frame: pl.DataFrame) -> None:
        """Insert into the temporary table."""
        self.put(self.rows, frame)

    def put(self, table: str, frame: pl.DataFrame) -> None:
        """One statement, executed for each row inside SQLite's module."""
        names = ", ".join(self.grammar.quote(name) for name in frame.columns)
        marks = ", ".join("?" * frame.width)
        try:
            rows = chain.from_iterable(part.rows() for part in self._bound(frame).iter_slices(SLICE))
            self.cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)
        except OverflowError as error:
            raise sqlite3.DataError(str(error)) from error

    def _bound(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Values as SQLAlchemy's types for SQLite store them: dates and times as text, decimals by affinity."""
        exact = {pl.String, pl.Binary, *NUMBERS}
        casts = []
        for name, dtype in frame.schema.items():
            column = pl.col(name)
            if dtype in exact:
                if self._is_short_uuid(name):
                    casts.append(column.str.replace_all("-", "", literal=True))
            elif dtype == pl.Boolean:
                casts.append(column.cast(pl.Int8))
            elif dtype == pl.Datetime:
                casts.append(column.dt.strftime("%Y-%m-%d %H:%M:%S%.6f"))
            elif dtype == pl.Time:
                casts.append(column.dt.strftime("%H:%M:%S%.6f"))
            else:
                casts.append(column.cast(pl.String))
        return frame.with_columns(casts)

    def _is_short_uuid(self, name: str) -> bool:
        shape = self.plan.shape.column(name)
        return shape is not None and shape.kind is ColumnKind.UUID and shape.sql_type.upper() == "CHAR(32)"

    def one_by_one(self, statements: Statements, where: str, tally: Tally) -> None:
        """A loop here: the database is in this process."""
        strategy = self.plan.strategy
        positions = self.fetch(f"SELECT b.{POSITION} FROM {self.rows} AS b WHERE {where} ORDER BY b.{POSITION}")
        update, insert = statements.update(f"b.{POSITION} = ?"), statements.insert(f"b.{POSITION} = ?")
        otherwise = {None: CREATED, DuplicateStrategy.UPDATE: UPDATED}.get(strategy, SKIPPED)
        for (position,) in positions:
            touched = created = 0
            try:
                with self.savepoint():
                    if update:
                        touched = self.cursor.execute(update, [position]).rowcount
                    created = self.cursor.execute(insert, [position]).rowcount
            except Refused as error:
                tally.refuse([position], error.refusal)
                continue
            if not created and strategy is DuplicateStrategy.FAIL:
                tally.refuse([position], duplicate(statements.key))
            else:
                tally.end(position, CREATED if created else UPDATED if touched else otherwise)
