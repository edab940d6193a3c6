"""Why a row failed: stages, codes, and the shape in which failures travel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

INVALID_DATA = "The given data was invalid."
"""The message of a row whose failures belong to fields; the fields' own messages stand beside it."""


DETAIL_START = " ("
"""What follows a message where a detail in parentheses follows."""


class Stage(StrEnum):
    """The step of row processing in which a row failed, in the order in which they happen."""

    PARSE = "parse"
    SCHEMA = "schema"
    TRANSFORM = "transform"
    VALIDATE = "validate"
    HOOK = "hook"
    DATABASE = "database"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFailure:
    """One reason why one row failed.

    :param row_number: the data row in the original file, counted from 1.
    :param code: stable and for programs: ``required``, ``email``, ``malformed_row``, ``duplicate_key``, …
    :param field: the source field, or the attribute where no field is behind it; a path
        (``variants[2].price``) in nested collections; ``None`` if the row as a whole is refused.
    :param message: what is wrong, without the value, so that equal failures group together.
    :param detail: what came instead, e.g. ``got "12a"``; may hold (part of) the value.
    """

    row_number: int
    stage: Stage
    code: str
    message: str
    field: str | None = None
    detail: str | None = None

    @property
    def text(self) -> str:
        """Message and detail as the row resource shows them: ``The value is no number. (got "x")``."""
        return f"{self.message}{DETAIL_START}{self.detail})" if self.detail else self.message


def errors_document(failures: Iterable[RowFailure]) -> dict[str, Any]:
    """The ``errors`` member of a row resource, from all failures of one row (at least one).

    Failures of fields are listed under ``validation``; the row then has the message
    :data:`INVALID_DATA`. Otherwise the first failure's own message is the row's.
    """
    listed = list(failures)
    validation: dict[str, list[str]] = {}
    for failure in listed:
        if failure.field is not None:
            validation.setdefault(failure.field, []).append(failure.text)
    general = next((failure for failure in listed if failure.field is None), None)
    first = general or listed[0]
    return {
        "message": general.text if general else INVALID_DATA,
        "code": first.code,
        "stage": str(first.stage),
        "validation": validation,
    }
