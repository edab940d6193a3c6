"""What a cell looks like: enough to tell a header from data, and a good delimiter from a bad one."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBER = re.compile(
    r"[-+]?[$€£¥]?\s?(?:\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d+)?|\d*[.,]?\d+(?:[eE][-+]?\d+)?|\d+[.,])\s?[%$€£¥]?"
)
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4})"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:Z|[-+]\d{2}:?\d{2}|[AaPp][Mm])?)?"
)
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:[AaPp][Mm])?")
_LINK = re.compile(r"(?:https?|ftp|s3|file)://[^\s,;|]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_WORDS = re.compile(r"[\w \n\r\xa0.'’&()/\\%#+*!?@°$€£=-]*")
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
_LONGEST = 4096
_REMEMBERED = 40
"""Characters of the longest cell whose kind is remembered: a server that looks at many files keeps no more of them."""
_LONGEST_CODE, _DIGITS_OF_A_CODE = 40, 3


def kind_of(text: str) -> str:
    """``empty``, ``number``, ``date``, ``time``, ``link``, ``words`` (plain text) or ``other``."""
    text = text.strip()
    return _remembered_kind(text) if len(text) <= _REMEMBERED else _kind(text)


def _kind(text: str) -> str:
    if not text:
        return "empty"
    if len(text) > _LONGEST or (len(text) > 1 and text[0] == text[-1] == "'"):
        return "other"
    for name, pattern in (("number", _NUMBER), ("date", _DATE), ("time", _TIME), ("link", _LINK), ("words", _WORDS)):
        if pattern.fullmatch(text):
            return name
    return "other"


_remembered_kind = lru_cache(maxsize=4096)(_kind)
"""A sample's cells are asked about for each delimiter that is tried, and for the header."""


def is_value(kind: str) -> bool:
    """Whether a cell of this kind is data and no name."""
    return kind in ("number", "date", "time", "link")


def is_year(text: str) -> bool:
    """Whether the cell may be a year, which names columns as well."""
    return _YEAR.fullmatch(text.strip()) is not None


def shape_of(text: str) -> str:
    """``A9999`` of ``B0412``: letters and digits as such; empty unless it may be a code, with three digits or more.

    >>> shape_of("SKU-0412"), shape_of("item 7")
    ('AAA-9999', '')
    """
    shape = re.sub(r"\d", "9", re.sub(r"[^\W\d_]", "A", text.strip()[:_LONGEST_CODE]))
    return shape if shape.count("9") >= _DIGITS_OF_A_CODE and "A" in shape else ""
