"""What a validator is: a column in, which rows pass out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Refusal, Rows


class Validator(ABC):
    """A columnar check: subclass, set ``code`` and ``message``, implement :meth:`passes`.

    >>> class Positive(Validator):
    ...     code, message = "positive", "The value must be above zero."
    ...     def passes(self, values, rows):
    ...         return values > 0
    >>> Positive().passes(pl.Series([1, -1, None]), rows=None).to_list()
    [True, False, None]
    """

    code: str = "invalid"
    message: str = "The value is not valid."

    is_elementwise: bool = False
    """Whether each answer depends on its value alone, not on other rows or fields. Such a validator may be given the
    distinct values of a column, in any order and without rows. A subclass that overrides :meth:`passes` or
    :meth:`refusals` says so anew."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if {"passes", "refusals"} & cls.__dict__.keys() and "is_elementwise" not in cls.__dict__:
            cls.is_elementwise = False

    @property
    def name(self) -> str:
        """The validator's name in manifests."""
        return type(self).__name__

    @abstractmethod
    def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
        """A Boolean series of the same length: true or null passes, false fails the row."""

    def refusals(self, values: pl.Series, rows: Rows) -> tuple[Refusal, ...]:
        """The rows that fail; override it for a validator with more than one message.

        :raises RunFailed: if :meth:`passes` gives something other than a Boolean column of the same length.
        """
        passes = self.passes(values, rows)
        if not isinstance(passes, pl.Series) or passes.dtype != pl.Boolean or passes.len() != values.len():
            raise RunFailed(f"The validator {self.name} returned no Boolean column of {values.len()} rows.")
        failed = ~(passes.fill_null(True) if passes.null_count() else passes)
        return (Refusal(rows=failed, code=self.code, message=self.message),) if failed.any() else ()

    def describe(self) -> Mapping[str, Any]:
        """The options as JSON values for the manifest: deterministic, without addresses."""
        return {}


class ScalarValidator(ABC):
    """A check written for one value at a time: the engine loops, over distinct values where it can.

    :meth:`check_value` returns ``True`` or ``None`` to pass, ``False`` to fail with ``message``, or a text that is
    the message; ``ValueError("…")`` fails with its text. Set ``uses_row = True`` to receive the row.
    """

    code: str = "invalid"
    message: str = "The value is not valid."
    uses_row: bool = False

    @property
    def name(self) -> str:
        """The validator's name in manifests."""
        return type(self).__name__

    @abstractmethod
    def check_value(self, value: Any, row: Mapping[str, Any] | None) -> bool | str | None:
        """Whether the value passes."""

    def describe(self) -> Mapping[str, Any]:
        """The options as JSON values for the manifest."""
        return {}
