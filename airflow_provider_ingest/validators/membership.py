"""The validator of membership."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.transformers.lookup import json_value, sequence
from airflow_provider_ingest.transformers.numbers import exact_decimal
from airflow_provider_ingest.transformers.values import as_text, is_empty, over_distinct, sure, text_of
from airflow_provider_ingest.validators.base import Validator


class InArrayValidator(Validator):
    """The value must be in the list: compared as text, or with ``strict`` by type too; null and empty text pass.

    Strict comparison tells text, numbers, booleans, dates and timestamps apart; numbers compare by value, whatever
    Python type they have. The cells of a CSV are text.

    >>> InArrayValidator(["S", 1]).passes(pl.Series(["S", "1", "M"]), rows=None).to_list()
    [True, True, False]
    >>> InArrayValidator(["S", 1], strict=True).passes(pl.Series(["S", "1", "M"]), rows=None).to_list()
    [True, False, False]
    """

    is_elementwise = True
    code = "in_array"
    message = "The value is not one of the allowed values."

    def __init__(self, allowed: Sequence[Any], strict: bool = False, message: str | None = None) -> None:
        self.allowed = sequence("InArrayValidator", "allowed", allowed)
        if not self.allowed:
            raise ConfigError("InArrayValidator: allowed must have at least one value.")
        self.strict = bool(strict)
        if message is not None:
            self.message = message
        listed = [value for value in self.allowed if value is not None]
        self._keys = frozenset(_typed(value) for value in listed)
        self._listed = tuple(listed)

    @cached_property
    def _texts(self) -> pl.Series:
        texts = dict.fromkeys(text_of(value) for value in self._listed)
        texts.update(dict.fromkeys(repr(value) for value in self._listed if isinstance(value, float)))
        return pl.Series(list(texts), dtype=pl.String)

    @cached_property
    def _strict_texts(self) -> pl.Series:
        return pl.Series([value for value in self._listed if isinstance(value, str)], dtype=pl.String)

    def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
        """Whether each value is in the list."""
        if values.dtype == pl.String:
            found = values.is_in((self._strict_texts if self.strict else self._texts).implode())
        elif self.strict:
            found = over_distinct(values, lambda value: _typed(value) in self._keys, pl.Boolean)
        else:
            found = as_text(values).is_in(self._texts.implode())
        return sure(found) | is_empty(values)

    def describe(self) -> Mapping[str, Any]:
        """The list, whether it is strict, and the message."""
        allowed = [json_value(value) for value in self.allowed]
        return {"allowed": allowed, "strict": self.strict, "message": self.message}


def _typed(value: Any) -> tuple[str, Any]:
    """A value as strict comparison sees it: its family and what is compared."""
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, int | float | Decimal):
        number = exact_decimal(value)
        return ("number", number) if number is not None else ("number", text_of(value))
    if isinstance(value, datetime):
        return "datetime", value
    if isinstance(value, date):
        return "date", value
    return ("text", str(value)) if isinstance(value, str) else (type(value).__name__, text_of(value))
