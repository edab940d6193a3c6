"""The transformer of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, cast

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Refusal, Rows, Transformed, Transformer
from airflow_provider_ingest.transformers.numbers import (
    SHORT_PLACES,
    SHORT_SHAPE,
    NumberFormat,
    exact_decimal,
    parse_plain,
    rounded,
    short_shape,
)
from airflow_provider_ingest.transformers.values import MAX_PRECISION, as_text, stripped, sure, to_series

MAX_DECIMALS = 30
_LOOKED_AT = 100
"""Rows that tell whether a column is worth a try."""


class _Unset:
    """The default of an option for which ``None`` is a value."""

    def __repr__(self) -> str:
        return "<unset>"


UNSET: Final = _Unset()


class NumericTransformer(Transformer):
    """Turns text into exact decimals, rounded half away from zero.

    Null and empty text become null; text that is not a number fails the row with the code ``numeric``. With a
    ``default`` it stands for all three.

    :param decimals: places after the point; ``None`` keeps all digits.
    :param decimal_separator: one character.
    :param thousands_separator: one character between groups of three digits; not every number needs to have it.

    >>> NumericTransformer(2).transform(pl.Series(["1.005", " 7 "]), rows=None).values.to_list()
    [Decimal('1.01'), Decimal('7.00')]
    >>> euro = NumericTransformer(2, decimal_separator=",", thousands_separator=".")
    >>> euro.transform(pl.Series(["1.234,5"]), rows=None).values.to_list()
    [Decimal('1234.50')]
    """

    is_elementwise = True

    def __init__(
        self,
        decimals: int | None = None,
        decimal_separator: str = ".",
        thousands_separator: str | None = None,
        default: Any = UNSET,
    ) -> None:
        if decimals is not None and (type(decimals) is not int or not 0 <= decimals <= MAX_DECIMALS):
            raise ConfigError(
                f"NumericTransformer: decimals must be an integer from 0 to {MAX_DECIMALS} or None, not {decimals!r}."
            )
        _check_separator("decimal_separator", decimal_separator)
        if thousands_separator is not None:
            _check_separator("thousands_separator", thousands_separator)
            if thousands_separator == decimal_separator:
                raise ConfigError("NumericTransformer: decimal_separator and thousands_separator must differ.")
        self.decimals = decimals
        self.format = NumberFormat(decimal=decimal_separator, thousands=thousands_separator)
        self.default = default
        self._default = None if default is None or default is UNSET else exact_decimal(default)
        if self._default is None and default is not None and default is not UNSET:
            raise ConfigError(f"NumericTransformer: default must be a number or None, not {default!r}.")

    def transform(self, values: pl.Series, rows: Rows) -> Transformed:
        """The numbers: a decimal column, or text where the digits of a batch exceed 38."""
        written = as_text(values)
        fitting = self._fitting(written)
        is_short = sure(written.str.contains(SHORT_SHAPE)) if fitting is None and self.format.is_plain else None
        if fitting is not None:
            result = fitting
        elif is_short is not None and self._fits_short() and not _hides_numbers(written, is_short):
            result = self._short(written if is_short.all() else written.set(~is_short, None))
        else:
            written = stripped(written)
            result = self._careful(written if self.format.is_plain else self.format.plain_column(values))
        missing = result.is_null()
        if self.default is not UNSET:
            return Transformed(values=self._filled(result, missing).alias(values.name))
        refused = missing & sure(written != "")
        refusals = (
            (Refusal(rows=refused, code="numeric", message="The value is not a number."),) if refused.any() else ()
        )
        return Transformed(values=result.alias(values.name), refused=refusals)

    def _fitting(self, written: pl.Series) -> pl.Series | None:
        """The numbers where none has more decimals than are kept, as most columns are; else ``None``."""
        if self.decimals is None or not self.format.is_plain or not self._fits_short():
            return None
        shape = short_shape(self.decimals)
        if not sure(written.head(_LOOKED_AT).str.contains(shape)).any():
            return None
        fits = sure(written.str.contains(shape))
        if _hides_numbers(written, fits):
            return None
        plain = written if fits.all() else written.set(~fits, None)
        return plain.cast(pl.Decimal(MAX_PRECISION, self.decimals))

    def _careful(self, plain: pl.Series) -> pl.Series:
        """Numbers among blanks, in other notations, or with many digits."""
        is_short = sure(plain.str.contains(SHORT_SHAPE))
        others = [] if is_short.all() else plain.filter(~is_short).drop_nulls().unique().to_list()
        if any(parse_plain(text) is not None for text in others) or not self._fits_short():
            return self._exact(plain)
        return self._short(plain if is_short.all() else plain.set(~is_short, None))

    def _fits_short(self) -> bool:
        return self.decimals is None or self.decimals + SHORT_PLACES + 1 <= MAX_PRECISION

    def _short(self, plain: pl.Series) -> pl.Series:
        """Numbers of at most 18 digits on each side of the point, in columns."""
        point = plain.str.find(".", literal=True)
        scale = cast("int", (plain.str.len_bytes() - point - 1).max() or 0)
        parsed = plain.cast(pl.Decimal(MAX_PRECISION, scale))
        if self.decimals is None:
            return parsed
        if self.decimals < scale:
            parsed = parsed.round(self.decimals, mode="half_away_from_zero")
        return parsed.cast(pl.Decimal(MAX_PRECISION, self.decimals))

    def _exact(self, plain: pl.Series) -> pl.Series:
        """Numbers of any size, by Python's decimals."""
        parsed = [None if text is None else parse_plain(text) for text in plain.to_list()]
        result = to_series(None if number is None else rounded(number, self.decimals) for number in parsed)
        return result.cast(pl.Decimal(MAX_PRECISION, self.decimals or 0)) if result.dtype == pl.Null else result

    def _filled(self, numbers: pl.Series, missing: pl.Series) -> pl.Series:
        if self._default is None or not missing.any():
            return numbers
        default = to_series([self._default])
        if default.dtype != numbers.dtype:
            listed = [None if text is None else Decimal(text) for text in as_text(numbers).to_list()]
            return to_series(self._default if number is None else number for number in listed)
        return default.new_from_index(0, numbers.len()).zip_with(missing, numbers)

    def describe(self) -> Mapping[str, Any]:
        """All options; ``default`` only where one is given."""
        options: dict[str, Any] = {
            "decimals": self.decimals,
            "decimal_separator": self.format.decimal,
            "thousands_separator": self.format.thousands,
        }
        if self.default is not UNSET:
            options["default"] = None if self._default is None else format(self._default, "f")
        return options


def _hides_numbers(written: pl.Series, is_short: pl.Series) -> bool:
    """Whether among the texts that are no short numbers there is a number all the same, or nothing but blanks.

    A few wrong values are no reason to look at all the others once more.
    """
    if is_short.all():
        return False
    others = written.filter(~is_short).drop_nulls()
    if others.len() * 10 > written.len():
        return True
    return any(not text.strip() or parse_plain(text) is not None for text in others.unique().to_list() if text)


def _check_separator(option: str, separator: Any) -> None:
    if not isinstance(separator, str) or len(separator) != 1 or separator in "0123456789+-eE":
        raise ConfigError(
            f"NumericTransformer: {option} must be one character other than a digit, a sign or e, not {separator!r}."
        )
