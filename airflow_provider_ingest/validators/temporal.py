"""The validator of dates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.transformers.dates import date_format
from airflow_provider_ingest.transformers.values import as_text, is_empty, mend
from airflow_provider_ingest.validators.base import Validator


class DateValidator(Validator):
    """The value must be a date in the format, as strictly as ``datetime.strptime``; null and empty text pass.

    Columns that hold dates or timestamps already pass.

    :param format: ``strptime`` directives; a format without ``%`` is read as PHP's letters (``Y-m-d``).

    >>> DateValidator().passes(pl.Series(["2024-02-29", "2023-02-29", ""]), rows=None).to_list()
    [True, False, True]
    """

    is_elementwise = True
    code = "date"

    def __init__(self, format: str = "%Y-%m-%d", message: str | None = None) -> None:
        self.format = date_format("DateValidator", "format", format)
        self.message = message if message is not None else f"The value is not a date in the format {self.format.given}."

    def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
        """Whether each value is a date."""
        if values.dtype in (pl.Date, pl.Datetime):
            return pl.repeat(True, values.len(), dtype=pl.Boolean, eager=True)
        text, empty = as_text(values), is_empty(values)
        sure = self.format.parse_column(text).is_not_null() | empty
        return mend(sure, ~sure, text, lambda value: self.format.parse(value) is not None)

    def describe(self) -> Mapping[str, Any]:
        """The format as given and the message."""
        return {"format": self.format.given, "message": self.message}
