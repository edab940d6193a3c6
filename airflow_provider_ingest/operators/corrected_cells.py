"""What the cells of a corrected file stand for: it holds text alone, the file whose rows failed may have had types."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from decimal import Decimal
from typing import Any

import orjson

from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.records import RowRecord

_TRUTH = {"true": True, "false": False}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class LoggedCells:
    """What the fields of the failed rows held, noted row by row in the order of their numbers.

    >>> logged = LoggedCells()
    >>> logged.note(RowRecord(row_number=1, line_number=1, status="failed", data={"a": 7, "b": None, "c": ""}))
    >>> logged.value("a", 1, "8"), logged.value("b", 1, ""), logged.value("b", 1, "8"), logged.value("c", 1, None)
    (8, None, '8', '')
    """

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._others: set[str] = set()
        self._blank: set[str] = set()
        self._null: dict[str, array[int]] = {}

    def note(self, row: RowRecord) -> None:
        """Take what a row held for what its fields may hold; a record that was no row says nothing of them."""
        if (row.errors or {}).get("stage") == Stage.PARSE:
            return
        for field, value in row.data.items():
            if value is None:
                self._null.setdefault(field, array("q")).append(row.row_number)
            elif value == "":
                self._blank.add(field)
            else:
                (self._texts if isinstance(value, str) else self._others).add(field)

    def value(self, field: str, number: int, text: str | None) -> Any:
        """What a corrected cell stands for: null where the row had it or no row had an empty text, and a number, truth,
        array or object where nothing in the field was text.
        """
        if not text:
            nulls = self._null.get(field)
            if field not in self._blank:
                return None if nulls else text
            return None if nulls and _holds(nulls, number) else ""
        return _typed(text) if field in self._others and field not in self._texts else text


def _holds(ordered: array[int], number: int) -> bool:
    at = bisect_left(ordered, number)
    return at < len(ordered) and ordered[at] == number


def _typed(text: str) -> Any:
    plain = text.strip()
    if plain.lower() in _TRUTH:  # spreadsheets write it in capitals
        return _TRUTH[plain.lower()]
    if _INTEGER.fullmatch(plain):
        return int(plain)
    if _NUMBER.fullmatch(plain):
        return Decimal(plain)
    if plain[:1] in ("[", "{"):
        try:
            return orjson.loads(plain)
        except orjson.JSONDecodeError:
            return text
    return text
