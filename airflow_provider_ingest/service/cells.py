"""Cells of a downloaded CSV: harmless in a spreadsheet, and exactly the original when uploaded again."""

from __future__ import annotations

import re

from airflow_provider_ingest.runs.columns import pl

FORMULA = r"'*[=+\-@\t\r]"
"""What a spreadsheet may run, or what looks as if it had been escaped before."""

NUMBER = r"[+-]?(?:[0-9]+(?:[.,][0-9]+)*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A plain number: a spreadsheet takes ``-12.5`` for a number, not for a formula."""

_DANGEROUS = re.compile(FORMULA)
_NUMBER = re.compile(NUMBER)
_ESCAPED = re.compile("'" + FORMULA)


def escape_cell(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would take for a formula.

    Text that begins like an escaped cell gets one more, so that :func:`unescape_cell` is the exact inverse.

    >>> escape_cell("=1+1"), escape_cell("-12.5"), escape_cell("'=x"), escape_cell("plain")
    ("'=1+1", '-12.5', "''=x", 'plain')
    """
    if _DANGEROUS.match(text) and not _NUMBER.fullmatch(text):
        return "'" + text
    return text


def unescape_cell(text: str) -> str:
    """The inverse of :func:`escape_cell`.

    >>> unescape_cell("'=1+1"), unescape_cell("''=x"), unescape_cell("'tis")
    ('=1+1', "'=x", "'tis")
    """
    return text[1:] if _ESCAPED.match(text) else text


def unescape_column(column: pl.Expr) -> pl.Expr:
    """:func:`unescape_cell` over a whole String column; null stays null."""
    return pl.when(column.str.contains("^'" + FORMULA)).then(column.str.slice(1)).otherwise(column)
