"""The one entry for every kind of validator, with the loop that a user's Python needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Refusal, Rows
from airflow_provider_ingest.transformers.scalar import (
    MESSAGE_LIMIT,
    call_each,
    laid_out,
    positions_of,
    raw_rows,
    refusals,
)
from airflow_provider_ingest.transformers.values import distinct_if_few
from airflow_provider_ingest.validators.base import ScalarValidator, Validator


def apply_validator(validator: Validator | ScalarValidator, values: pl.Series, rows: Rows) -> tuple[Refusal, ...]:
    """The rows that fail, by reason; empty where all pass.

    In a scalar validator a ``ValueError`` fails its rows with its text and the validator's code, any other exception
    with its type's name and the code ``validator_error``.

    :raises RunFailed: if a columnar validator returns something other than a Boolean column of the same length.
    """
    if isinstance(validator, Validator):
        found = validator.refusals(values, rows)
        for refusal in found:
            if refusal.rows.dtype != pl.Boolean or refusal.rows.len() != values.len():
                raise RunFailed(f"The validator {validator.name} returned no Boolean column of {values.len()} rows.")
        return found
    distinct = None if validator.uses_row else distinct_if_few(values)
    if distinct is None:
        return _checked(validator, values.to_list(), rows)
    found = _checked(validator, distinct.to_list() + [None] * bool(values.null_count()), rows)
    if not found:
        return ()
    positions = positions_of(values, distinct)
    return tuple(laid_out(refusal, positions) for refusal in found)


def _checked(validator: ScalarValidator, values: Sequence[Any], rows: Rows) -> tuple[Refusal, ...]:
    called = call_each(validator.check_value, values, raw_rows(rows) if validator.uses_row else None, validator.name)
    return (
        *_verdicts(validator, called.results),
        *refusals(called.refused, len(values), validator.code),
        *refusals(called.crashed, len(values), "validator_error"),
    )


def _verdicts(validator: ScalarValidator, verdicts: Sequence[Any]) -> tuple[Refusal, ...]:
    """``True`` and ``None`` pass, a text is the message, anything else counts by its truth."""
    messages: list[str | None] = []
    for verdict in verdicts:
        if verdict is True or verdict is None:
            messages.append(None)
        elif isinstance(verdict, str):
            messages.append(verdict[:MESSAGE_LIMIT] or None)
        else:
            messages.append(None if verdict else validator.message)
    column = pl.Series(messages, dtype=pl.String)
    failed = column.is_not_null()
    return (Refusal(rows=failed, code=validator.code, message=column),) if failed.any() else ()
