"""The transformer of dates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Refusal, Rows, Transformed, Transformer
from airflow_provider_ingest.transformers.dates import date_format
from airflow_provider_ingest.transformers.values import as_text, is_empty, mend, over_distinct, text_of


class DateTransformer(Transformer):
    """Reads a date in one format and writes it in another.

    Strict as ``datetime.strptime`` is: 31 February is no date. Empty and invalid input gives ``default``; with
    ``on_invalid="fail"`` invalid input fails the row with the code ``date``.

    :param input_format: ``strptime`` directives; a format without ``%`` is read as PHP's letters (``d.m.Y``).
    :param output_format: ``strftime`` directives, or PHP's letters.

    >>> german = DateTransformer("%d.%m.%Y", "%Y-%m-%d")
    >>> german.transform(pl.Series(["29.02.2024", "31.02.2024"]), rows=None).values.to_list()
    ['2024-02-29', None]
    """

    is_elementwise = True

    def __init__(
        self,
        input_format: str,
        output_format: str,
        default: Any = None,
        on_invalid: Literal["default", "fail"] = "default",
    ) -> None:
        if on_invalid not in ("default", "fail"):
            raise ConfigError(f'DateTransformer: on_invalid must be "default" or "fail", not {on_invalid!r}.')
        self.input_format = date_format("DateTransformer", "input_format", input_format)
        self.output_format = date_format("DateTransformer", "output_format", output_format, reads=False)
        self.on_invalid = on_invalid
        if isinstance(default, date):
            default = default.strftime(self.output_format.directives)
        self.default = None if default is None else text_of(default)

    def transform(self, values: pl.Series, rows: Rows) -> Transformed:
        """The dates as text; columns that hold dates already are only written."""
        if values.dtype in (pl.Date, pl.Datetime):
            written = over_distinct(values, lambda value: value.strftime(self.output_format.directives), pl.String)
        else:
            text = as_text(values)
            fast = self._fast(text)
            written = mend(fast, fast.is_null() & ~is_empty(text), text, self._rewrite)
        missing = written.is_null()
        refusals: tuple[Refusal, ...] = ()
        if self.on_invalid == "fail":
            refused = missing & ~is_empty(values)
            message = f"The value is not a date in the format {self.input_format.given}."
            refusals = (Refusal(rows=refused, code="date", message=message),) if refused.any() else ()
        if self.default is not None:
            written = written.fill_null(self.default)
        return Transformed(values=written.alias(values.name), refused=refusals)

    def _fast(self, text: pl.Series) -> pl.Series:
        if not self.output_format.writes_fast:
            return pl.repeat(None, text.len(), dtype=pl.String, eager=True)
        return self.input_format.parse_column(text).dt.strftime(self.output_format.directives)

    def _rewrite(self, text: str) -> str | None:
        moment = self.input_format.parse(text)
        return None if moment is None else moment.strftime(self.output_format.directives)

    def describe(self) -> Mapping[str, Any]:
        """The formats as given, the default and what happens to invalid input."""
        return {
            "input_format": self.input_format.given,
            "output_format": self.output_format.given,
            "default": self.default,
            "on_invalid": self.on_invalid,
        }
