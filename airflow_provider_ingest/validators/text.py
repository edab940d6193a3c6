"""Validators of text: e-mail addresses and patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Refusal, Rows
from airflow_provider_ingest.transformers.callables import shown
from airflow_provider_ingest.transformers.values import as_text, is_empty, sure
from airflow_provider_ingest.validators.base import Validator
from airflow_provider_ingest.validators.patterns import Pattern

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_LAST_LABEL = r"[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
ADDRESS = rf"{_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+{_LAST_LABEL}"
"""A dot-atom, one @, a dotted domain of host names; the last label starts with a letter."""

TOO_LONG = "The pattern took too long on this value."
UNCHECKED = "The pattern took too long on other values, so that this one was not checked."

ADDRESS_LENGTH, LOCAL_LENGTH = 254, 64


class EmailValidator(Validator):
    """Checks the form of an e-mail address, as RFC 5321 has it in practice; null and empty text pass.

    >>> EmailValidator().passes(pl.Series(["ada@example.org", "ada@localhost", ""]), rows=None).to_list()
    [True, False, True]
    """

    is_elementwise = True
    code = "email"
    message = "The value is not an e-mail address."

    def __init__(self, message: str | None = None) -> None:
        if message is not None:
            self.message = message

    def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
        """Whether each value is an address."""
        text = as_text(values)
        is_address = text.str.contains(rf"\A{ADDRESS}\z")
        length = text.str.len_bytes()
        if cast("int", length.max() or 0) > LOCAL_LENGTH:
            is_address &= (length <= ADDRESS_LENGTH) & sure(text.str.find("@", literal=True) <= LOCAL_LENGTH)
        return sure(is_address) | is_empty(values)

    def describe(self) -> Mapping[str, Any]:
        """The message."""
        return {"message": self.message}


class RegexValidator(Validator):
    r"""Searches a pattern of Python's ``re`` in the value's text; null and empty text pass.

    A pattern that takes too long on a value fails that row, with the code ``regex`` and a message of its own.

    >>> RegexValidator(r"^[A-Z]{2}-\d+$").passes(pl.Series(["DE-7", "7", ""]), rows=None).to_list()
    [True, False, True]

    :raises ConfigError: for a pattern that ``re`` does not compile.
    """

    is_elementwise = True
    code = "regex"
    message = "The value does not have the required format."

    def __init__(self, pattern: str | re.Pattern[str], message: str | None = None) -> None:
        try:
            compiled = re.compile(pattern)
        except (re.error, TypeError, OverflowError, RecursionError) as error:
            raise ConfigError(f"RegexValidator: {shown(pattern)} is not a pattern of Python's re: {error}.") from None
        if not isinstance(compiled.pattern, str):
            raise ConfigError(f"RegexValidator: the pattern must be text, not bytes: {compiled.pattern!r}.")
        self.pattern = Pattern(compiled)
        if message is not None:
            self.message = message

    def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
        """Whether the pattern is found; false also where it took too long."""
        return self.pattern.search(as_text(values).set(is_empty(values), None)).found

    def refusals(self, values: pl.Series, rows: Rows) -> tuple[Refusal, ...]:
        """The rows without a match, and those on which the pattern took too long."""
        searched = self.pattern.search(as_text(values).set(is_empty(values), None))
        reasons = ((searched.missed, self.message), (searched.too_long, TOO_LONG), (searched.unchecked, UNCHECKED))
        return tuple(Refusal(rows=rows, code=self.code, message=message) for rows, message in reasons if rows.any())

    def describe(self) -> Mapping[str, Any]:
        """Pattern, flags where any are set, and the message."""
        options: dict[str, Any] = {"pattern": self.pattern.compiled.pattern, "message": self.message}
        flags = self.pattern.compiled.flags & ~re.UNICODE
        if flags:
            options["flags"] = flags
        return options
