"""What the words of any database say of a row."""

from __future__ import annotations

import re

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError

from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.refusals import (
    Refusal,
    broken_reference,
    duplicate,
    failed_check,
    missing_value,
)

_INTEGRITY = (
    (re.compile(r"foreign key", re.I), "foreign_key"),
    (re.compile(r"not[- ]null|cannot be null|null value|insert null", re.I), "not_null"),
    (re.compile(r"unique|duplicate|already exists", re.I), "duplicate_key"),
    (re.compile(r"check", re.I), "check"),
)
_TOO_LONG = re.compile(r"too long|truncat|value too large for column", re.I)
_OUT_OF_RANGE = re.compile(r"out of range|overflow|too large", re.I)


def refusal_of(error: Exception, plan: TablePlan) -> Refusal | None:
    """What the error says of a row; ``None`` if it is not about rows."""
    words = str(getattr(error, "orig", None) or error)
    if isinstance(error, DataError):
        if _TOO_LONG.search(words):
            return Refusal(code="too_long", message="A value is longer than its column takes")
        if _OUT_OF_RANGE.search(words):
            return Refusal(code="out_of_range", message="A value is out of the range of its column")
        return Refusal(code="type", message="A value does not fit the type of its column")
    if isinstance(error, IntegrityError):
        return _integrity(words, plan)
    if isinstance(error, StatementError) and not isinstance(error, DBAPIError):  # refused while binding
        return Refusal(code="type", message="A value does not fit the type of its column")
    return None


def _integrity(words: str, plan: TablePlan) -> Refusal:
    code = next((code for pattern, code in _INTEGRITY if pattern.search(words)), "database")
    constraint = next((name for name in plan.constraints if name in words), None)
    columns = plan.constraints.get(constraint or "", ()) or _columns(words, plan)
    if code == "foreign_key":
        return broken_reference(plan, constraint)
    if code == "not_null":
        return missing_value(columns[0] if len(columns) == 1 else None)
    if code == "duplicate_key":
        return duplicate(columns, constraint)
    if code == "check":
        return failed_check(next((name for name in plan.checks if name in words), None))
    return Refusal(code="database", message="The database refused the row")


def _columns(words: str, plan: TablePlan) -> tuple[str, ...]:
    """Columns that the words name as ``table.column`` or in quotes."""
    name = re.escape(plan.shape.name)
    found = re.findall(rf"{name}\.(\w+)", words) or re.findall(r"[\"'`](\w+)[\"'`]", words)
    return tuple(dict.fromkeys(one for one in found if plan.shape.column(one)))
