"""MySQL and MariaDB: straight into the table where it takes the rows, through a temporary table where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import pymysql

from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.importers.table import ColumnKind
from airflow_provider_ingest.runs.frames import SET_PREFIX
from airflow_provider_ingest.targets.cursor import Refused
from airflow_provider_ingest.targets.defaults import with_constants
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.direct import DirectWriter
from airflow_provider_ingest.targets.mysql_load import Loader, NotWhole
from airflow_provider_ingest.targets.mysql_refusals import refusal_of
from airflow_provider_ingest.targets.refusals import Refusal, duplicate
from airflow_provider_ingest.targets.statements import DEFAULT_PREFIX, POSITION, TURN, Grammar, Statements
from airflow_provider_ingest.targets.stretch import Stretch
from airflow_provider_ingest.targets.writer import CREATED, SKIPPED, UPDATED, Prepared, Tally

STAGED_TYPES = {
    ColumnKind.INTEGER: "decimal(20, 0)",
    ColumnKind.NUMERIC: "decimal(65, 30)",
    ColumnKind.FLOAT: "double",
    ColumnKind.BOOLEAN: "tinyint",
    ColumnKind.DATE: "date",
    ColumnKind.TIMESTAMP: "datetime(6)",
    ColumnKind.TIMESTAMPTZ: "datetime(6)",
    ColumnKind.TIME: "time(6)",
    ColumnKind.DURATION: "time(6)",
    ColumnKind.BINARY: "longblob",
}
"""Types of staged columns, wide enough that a refusal comes from the table; others: text in the column's collation."""

BYTES = {"TINY": 2**8 - 1, "": 2**16 - 1, "MEDIUM": 2**24 - 1}
_COUNTED = re.compile(r"(TINY|MEDIUM|)(?:TEXT|BLOB)\b")

NOT_FINITE = Refusal(code="out_of_range", message="MySQL stores neither infinite numbers nor NaN")


class MysqlGrammar(Grammar):
    """MySQL's types, quotes and joined updates.

    :param collations: of the text columns: compared texts must have one collation.
    """

    quote_mark = "`"

    def __init__(self, collations: Mapping[str, str]) -> None:
        self._collations = collations

    def staged_type(self, plan: TablePlan, column: str) -> str:
        """The type of a column in the temporary table."""
        shape = plan.shape.column(column)
        if shape is not None and shape.kind in STAGED_TYPES:
            return STAGED_TYPES[shape.kind]
        collation = self._collations.get(column, "")
        return f"longtext CHARACTER SET utf8mb4 COLLATE {collation if collation[:8] == 'utf8mb4_' else 'utf8mb4_bin'}"

    def value(self, plan: TablePlan, column: str, staged: str | None = None) -> str:
        """The staged value; the assignment converts it, strictly."""
        return staged or f"b.{self.quote(column)}"

    def differs(self, plan: TablePlan, column: str, value: str) -> str:
        """Whether the record has another value, nulls being equal; texts count as other ones by any byte."""
        shape, stored = plan.shape.column(column), f"t.{self.quote(column)}"
        if shape is not None and shape.kind is ColumnKind.TEXT:
            return f"NOT (CAST({stored} AS BINARY) <=> CAST({value} AS BINARY))"
        return f"NOT ({stored} <=> {value})"

    def update(self, target: str, rows: str, sets: Sequence[tuple[str, str]], condition: str) -> str:
        """An update over a join."""
        assigned = ", ".join(f"t.{self.quote(column)} = {value}" for column, value in sets)
        return f"UPDATE {target} AS t, {rows} AS b SET {assigned} WHERE {condition}"


