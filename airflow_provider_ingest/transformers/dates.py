"""Date formats: ``strptime`` directives, or the letters of PHP's ``date`` where there is no ``%``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import pl

_PHP = {
    "d": "%d", "j": "%d", "D": "%a", "l": "%A", "z": None, "m": "%m", "n": "%m", "M": "%b", "F": "%B", "Y": "%Y",
    "y": "%y", "a": "%p", "A": "%p", "g": "%I", "h": "%I", "G": "%H", "H": "%H", "i": "%M", "s": "%S", "u": "%f",
    "O": "%z", "P": "%z", "p": "%z", "T": "%Z", "e": "%Z",
}  # fmt: skip

_FAST = {
    "%Y": "[1-9][0-9]{3}",
    "%m": "[0-9]{2}",
    "%d": "[0-9]{2}",
    "%H": "[0-9]{2}",
    "%M": "[0-9]{2}",
    "%S": "[0-5][0-9]",
}
"""Directives that Polars reads as Python does, once the text has this shape."""

_SAMPLE = datetime(2000, 2, 29, 13, 14, 15, 123456, tzinfo=UTC)


def from_php(letters: str) -> str:
    r"""The ``strptime`` format for a format in the letters of PHP's ``date``.

    >>> from_php("d.m.Y H:i"), from_php(r"Y-m-d\TH:i:s")
    ('%d.%m.%Y %H:%M', '%Y-%m-%dT%H:%M:%S')

    :raises ValueError: for a letter that has no counterpart.
    """
    parts = []
    characters = iter(letters)
    for character in characters:
        if character == "\\":
            parts.append(next(characters, ""))
        elif character.isascii() and character.isalpha():
            directive = _PHP.get(character)
            if directive is None:
                raise ValueError(f"the letter {character!r} has no counterpart in strptime")
            parts.append(directive)
        else:
            parts.append(character)
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A checked format.

    :param given: as the definition has it.
    :param directives: in the language of ``strptime``.
    :param shape: the regex (in Polars' dialect) of texts that Polars reads as Python does; ``None`` if there are none.
    :param writes_fast: whether Polars writes it as Python does.
    """

    given: str
    directives: str
    shape: str | None
    writes_fast: bool

    def parse(self, text: str) -> datetime | None:
        """The moment that a text is, or ``None``; strict as ``datetime.strptime`` is."""
        try:
            return datetime.strptime(text, self.directives)
        except (ValueError, OverflowError):
            return None

    def parse_column(self, text: pl.Series) -> pl.Series:
        """The moments that Polars is sure of, null elsewhere."""
        if self.shape is None:
            return pl.repeat(None, text.len(), dtype=pl.Datetime("us"), eager=True)
        sure = text.set(~text.str.contains(self.shape).fill_null(False), None)
        return sure.str.to_datetime(self.directives, time_unit="us", strict=False)


@lru_cache(maxsize=512)
def _checked(given: str, reads: bool) -> DateFormat:
    directives = given if "%" in given else from_php(given)
    if "%" not in directives:
        raise ValueError("it has no directive")
    try:
        written = _SAMPLE.strftime(directives)
    except ValueError:
        raise ValueError("strftime cannot write it") from None
    if reads:
        try:
            datetime.strptime(written, directives)
        except (ValueError, KeyError, IndexError, re.error) as error:
            reason = str(error) if "directive" in str(error) or "stray" in str(error) else "strptime cannot read it"
            raise ValueError(reason) from None
    parts = re.findall(r"%.?|[^%]", directives, re.DOTALL)
    plain = all(
        part in _FAST or (len(part) == 1 and part.isascii() and (part == " " or not part.isspace())) for part in parts
    )
    used = [part for part in parts if part in _FAST]
    shape = None
    if plain and len(set(used)) == len(used) and {"%Y", "%m", "%d"} <= set(used) and "  " not in directives:
        shape = r"\A" + "".join(_FAST.get(part) or rf"\x{{{ord(part):x}}}" for part in parts) + r"\z"
    return DateFormat(given, directives, shape, plain)


def date_format(owner: str, option: str, given: Any, *, reads: bool = True) -> DateFormat:
    """The format that a definition gives.

    :param reads: whether it is used to read dates, not only to write them.
    :raises ConfigError: if it is not one that ``strptime`` (or ``strftime``) takes.
    """
    if not isinstance(given, str) or not given:
        raise ConfigError(f'{owner}: {option} must be a date format such as "%Y-%m-%d" (or "Y-m-d"), not {given!r}.')
    try:
        return _checked(given, reads)
    except ValueError as error:
        raise ConfigError(f'{owner}: {option} {given!r} is not a date format: {error}. Use e.g. "%Y-%m-%d".') from None
