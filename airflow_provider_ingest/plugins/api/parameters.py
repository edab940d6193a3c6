"""Parameters that several routes share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path
from pydantic import AfterValidator, Field


def without_nul(text: str | None) -> str | None:
    """A text that every database can compare with: PostgreSQL takes none that holds NUL."""
    if text is not None and "\0" in text:
        raise ValueError("a text without NUL is expected")
    return text


def as_utc(moment: datetime | None) -> datetime | None:
    """The time in UTC; one without a zone is one in UTC already."""
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time whose year in UTC is from 1 to 9999 is expected") from None


NoNul = AfterValidator(without_nul)
InUtc = AfterValidator(as_utc)

RunNumber = Annotated[int, Field(ge=1, le=2**63 - 1)]
RunId = Annotated[int, Path(ge=1, le=2**63 - 1, description="Id of the run.")]
Slug = Annotated[
    str, Path(min_length=1, max_length=200, description="Slug of the importer.", examples=["products"]), NoNul
]
