"""The validator of numeric ranges."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.transformers.numbers import PLAIN_SHAPE, exact_decimal, parse_plain
from airflow_provider_ingest.transformers.values import as_text, is_empty, mend, stripped, text_of
from airflow_provider_ingest.validators.base import Validator

NEARNESS = 1e-12
"""Relative distance within which floats decide nothing; large decimals become floats in two roundings."""


class RangeValidator(Validator):
    """The value must be a number within the bounds, both included; null and empty text pass, other text fails.

    Compared exactly: ``0.1`` in a definition is one tenth, not the binary float next to it.

    >>> RangeValidator(0, 10).passes(pl.Series(["10.0", "10.01", "x", ""]), rows=None).to_list()
    [True, False, False, True]

    :param min: the least number allowed; ``None`` for no bound (one of the two is needed).
    """

    is_elementwise = True
    code = "range"

    def __init__(self, min: Any = None, max: Any = None, message: str | None = None) -> None:
        self.min, self.max = _bound("min", min), _bound("max", max)
        if self.min is None and self.max is None:
            raise ConfigError("RangeValidator: give min, max or both.")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ConfigError(f"RangeValidator: min {self.min} is above max {self.max}.")
        self.message = message if message is not None else self._default_message()

    def _default_message(self) -> str:
        if self.max is None:
            return f"The value must be a number of at least {self.min:f}."
        if self.min is None:
            return f"The value must be a number of at most {self.max:f}."
        return f"The value must be a number between {self.min:f} and {self.max:f}."

    def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
        """Whether each number is within; booleans, dates and other text are not numbers."""
        if self._covers(values):
            return pl.repeat(True, values.len(), dtype=pl.Boolean, eager=True)
        if values.dtype.is_numeric():
            numbers, near = values, values.cast(pl.Float64)
        else:
            text = stripped(as_text(values))
            numbers = text.set(~text.str.contains(PLAIN_SHAPE).fill_null(False), None)
            near = numbers.cast(pl.Float64, strict=False)
        within, unsure = near.is_finite(), near.is_infinite() | near.is_null()
        for bound, is_least in ((self.min, True), (self.max, False)):
            if bound is not None:  # rounding to a float keeps the order, so only what comes near the bound is unsure
                edge = float(bound)
                within = within & (near >= edge if is_least else near <= edge)
                unsure = unsure | ((near - edge).abs() <= abs(edge) * NEARNESS)
        unsure = unsure.fill_null(True) & numbers.is_not_null()
        exact = mend(within.fill_null(False), unsure, numbers, self._is_within)
        return exact.fill_null(False) | is_empty(values)

    def _covers(self, values: pl.Series) -> bool:
        """Whether the extremes of a column of exact numbers say that all of them are within."""
        if not (values.dtype.is_integer() or values.dtype.is_decimal()):
            return False
        least, most = cast("int | Decimal | None", values.min()), cast("int | Decimal | None", values.max())
        if least is None or most is None:
            return True
        return (self.min is None or least >= self.min) and (self.max is None or most <= self.max)

    def _is_within(self, value: Any) -> bool:
        number = parse_plain(text_of(value))
        if number is None:
            return False
        return (self.min is None or number >= self.min) and (self.max is None or number <= self.max)

    def describe(self) -> Mapping[str, Any]:
        """The bounds as text, and the message."""
        bounds = {"min": self.min, "max": self.max}
        return {name: None if bound is None else format(bound, "f") for name, bound in bounds.items()} | {
            "message": self.message
        }


def _bound(option: str, given: Any) -> Decimal | None:
    if given is None:
        return None
    bound = exact_decimal(given)
    if bound is None:
        raise ConfigError(f"RangeValidator: {option} must be a number or None, not {given!r}.")
    return bound
