"""How the fields of a CSV file are written, and the options that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.options import flag_option, names_option, number_option, text_option

NO_QUOTE = ""
"""The quote of a dialect that knows none: every quote character is text."""

DELIMITERS = (",", ";", "\t", "|", ":", "~", "^", "\x1f", "\x01", " ", ", ", "; ", "| ", " | ")
"""The delimiters that are common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    r"""Delimiter, quote and escape of a file.

    :param delimiter: one or more characters.
    :param quote: one character, or ``""`` where nothing is quoted.
    :param escape: ``""`` where a quote inside a quoted field is doubled; a character (``\``) where that character
        stands before it (doubling is then understood as well).

    >>> Dialect(delimiter=";").is_simple
    True
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""

    def __post_init__(self) -> None:
        if not self.delimiter or "\n" in self.delimiter or "\r" in self.delimiter:
            raise FormatError(
                f"The delimiter {self.delimiter!r} is not usable: give one or more characters, no newline."
            )
        for name, value in (("quote", self.quote), ("escape", self.escape)):
            if len(value.encode()) > 1 or value in ("\n", "\r"):
                raise FormatError(
                    f"The {name} {value!r} is not usable: give one ASCII character, or an empty text for none."
                )
        if self.quote and self.quote in self.delimiter:
            raise FormatError(f"Delimiter and quote are both {self.quote!r}: they must differ.")

    @property
    def is_simple(self) -> bool:
        """Whether the fast reader can take it: a delimiter of one byte."""
        return len(self.delimiter.encode()) == 1

    def to_dict(self) -> dict[str, str]:
        """As JSON, for a chunk's reader."""
        return {"delimiter": self.delimiter, "quote": self.quote, "escape": self.escape}


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """What the user says about a file; ``None`` is found from the file.

    :param skip_rows: physical lines to leave out at the start.
    :param header_row: the physical line, from 1, that holds the header; what stands before it is left out. One that
        ``skip_rows`` skips is counted from behind those.
    :param header_rows: number of header rows, their names are joined by a blank.
    :param has_header: whether there is a header at all.
    :param column_names: names to use, whatever the header says.
    :param on_ragged: ``fail``: a row with too few or too many fields is malformed; ``pad``: missing fields are empty
        and surplus empty ones ignored.
    """

    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    encoding: str | None = None
    header_row: int | None = None
    header_rows: int | None = None
    skip_rows: int | None = None
    has_header: bool | None = None
    column_names: tuple[str, ...] | None = None
    on_ragged: str = "fail"

    @property
    def skipped(self) -> int:
        """Physical lines to leave out before the header, or before the table."""
        skip = self.skip_rows or 0
        if self.header_row is None:
            return skip
        return self.header_row - 1 + (skip if self.header_row <= skip else 0)

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> CsvOptions:
        """Check the options of a source; those of other formats are ignored.

        :raises FormatError: names the option and what it takes.
        """
        on_ragged = options.get("on_ragged") or "fail"
        if on_ragged not in ("fail", "pad"):
            raise FormatError(f"The option on_ragged takes 'fail' or 'pad', not {on_ragged!r}.")
        quote, escape = text_option(options, "quote"), text_option(options, "escape")
        return cls(
            delimiter=_named(text_option(options, "delimiter")) or None,
            quote=quote,
            escape="" if escape is not None and escape == (quote or '"') else escape,
            encoding=text_option(options, "encoding") or None,
            header_row=number_option(options, "header_row", 1),
            header_rows=number_option(options, "header_rows", 1),
            skip_rows=number_option(options, "skip_rows", 0),
            has_header=flag_option(options, "has_header"),
            column_names=names_option(options, "column_names"),
            on_ragged=on_ragged,
        )


def _named(delimiter: str | None) -> str | None:
    """A delimiter as people write it in a form: a backslash with ``t``, ``tab``, ``space``."""
    return {"\\t": "\t", "tab": "\t", "space": " "}.get(delimiter.lower(), delimiter) if delimiter else delimiter
