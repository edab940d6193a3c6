"""The validator of presence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.transformers.values import is_empty, sure
from airflow_provider_ingest.validators.base import Validator


class RequiredValidator(Validator):
    """Fails null, the empty text and the empty array (also as JSON text, ``[]``); blanks are a value.

    >>> RequiredValidator().passes(pl.Series(["a", " ", "", None, "[]"]), rows=None).to_list()
    [True, True, False, False, False]
    """

    is_elementwise = True
    code = "required"
    message = "A value is required."

    def __init__(self, message: str | None = None) -> None:
        if message is not None:
            self.message = message

    def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
        """Whether there is a value."""
        empty = is_empty(values)
        if values.dtype == pl.String:
            if sure(values.str.starts_with("[")).any():
                empty = empty | sure(values.str.contains(r"\A\[[ \t\r\n]*\]\z"))
        elif values.dtype == pl.List:
            empty = empty | (values.list.len() == 0).fill_null(False)
        elif values.dtype == pl.Array:
            empty = empty | (values.arr.len() == 0).fill_null(False)
        return ~empty

    def describe(self) -> Mapping[str, Any]:
        """The message."""
        return {"message": self.message}
