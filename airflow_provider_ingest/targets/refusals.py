"""From what a database says of a row to the failure that people read: codes, sentences, the row's own values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.frames import FAILURES
from airflow_provider_ingest.targets.definition import TablePlan

MAX_DETAIL = 200
"""Most characters of a row's values in a detail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why the database refused a row.

    :param columns: the columns it is about, for the detail; none where the database does not say.
    """

    code: str
    message: str
    columns: tuple[str, ...] = ()
    constraint: str | None = None
    detail: str | None = None


def name_list(columns: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return columns[0] if len(columns) == 1 else f"{', '.join(columns[:-1])} and {columns[-1]}" if columns else "value"


def duplicate(columns: Sequence[str], constraint: str | None = None) -> Refusal:
    """The key is taken, by a record or by an earlier row."""
    same = f"the same {name_list(columns)}" if columns else "the same key"
    return Refusal(
        code="duplicate_key",
        message=f"A record with {same} exists already",
        columns=tuple(columns),
        constraint=constraint,
    )


def missing_value(column: str | None) -> Refusal:
    """A column that must have a value has none."""
    return Refusal(code="not_null", message=f"{column or 'A column'} must have a value", columns=())


def missing_key(column: str) -> Refusal:
    """A key without a value cannot identify a record."""
    return Refusal(code="not_null", message=f"{column} must have a value: it is part of the key")


def broken_reference(plan: TablePlan, constraint: str | None = None) -> Refusal:
    """A foreign key points to nothing; where the database does not say which, it is clear if there is one only."""
    keys = plan.shape.foreign_keys
    local = plan.constraints.get(constraint or "") or (next(iter(keys)) if len(keys) == 1 else ())
    return unknown_reference(local, keys[local][0] if local in keys else None, constraint)


def unknown_reference(columns: Sequence[str], table: str | None, constraint: str | None = None) -> Refusal:
    """The foreign key points to nothing."""
    where = f"in {table}" if table else "in the table it refers to"
    what = name_list(columns) if columns else f"the foreign key {constraint}" if constraint else "a foreign key"
    return Refusal(
        code="foreign_key", message=f"No record {where} for {what}", columns=tuple(columns), constraint=constraint
    )


def failed_check(constraint: str | None) -> Refusal:
    """A check constraint is false."""
    name = f"the check {constraint}" if constraint else "a check constraint"
    return Refusal(code="check", message=f"The row does not satisfy {name}", constraint=constraint)


def failures_frame(
    refused: Mapping[int, Refusal], numbers: pl.Series, records: pl.DataFrame, hidden: frozenset[str], path: str = ""
) -> pl.DataFrame:
    """The refusals of positions as failures, in order.

    :param numbers: the row number at each position.
    :param records: the records at these positions: the values of a refusal's columns become its detail.
    :param path: of a nested collection, named in the message.
    """
    positions = sorted(refused)
    prefix = f"{path}: " if path else ""
    reasons = [refused[position] for position in positions]
    return pl.DataFrame(
        {
            "_row_number": [numbers[position] for position in positions],
            "stage": [str(Stage.DATABASE)] * len(positions),
            "code": [reason.code for reason in reasons],
            "field": [None] * len(positions),
            "message": [prefix + reason.message for reason in reasons],
            "detail": [
                reason.detail or own_values(records, position, reason.columns, hidden)
                for position, reason in zip(positions, reasons, strict=True)
            ],
        },
        schema=FAILURES,
    )


def own_values(records: pl.DataFrame, position: int, columns: Sequence[str], hidden: frozenset[str]) -> str | None:
    """The row's own values of these columns: ``sku is "A1"``; none of hidden ones."""
    parts = [
        f"{column} is {_quoted(records.item(position, column))}"
        for column in columns
        if column in records.columns and column not in hidden
    ]
    return ", ".join(parts)[:MAX_DETAIL] or None


def _quoted(value: Any) -> str:
    return "empty" if value is None else f'"{value}"'