class MysqlWriter(DirectWriter):
    """Writes one table over a PyMySQL cursor."""

    errors = (pymysql.err.Error,)

    def __init__(
        self, plan: TablePlan, cursor: Any, number: int, loader: Loader, collations: Mapping[str, str]
    ) -> None:
        self.grammar = MysqlGrammar(collations)
        super().__init__(plan, cursor, number)
        self._loader = loader
        self._learned: dict[int, int] | None = None
        self._most_bytes = {
            column.name: BYTES[counted[1]]
            for column in plan.shape.columns
            if (counted := _COUNTED.match(column.sql_type))
            # a text of another character set is converted, and then it is counted
            and (column.kind is ColumnKind.BINARY or collations.get(column.name, "").startswith("utf8mb4_"))
        }
        self._bits = {column.name for column in plan.shape.columns if column.sql_type.startswith("BIT")}

    def refusal(self, error: Exception) -> Refusal | None:
        """What the error says of the rows."""
        return refusal_of(error, self.plan)

    def prepare(self, frame: pl.DataFrame, conditional: Sequence[str], references: Sequence[str] = ()) -> Prepared:
        """Refuse what MySQL cannot store, or would cut, before it sees it, too."""
        odd = dict(self._odd(frame))
        unstorable = [position for positions in odd.values() for position in positions]
        storable = frame.filter(~pl.col(POSITION).is_in(unstorable)) if unstorable else frame
        prepared = super().prepare(storable, conditional, references)
        prepared.tally.rows = frame.height
        for refusal, positions in odd.items():
            prepared.tally.refuse(positions, refusal)
        return prepared

    def _odd(self, frame: pl.DataFrame) -> Iterator[tuple[Refusal, list[int]]]:
        """Refusals and the positions of their rows: numbers that are none, texts and bytes longer than their column.

        From one column to another MariaDB copies a text with as many bits of its length as the second has for it, in
        strict mode, too: of 70,000 bytes a TEXT gets 4,464.
        """
        floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
        if floats:
            yield NOT_FINITE, frame.filter(pl.any_horizontal(~pl.col(floats).is_finite()))[POSITION].to_list()
        for name, most in self._most_bytes.items():
            if name in frame.columns:
                sizes = frame[name].bin.size() if frame[name].dtype == pl.Binary else frame[name].str.len_bytes()
                if (sizes.max() or 0) > most:  # type: ignore[operator]
                    longer = Refusal(code="too_long", message=f"A value is longer than {name} takes")
                    yield longer, frame.filter(sizes > most)[POSITION].to_list()

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
        unknown = self.plan.key is None and any(name not in frame.columns for name in references)
        self._learned = {} if unknown else None
        return super().write(frame, conditional, want_ends=want_ends, references=references, prepared=prepared)

    def add_columns(self, frame: pl.DataFrame, conditional: Sequence[str], references: Sequence[str]) -> pl.DataFrame:
        """Add constants of the mapped class."""
        return with_constants(self.plan, frame, conditional)

    def put(self, table: str, frame: pl.DataFrame) -> None:
        """LOAD DATA where the server takes it; a row that it did not take as it was is refused."""
        try:
            self._loader.put(table, frame, self.grammar.quote, self._bits)
        except NotWhole as warned:
            raise Refused(Refusal(code="database", message="The database did not take all rows")) from warned

    def create_rows(self, frame: pl.DataFrame) -> None:
        """Create the temporary table; it ends with the connection, and neither statement ends the transaction."""
        own = {POSITION: "int PRIMARY KEY", TURN: "smallint"}
        columns = ", ".join(f"{self.grammar.quote(name)} {own.get(name) or self._type(name)}" for name in frame.columns)
        self.cursor.execute(f"DROP TEMPORARY TABLE IF EXISTS {self.rows}")
        self.cursor.execute(f"CREATE TEMPORARY TABLE {self.rows} ({columns}) ENGINE = InnoDB")

    def _type(self, name: str) -> str:
        if name.startswith(SET_PREFIX):
            return "tinyint"
        return self.grammar.staged_type(self.plan, name.removeprefix(DEFAULT_PREFIX))

    def load(self, frame: pl.DataFrame) -> None:
        """Insert into the temporary table; by statements where LOAD DATA warned, since those say what is wrong."""
        try:
            self._loader.put(self.rows, frame, self.grammar.quote)
        except NotWhole:
            low, high = int(frame.item(0, POSITION)), int(frame.item(-1, POSITION))
            self.cursor.execute(f"DELETE FROM {self.rows} WHERE {POSITION} BETWEEN {low} AND {high}")
            self._loader.insert(self.rows, frame, self.grammar.quote)

    def apply(self, statements: Statements, stretch: Stretch, tally: Tally, want_ends: bool) -> None:
        """As everywhere, unless the table gives the records numbers that nested rows need."""
        if self._learned is not None:  # each record's number is known only after its own statement
            self.one_by_one(statements, stretch.where, tally)
            return
        super().apply(statements, stretch, tally, want_ends)

    def one_by_one(self, statements: Statements, where: str, tally: Tally) -> None:
        """A loop here. Each statement is taken or refused whole, and a row is written by one: no savepoints."""
        strategy = self.plan.strategy
        positions = self.fetch(f"SELECT b.{POSITION} FROM {self.rows} AS b WHERE {where} ORDER BY b.{POSITION}")
        otherwise = {None: CREATED, DuplicateStrategy.UPDATE: UPDATED}.get(strategy, SKIPPED)
        for (position,) in positions:
            one = f"b.{POSITION} = {int(position)}"
            update = statements.update(one)
            try:
                touched = self.run(update) if update else 0
                created = 0 if touched else self.run(statements.insert(one))
            except self.errors as error:
                refusal = self.refusal(error)
                if refusal is None:
                    raise
                tally.refuse([position], refusal)
                continue
            if self._learned is not None:
                self._learned[position] = int(self.cursor.lastrowid)
            if not created and not touched and strategy is DuplicateStrategy.FAIL:
                tally.refuse([position], duplicate(statements.key))
            else:
                tally.end(position, CREATED if created else UPDATED if touched else otherwise)

    def _references(
        self, statements: Statements, frame: pl.DataFrame, references: Sequence[str], known: Sequence[str]
    ) -> pl.DataFrame:
        if self._learned is None:
            return super()._references(statements, frame, references, known)
        numbers = pl.DataFrame(
            {POSITION: list(self._learned), "_number": list(self._learned.values())},
            schema={POSITION: pl.Int64, "_number": pl.Int64},
        )
        given = frame.select(pl.col(POSITION).cast(pl.Int64), *known)
        added = [pl.col("_number").alias(name) for name in references if name not in known]
        return given.join(numbers, on=POSITION, how="inner", maintain_order="left").select(POSITION, *known, *added)
