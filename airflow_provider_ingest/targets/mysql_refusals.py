"""What the error numbers of MySQL and MariaDB say of a row."""

from __future__ import annotations

import re
from typing import Any

from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.refusals import (
    Refusal,
    broken_reference,
    duplicate,
    failed_check,
    missing_value,
)

DUPLICATE = frozenset({1022, 1062, 1169, 1586})
MISSING = frozenset({1048, 1263, 1364, 1566})
NO_PARENT = frozenset({1216, 1452})
IS_PARENT = frozenset({1217, 1451})
CHECKS = frozenset({3819, 4025})
TOO_LONG = frozenset({1406, 1071})
OUT_OF_RANGE = frozenset({1264, 1441, 1690})
WRONG_TYPE = frozenset({1265, 1292, 1300, 1366, 1367, 1411, 1416, 1426, 1427, 3140, 3141, 3156, 3903})
NO_PARTITION = frozenset({1526, 1748})
SIGNAL = 1644
"""``SIGNAL`` of a trigger: the user's own words."""

_KEY = re.compile(r"for key '(?:[^']*\.)?([^'.]+)'\s*$")
_COLUMN = re.compile(r"(?:[Cc]olumn|Field) (?:'([^']+)'|(?:`[^`]+`\.)*`([^`]+)`)")
_CONSTRAINT = re.compile(r"CONSTRAINT `([^`]+)`|constraint '([^']+)'")


def refusal_of(error: BaseException, plan: TablePlan) -> Refusal | None:
    """What the error says of a row; ``None`` if it is not about rows."""
    number, words = _parts(error)
    if number in DUPLICATE:
        name = _first(_KEY, words)
        columns = plan.shape.primary_key if name == "PRIMARY" else plan.constraints.get(name or "", ())
        return duplicate(columns, name)
    if number in MISSING:
        return missing_value(_first(_COLUMN, words))
    if number in NO_PARENT:
        return broken_reference(plan, _first(_CONSTRAINT, words))
    if number in IS_PARENT:
        return Refusal(code="foreign_key", message="Records of another table refer to the value that would change")
    if number in CHECKS:
        return failed_check(_first(_CONSTRAINT, words))
    return _of_value(number, words)


def _of_value(number: int, words: str) -> Refusal | None:
    column = _first(_COLUMN, words) or "its column"
    if number in TOO_LONG:
        return Refusal(code="too_long", message=f"A value is longer than {column} takes")
    if number in OUT_OF_RANGE:
        return Refusal(code="out_of_range", message=f"A value is out of the range of {column}")
    if number in WRONG_TYPE:
        return Refusal(code="type", message=f"A value does not fit the type of {column}")
    if number in NO_PARTITION:
        return Refusal(code="check", message="No partition takes the row")
    if number == SIGNAL:
        first = words.splitlines()[:1]
        return Refusal(
            code="database", message="A trigger of the table refused the row", detail=first[0] if first else None
        )
    return None


def _parts(error: BaseException) -> tuple[int, str]:
    arguments: tuple[Any, ...] = error.args
    number = arguments[0] if arguments and isinstance(arguments[0], int) else 0
    return number, str(arguments[1]) if len(arguments) > 1 else ""


def _first(pattern: re.Pattern[str], words: str) -> str | None:
    found = pattern.search(words)
    return next((group for group in found.groups() if group), None) if found else None
