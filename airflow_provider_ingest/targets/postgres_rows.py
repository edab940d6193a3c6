"""PostgreSQL: COPY into the table where it takes the rows, through a temporary table where it does not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import polars as pl
import psycopg

from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.importers.table import ColumnKind
from airflow_provider_ingest.postgres.copy import CopyRows
from airflow_provider_ingest.runs.frames import SET_PREFIX
from airflow_provider_ingest.targets.cursor import Refused
from airflow_provider_ingest.targets.defaults import with_constants
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.direct import DirectWriter
from airflow_provider_ingest.targets.postgres_refusals import ROW_STATES, refusal_of, refusal_of_state
from airflow_provider_ingest.targets.postgres_upsert import upsert
from airflow_provider_ingest.targets.refusals import Refusal, duplicate
from airflow_provider_ingest.targets.staged import staged
from airflow_provider_ingest.targets.statements import DEFAULT_PREFIX, POSITION, TURN, Grammar, Statements
from airflow_provider_ingest.targets.stretch import Stretch
from airflow_provider_ingest.targets.writer import Prepared, Tally

STAGED_TYPES = {
    ColumnKind.INTEGER: "bigint",
    ColumnKind.NUMERIC: "numeric",
    ColumnKind.FLOAT: "double precision",
    ColumnKind.BOOLEAN: "boolean",
    ColumnKind.DATE: "date",
    ColumnKind.TIMESTAMP: "timestamp",
    ColumnKind.TIMESTAMPTZ: "timestamptz",
    ColumnKind.TIME: "time",
}
"""Types of staged columns, wide enough that a refusal comes from the table, not from the staging; others: text."""

STAGED_BUFFERS = "32MB"
"""Memory of the server for the temporary table: a batch has room in it, and need not be written to a file."""

ASSIGNED = frozenset({*STAGED_TYPES, ColumnKind.TEXT})
"""Kinds that PostgreSQL converts by assignment, with its checks; a cast would cut text short without a word."""

NOT_COMPARED = (ColumnKind.JSON, ColumnKind.ARRAY, ColumnKind.OTHER)
"""Kinds with types that have no equality, such as json."""

_CUT = re.compile(r"^(bit|bit varying|character|character varying)\([0-9]+\)((?:\[\])*)$")
_WITHOUT_LENGTH = {"bit": '"bit"', "character": "bpchar"}
"""What these types are called where no length is meant; by their own names it would be 1."""


def cast_type(sql_type: str) -> str:
    """The type to cast to: without the length at which a cast would cut, which the assignment then checks.

    >>> cast_type("bit varying(6)"), cast_type("character(3)[]"), cast_type("inet")
    ('bit varying', 'bpchar[]', 'inet')
    """
    cut = _CUT.match(sql_type)
    return f"{_WITHOUT_LENGTH.get(cut[1], cut[1])}{cut[2]}" if cut else sql_type


class PostgresGrammar(Grammar):
    """PostgreSQL's types and casts."""

    def staged_type(self, plan: TablePlan, column: str) -> str:
        """The type of a column in the temporary table."""
        shape = plan.shape.column(column)
        return STAGED_TYPES.get(shape.kind, "text") if shape else "text"

    def value(self, plan: TablePlan, column: str, staged: str | None = None) -> str:
        """The staged value as the column takes it."""
        shape = plan.shape.column(column)
        name = staged or f"b.{self.quote(column)}"
        return name if shape is None or shape.kind in ASSIGNED else f"{name}::{cast_type(shape.sql_type)}"

    def compared(self, plan: TablePlan, column: str) -> str:
        """The staged value as it is compared with the key column."""
        shape = plan.shape.column(column)
        if shape is not None and shape.kind is ColumnKind.TEXT and shape.sql_type.startswith("character("):
            return f"b.{self.quote(column)}::bpchar"
        return self.value(plan, column)

    def differs(self, plan: TablePlan, column: str, value: str) -> str:
        """Whether the record has another value, nulls being equal."""
        shape = plan.shape.column(column)
        stored = f"t.{self.quote(column)}"
        if shape is not None and shape.kind in NOT_COMPARED:
            return f"{stored}::text IS DISTINCT FROM ({value})::text"
        return f"{stored} IS DISTINCT FROM {value}"

    def insert_hint(self, plan: TablePlan, columns: Sequence[str]) -> str:
        """``OVERRIDING SYSTEM VALUE`` where an identity column gets a value of ours."""
        always = any(name in plan.sources and plan.sources[name].is_always for name in columns)
        return " OVERRIDING SYSTEM VALUE" if always else ""


