"""What a user may give as a validator: an instance, a class, or a plain callable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.transformers.callables import callable_name, instantiate, short_name, shown, takes_row
from airflow_provider_ingest.validators.base import ScalarValidator, Validator


class CallableValidator(ScalarValidator):
    """A plain callable as a validator: true or ``None`` passes, false fails, a text fails with that message.

    >>> CallableValidator(str.isdigit, uses_row=False).check_value("7a", None)
    False
    """

    def __init__(self, function: Callable[..., Any], *, uses_row: bool) -> None:
        self.function = function
        self.uses_row = uses_row

    @property
    def name(self) -> str:
        """The function's own name."""
        return short_name(self.function)

    def check_value(self, value: Any, row: Mapping[str, Any] | None) -> bool | str | None:
        """What the function returns."""
        verdict: bool | str | None = self.function(value, row) if self.uses_row else self.function(value)
        return verdict

    def describe(self) -> Mapping[str, Any]:
        """The function's qualified name, and whether it sees the row."""
        return {"callable": callable_name(self.function), "uses_row": self.uses_row}


def as_validator(given: Any) -> Validator | ScalarValidator:
    """The validator that a definition gives: an instance, a class without arguments, or a plain callable.

    A callable with one required positional argument receives the value and is called once for each distinct value;
    one with two receives the value and the raw row.

    :raises ConfigError: naming what came and what is allowed.
    """
    if isinstance(given, Validator | ScalarValidator):
        return given
    if isinstance(given, type) and issubclass(given, Validator | ScalarValidator):
        made: Validator | ScalarValidator = instantiate(given, "validator")
        return made
    if any(hasattr(given, method) for method in ("transform", "transform_value")):
        raise ConfigError(f"{shown(given)} is a transformer, not a validator: give it where transformers belong.")
    return CallableValidator(given, uses_row=takes_row(given, "validator"))
