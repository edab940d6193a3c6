"""What PostgreSQL's error codes say of a row."""

from __future__ import annotations

import re
from collections.abc import Collection

import psycopg

from airflow_provider_ingest.importers.table import ColumnKind
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.refusals import (
    Refusal,
    broken_reference,
    duplicate,
    failed_check,
    missing_value,
)

ROW_STATES = "^(21000|22|23|44000|P0001|P0004|42501|42601|54000)"
"""SQLSTATEs (a regular expression) that are about rows; all others are about the database."""

_CLASSES = ("22", "23")
_STATES = frozenset({"21000", "44000", "P0001", "P0004"})
_TEXT_SEARCH = "syntax error in ts"
"""How the error of a text that is no tsvector or tsquery begins; of a statement, it is ``syntax error at``."""

_INDEX = re.compile(r'for index "(.+)"$')
_TYPE = re.compile(r"\btype (.+?)(?:: |$)")
_READ = (ColumnKind.ARRAY, ColumnKind.OTHER)
MOST_NAMED = 3
"""Columns that are named where the error may be about several."""


def refusal_of(error: BaseException, plan: TablePlan) -> Refusal | None:
    """What the error says of a row; ``None`` if it is not about rows."""
    if not isinstance(error, psycopg.Error):
        return None
    state, diag = error.sqlstate or "", error.diag
    message = diag.message_primary
    if not is_about_rows(state, message):
        return None
    return refusal_of_state(state, diag.constraint_name, diag.column_name, diag.table_name, message, plan)


def is_about_rows(state: str, message: str | None) -> bool:
    """Whether a SQLSTATE is the fault of single rows."""
    if state == "42501":
        return "row-level security" in (message or "")
    if state == "42601":
        return (message or "").startswith(_TEXT_SEARCH)
    if state == "54000":  # an array of too many dimensions, a text too long for its index or for a tsvector
        return not (message or "").startswith("cannot have more than")
    return state[:2] in _CLASSES or state in _STATES


def refusal_of_state(
    state: str,
    constraint: str | None,
    column: str | None,
    table: str | None,
    message: str | None,
    plan: TablePlan,
    written: Collection[str] = (),
) -> Refusal:
    """The refusal for an error's parts; the server's own words only where a trigger of the user speaks.

    :param written: the columns that got values.
    """
    own = not table or table == plan.shape.name
    if state == "23505":
        return duplicate(plan.constraints.get(constraint or "", ()) if own else (), constraint)
    if state == "21000":
        return duplicate(plan.key.attributes if plan.key else ())
    if state == "23502":
        return missing_value(column)
    if state == "23503":
        return broken_reference(plan, constraint)
    if state == "23514":
        return failed_check(constraint) if constraint else Refusal(code="check", message="No partition takes the row")
    if state == "23P01":
        return Refusal(code="database", message=f"The row is excluded by the constraint {constraint}")
    if state == "44000":
        return Refusal(code="check", message="The view through which it is written would not show the row")
    if state == "42501":
        return Refusal(code="database", message="The table's row-level security does not allow the row")
    if state in ("P0001", "P0004"):
        first = (message or "").splitlines()[:1]
        return Refusal(
            code="database", message="A trigger of the table refused the row", detail=first[0] if first else None
        )
    if state == "22021":
        return Refusal(code="type", message="A text holds a character that the database cannot store")
    if state == "54000":
        if (message or "").startswith("index row"):
            named = _INDEX.search(message or "")
            columns = plan.constraints.get(named[1], ()) if named and own else ()
            where = f"the index of {', '.join(columns)}" if columns else "an index of the table"
        else:
            columns = _columns(message or "", plan, written)
            where = " or ".join(columns) or "its column"
        return Refusal(code="too_long", message=f"A value is larger than {where} takes", columns=columns)
    if state.startswith("22") or state == "42601":
        return _of_value(state, _columns(message or "", plan, written))
    return Refusal(code="database", message=f"The database refused the row (SQLSTATE {state})")


def _of_value(state: str, columns: tuple[str, ...]) -> Refusal:
    where = " or ".join(columns) if columns else "its column"
    if state == "22001":
        return Refusal(code="too_long", message=f"A value is longer than {where} takes", columns=columns)
    if state == "22003":
        return Refusal(code="out_of_range", message=f"A number is out of the range of {where}", columns=columns)
    return Refusal(code="type", message=f"A value does not fit the type of {where}", columns=columns)


def _columns(message: str, plan: TablePlan, written: Collection[str]) -> tuple[str, ...]:
    """The columns whose values only PostgreSQL can read, of the type that it names: it does not name the column."""
    read = {
        column.name: column.sql_type
        for column in plan.shape.columns
        if column.name in written and (column.kind in _READ or column.sql_type == "real")
    }
    words = message.partition(":")[0].split()  # behind it stands the value
    if named := _TYPE.search(message):
        alike = [name for name, type_ in read.items() if named[1] in (type_, type_.partition("[")[0])]
    elif message.startswith("value out of range"):  # of numbers that are sent as the wider double precision
        alike = [name for name, type_ in read.items() if type_ == "real"]
    else:  # "malformed array literal", "range lower bound must be …", "invalid cidr value"
        ends = ("[]",) if "array" in words else ("range",) if "range" in words else ()
        alike = [name for name, type_ in read.items() if type_ in words or type_.endswith(ends)]
    found = tuple(alike or read)
    return found if len(found) <= MOST_NAMED else ()
