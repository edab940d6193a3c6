"""Numbers in text: one grammar, exact decimals.

A number is ASCII: an optional sign, digits with or without a decimal separator, an optional exponent, blanks
around it. ``NaN``, ``inf``, ``0x1f``, ``1_000`` and digits of other scripts are not numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.values import as_text, stripped

MAX_DIGITS = 1000
"""Most digits before and after the point; what has more (``1e9999``) is no number that a table can take."""

EXACT = Context(prec=3 * MAX_DIGITS)

_PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
PLAIN_SHAPE = r"\A[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?\z"
"""The grammar in the regex dialect of Polars."""

SHORT_PLACES = 18
"""Digits before and after the point that a decimal column takes exactly."""


def short_shape(places: int) -> str:
    """The regex of numbers with no more digits than that before the point, and than ``places`` after it."""
    places = min(places, SHORT_PLACES)
    begun = rf"|\.[0-9]{{1,{places}}}" if places else ""
    return rf"\A[+-]?(?:[0-9]{{1,{SHORT_PLACES}}}(?:\.[0-9]{{0,{places}}})?{begun})\z"


SHORT_SHAPE = short_shape(SHORT_PLACES)
"""Numbers that a decimal column of 18 places takes exactly."""

NO_BREAK_BLANKS = "\xa0\u202f"


def parse_plain(text: str) -> Decimal | None:
    """The exact number that a text is, or ``None``.

    >>> parse_plain(" 1e5 "), parse_plain("-.50"), parse_plain("1_000"), parse_plain("NaN")
    (Decimal('1E+5'), Decimal('-0.50'), None, None)
    """
    text = text.strip()
    if not _PLAIN.fullmatch(text):
        return None
    value = Decimal(text)
    exponent = int(value.as_tuple().exponent)
    if value.adjusted() >= MAX_DIGITS or exponent < -MAX_DIGITS or exponent >= MAX_DIGITS:
        return None
    return value if value else Decimal(0).scaleb(min(exponent, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """How a file writes its numbers.

    :param decimal: the decimal separator, one character.
    :param thousands: the separator of groups of three digits; numbers without it are accepted too. A space also
        stands for the no-break spaces that spreadsheets write.
    """

    decimal: str = "."
    thousands: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is the plain notation."""
        return self.decimal == "." and self.thousands is None

    @property
    def _groups(self) -> str:
        if self.thousands is None:
            return ""
        return self.thousands + (NO_BREAK_BLANKS if self.thousands == " " else "")

    def _pattern(self, hexadecimal: str, end: str) -> str:
        separator = "[" + "".join(hexadecimal % ord(character) for character in self._groups) + "]"
        whole = rf"[0-9]{{1,3}}(?:{separator}[0-9]{{3}})+|[0-9]+" if self._groups else "[0-9]+"
        point = hexadecimal % ord(self.decimal)
        exponent = r"(?:[eE][+-]?[0-9]{1,4})?"
        return rf"\A[+-]?(?:(?:{whole})(?:{point}[0-9]*)?|{point}[0-9]+){exponent}{end}"

    def plain(self, text: str) -> str | None:
        """The text in plain notation, or ``None`` if it is not written this way."""
        text = text.strip()
        if not re.match(self._pattern("\\U%08x", r"\Z"), text):
            return None
        for character in self._groups:
            text = text.replace(character, "")
        return text.replace(self.decimal, ".")

    def plain_column(self, values: pl.Series) -> pl.Series:
        """The column in plain notation, null where it is not written this way (columns of numbers always are)."""
        text = stripped(as_text(values))
        if self.is_plain or values.dtype != pl.String:
            return text
        text = text.set(~text.str.contains(self._pattern(r"\x{%x}", r"\z")).fill_null(False), None)
        for character in self._groups:
            text = text.str.replace_all(character, "", literal=True)
        return text.str.replace(self.decimal, ".", literal=True)


def rounded(value: Decimal, decimals: int | None) -> Decimal:
    """The number with so many decimals, half away from zero.

    >>> rounded(Decimal("1.005"), 2), rounded(Decimal("-2.5"), 0)
    (Decimal('1.01'), Decimal('-3'))
    """
    if decimals is None:
        return value
    result = value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, EXACT)
    return result if result else abs(result)


def exact_decimal(value: Any) -> Decimal | None:
    """A number given in a definition, exactly as it is written; ``None`` if it is not a finite number.

    >>> exact_decimal(0.1), exact_decimal("1.50"), exact_decimal(True)
    (Decimal('0.1'), Decimal('1.50'), None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    number = (
        value if isinstance(value, Decimal) else parse_plain(repr(value) if isinstance(value, float) else str(value))
    )
    return number if number is not None and number.is_finite() else None