class PostgresWriter(DirectWriter):
    """Writes one table over a psycopg cursor."""

    grammar = PostgresGrammar()
    errors = (psycopg.Error,)
    closed = (psycopg.errors.FeatureNotSupported, psycopg.errors.WrongObjectType)
    """Row-level security, and a view, take no COPY, but INSERT."""

    def __init__(self, plan: TablePlan, cursor: Any, number: int) -> None:
        super().__init__(plan, cursor, number)
        self._number = number
        self._loop_is_ready = False
        self._done = self.grammar.quote(f"_ingest_done_{number}")

    def reset(self) -> None:
        """The temporary tables may be gone."""
        super().reset()
        self._loop_is_ready = False

    def refusal(self, error: Exception) -> Refusal | None:
        """What the error says of the rows."""
        return refusal_of(error, self.plan)

    def add_columns(self, frame: pl.DataFrame, conditional: Sequence[str], references: Sequence[str]) -> pl.DataFrame:
        """Add constants of the mapped class, and numbers from the sequence where nested rows need them now."""
        frame = with_constants(self.plan, frame, conditional)
        for name in references:
            if name not in frame.columns and self.plan.key is None:
                frame = frame.with_columns(pl.Series(name, self._draw(name, frame.height)))
        return frame

    def _draw(self, column: str, count: int) -> list[Any]:
        source = self.plan.sources[column]
        table, name = self.grammar.qualified(self.plan), column.replace("'", "''")
        expression = source.expression
        if source.is_identity:
            table = table.replace("'", "''")
            expression = f"nextval(pg_get_serial_sequence('{table}', '{name}'))"
        return [row[0] for row in self.fetch(f"SELECT {expression} FROM generate_series(1, {count})")]

    def prepare(self, frame: pl.DataFrame, conditional: Sequence[str], references: Sequence[str] = ()) -> Prepared:
        """Encode the rows, too: the thread that feeds the server shares a core with it, others have one to spare."""
        prepared = super().prepare(frame, conditional, references)
        if prepared.frame.is_empty():
            return prepared
        if self.is_direct and not conditional and not prepared.has_second_turn:
            prepared.load = self._copied(prepared.frame.drop(POSITION), at_once=True)
        else:
            prepared.staged_load = self._copied_staged(staged(prepared))
        return prepared

    def _copied(self, frame: pl.DataFrame, *, at_once: bool = False) -> CopyRows:
        types = {column.name: column.sql_type for column in self.plan.shape.columns}
        return CopyRows(frame, types, at_once=at_once)

    def _copied_staged(self, frame: pl.DataFrame) -> CopyRows:
        return CopyRows(frame, {name: self._type(name) for name in frame.columns}, at_once=True)

    def put(self, table: str, frame: pl.DataFrame) -> None:
        """COPY."""
        self._copied(frame).send(self.cursor, table)

    def put_prepared(self, table: str, prepared: Prepared) -> None:
        """COPY what was begun."""
        if prepared.load is None:
            super().put_prepared(table, prepared)
        else:
            prepared.load.send(self.cursor, table)

    def create_rows(self, frame: pl.DataFrame) -> None:
        """Create the temporary table, gone with the transaction."""
        columns = ", ".join(f"{self.grammar.quote(name)} {self._type(name)}" for name in frame.columns)
        with suppress(Refused, psycopg.Error), self.savepoint():  # too late in a session with other temporary tables
            self.cursor.execute(f"SET LOCAL temp_buffers = '{STAGED_BUFFERS}'")
        self.cursor.execute(f"DROP TABLE IF EXISTS {self.rows}")
        self.cursor.execute(f"CREATE TEMPORARY TABLE {self.rows} ({columns}) ON COMMIT DROP")

    def _type(self, name: str) -> str:
        if name in (POSITION, TURN):
            return "integer" if name == POSITION else "smallint"
        if name.startswith(SET_PREFIX):
            return "boolean"
        return self.grammar.staged_type(self.plan, name.removeprefix(DEFAULT_PREFIX))

    def empty_rows(self) -> str:
        """TRUNCATE: cheap on a temporary table of the same transaction."""
        return f"TRUNCATE {self.rows}"

    def load(self, frame: pl.DataFrame) -> None:
        """COPY into the temporary table."""
        self._copied_staged(frame).send(self.cursor, self.rows)

    def load_prepared(self, frame: pl.DataFrame, prepared: Prepared) -> None:
        """COPY what was begun into the temporary table."""
        if prepared.staged_load is None:
            self.load(frame)
        else:
            prepared.staged_load.send(self.cursor, self.rows)

    def apply(self, statements: Statements, stretch: Stretch, tally: Tally, want_ends: bool) -> None:
        """One statement for the common upsert, two for everything else."""
        plain = not statements.conditional and self.plan.has_unique_key and not want_ends and statements.settable
        if self.plan.strategy is not DuplicateStrategy.UPDATE or not plain:
            super().apply(statements, stretch, tally, want_ends)
            return
        version = self.cursor.connection.info.server_version
        total = stretch.count(tally.refused)
        created = self.fetch(upsert(statements, stretch.where, version))[0][0]
        tally.updated_count += total - created
        self.expects_new = created == total

    def one_by_one(self, statements: Statements, where: str, tally: Tally) -> None:
        """A loop inside the server, with a subtransaction around each row: no round trips."""
        if not self._loop_is_ready:
            self.cursor.execute(f"DROP TABLE IF EXISTS {self._done}")
            self.cursor.execute(
                f"CREATE TEMPORARY TABLE {self._done} (pos integer, ended text, state text, cons text, col text, "
                "tab text, msg text) ON COMMIT DROP"
            )
            self._loop_is_ready = True
        self.cursor.execute(f"TRUNCATE {self._done}")
        index = self.grammar.quote(f"_ingest_rows_{self._number}_pos")  # only batches that come here pay for it
        self.cursor.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {self.rows} ({POSITION})")
        self.cursor.execute(self._loop(statements, where))
        for position, ended, state, constraint, column, table, message in self.fetch(f"SELECT * FROM {self._done}"):
            if ended == "exists":
                tally.refuse([position], duplicate(statements.key))
            elif ended is None:
                written = (*statements.columns, *statements.extra)
                refusal = refusal_of_state(state, constraint, column, table, message, self.plan, written)
                tally.refuse([position], refusal)
            else:
                tally.end(position, ended)

    def _loop(self, statements: Statements, where: str) -> str:
        one = f"b.{POSITION} = r.{POSITION}"
        update = statements.update(one)
        missed = {None: "created", DuplicateStrategy.UPDATE: "updated", DuplicateStrategy.FAIL: "exists"}
        otherwise = missed.get(self.plan.strategy, "skipped")
        touched = "updated" if update else otherwise
        return f"""DO $ingest$
DECLARE r record; touched bigint; created bigint; state text; cons text; col text; tab text; msg text;
BEGIN
  FOR r IN SELECT b.{POSITION} FROM {self.rows} AS b WHERE {where} ORDER BY b.{POSITION} LOOP
    BEGIN
      touched := 0;
      {f"{update}; GET DIAGNOSTICS touched = ROW_COUNT;" if update else ""}
      {statements.insert(one)};
      GET DIAGNOSTICS created = ROW_COUNT;
      INSERT INTO {self._done} VALUES (r.{POSITION},
        CASE WHEN created > 0 THEN 'created' WHEN touched > 0 THEN '{touched}' ELSE '{otherwise}' END);
    EXCEPTION WHEN OTHERS THEN
      GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, cons = CONSTRAINT_NAME, col = COLUMN_NAME, tab = TABLE_NAME,
        msg = MESSAGE_TEXT;
      IF state !~ '{ROW_STATES}' THEN RAISE; END IF;
      INSERT INTO {self._done} VALUES (r.{POSITION}, NULL, state, cons, col, tab, msg);
    END;
  END LOOP;
END $ingest$"""
