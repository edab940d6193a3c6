"""What the values of a sample's column are: text, unless every one of them proves otherwise."""

from __future__ import annotations

import json
from dataclasses import dataclass

import polars as pl

from airflow_provider_ingest.transformers import DateTransformer
from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.validators import EmailValidator

INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
DECIMAL = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
DECIMAL_GROUPED = r"^-?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(,[0-9]{3})+)(\.[0-9]+)?$"
DECIMAL_COMMA = r"^-?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+)(,[0-9]+)?$"
BLANK = "[ \u00a0\u202f]"
"""Between groups of digits, as typed, in HTML and in print."""
DECIMAL_BLANK = rf"^-?(0|[1-9][0-9]*|[1-9][0-9]{{0,2}}({BLANK}[0-9]{{3}})+)(\.[0-9]+)?$"
DECIMAL_COMMA_BLANK = rf"^-?(0|[1-9][0-9]*|[1-9][0-9]{{0,2}}({BLANK}[0-9]{{3}})+)(,[0-9]+)?$"
BOOLEANS = frozenset({"yes", "no", "true", "false", "y", "n", "on", "off"})
DATES = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y",
)  # fmt: skip
NO_ROWS = Rows(pl.DataFrame(), pl.Series(dtype=pl.Int64))
"""What the classes asked here do not look at."""

FIRST = 100
"""Values that a format is tried on before all the others are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What a column is taken for.

    :param kind: ``text``, ``integer``, ``decimal``, ``decimal_grouped``, ``decimal_comma``, ``decimal_blank``,
        ``decimal_comma_blank``, ``boolean``, ``date``, ``email`` or ``json``.
    :param format: of a date.
    :param doubt: why a column stayed text that looks like something else.
    """

    kind: str
    format: str = ""
    doubt: str | None = None


def guess(filled: pl.Series) -> Guess:
    """The narrowest kind that every value is of.

    What the written importer does to a value decides, so that it accepts the sample it was written from.

    :param filled: the values that are not empty, without blanks around them.
    """
    if not len(filled):
        return Guess(kind="text")
    if set(filled.str.to_lowercase().unique()) <= BOOLEANS:
        return Guess(kind="boolean")
    if filled.str.contains(INTEGER).all():
        return Guess(kind="integer")
    number = _number(filled)
    if number is not None:
        return number
    if filled.str.contains("@", literal=True).all() and EmailValidator().passes(filled, NO_ROWS).all():
        return Guess(kind="email")
    fitting = [each for each in DATES if _are_dates(filled.head(FIRST), each).all() and _are_dates(filled, each).all()]
    if len(fitting) == 1:
        return Guess(kind="date", format=fitting[0])
    if fitting:
        return Guess(kind="text", doubt="day and month cannot be told apart; if these are dates, use DateTransformer.")
    if filled.str.contains("^0[0-9]+$").any() and filled.str.contains("^[0-9]+$").all():
        return Guess(kind="text", doubt="leading zeros.")
    return Guess(kind="text", doubt=_exceptions(filled))


def _number(filled: pl.Series) -> Guess | None:
    """A notation of numbers, where the values bear no other: 1,234 is one number in English and another in German."""
    is_grouped, is_comma = (filled.str.contains(each).all() for each in (DECIMAL_GROUPED, DECIMAL_COMMA))
    if is_grouped and is_comma and filled.str.contains("[.,]").any():
        seen = filled.filter(filled.str.contains("[.,]"))[0]
        return Guess(
            kind="text",
            doubt=f"{seen} may be thousands or a fraction; if these are numbers, use NumericTransformer "
            "with its decimal_separator and thousands_separator.",
        )
    if is_grouped:
        return Guess(kind="decimal" if filled.str.contains(DECIMAL).all() else "decimal_grouped")
    return Guess(kind="decimal_comma") if is_comma else _number_with_blanks(filled)


def _number_with_blanks(filled: pl.Series) -> Guess | None:
    """The same with blanks between the thousands; without a fraction they may as well be telephone numbers."""
    is_point, is_comma = (filled.str.contains(each).all() for each in (DECIMAL_BLANK, DECIMAL_COMMA_BLANK))
    if is_point and is_comma:
        seen = filled.filter(filled.str.contains(BLANK))[0]
        doubt = (
            f'{seen} may be a number or a code; if these are numbers, use NumericTransformer(thousands_separator=" ").'
        )
        return Guess(kind="text", doubt=doubt)
    if is_point or is_comma:
        return Guess(kind="decimal_blank" if is_point else "decimal_comma_blank")
    return None


def _are_dates(values: pl.Series, format: str) -> pl.Series:
    return DateTransformer(format, "%Y-%m-%d").transform(values, NO_ROWS).values.is_not_null()


def _exceptions(filled: pl.Series) -> str | None:
    """What a column would be but for a few values, and the first of these."""
    first = filled.head(FIRST)
    numeric = pl.Series([False]).new_from_index(0, len(first))
    for pattern in (DECIMAL, DECIMAL_GROUPED, DECIMAL_COMMA, DECIMAL_BLANK, DECIMAL_COMMA_BLANK):
        numeric |= first.str.contains(pattern)
    dates = pl.Series([False]).new_from_index(0, len(first))
    for format in DATES:
        dates |= _are_dates(first, format)
    if dates.all():
        return "dates in several formats."
    for are, name in ((numeric, "numbers"), (dates, "dates")):
        if 2 * are.sum() > len(first) and not are.all():
            return f"most values are {name}, but not {json.dumps(first.filter(~are)[0][:50])}."
    return None
