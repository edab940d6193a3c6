"""What PostgreSQL's error codes say of a row."""

from __future__ import annotations

import psycopg

from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.refusals import (
    Refusal,
    broken_reference,
    duplicate,
    failed_check,
    missing_value,
)

ROW_STATES = "^(21000|22|23|44000|P0001|P0004|42501)"
"""SQLSTATEs (a regular expression) that are about rows; all others are about the database."""

_CLASSES = ("22", "23")
_STATES = frozenset({"21000", "44000", "P0001", "P0004"})


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
    return state[:2] in _CLASSES or state in _STATES


def refusal_of_state(
    state: str, constraint: str | None, column: str | None, table: str | None, message: str | None, plan: TablePlan
) -> Refusal:
    """The refusal for an error's parts; the server's own words only where a trigger of the user speaks."""
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
    if state == "22001":
        return Refusal(code="too_long", message="A value is longer than its column takes")
    if state == "22003":
        return Refusal(code="out_of_range", message="A number is out of the range of its column")
    if state == "42501":
        return Refusal(code="database", message="The table's row-level security does not allow the row")
    if state in ("P0001", "P0004"):
        first = (message or "").splitlines()[:1]
        return Refusal(
            code="database", message="A trigger of the table refused the row", detail=first[0] if first else None
        )
    if state == "22021":
        return Refusal(code="type", message="A text holds a character that the database cannot store")
    if state.startswith("22"):
        return Refusal(code="type", message="A value does not fit the type of its column")
    return Refusal(code="database", message=f"The database refused the row (SQLSTATE {state})")
