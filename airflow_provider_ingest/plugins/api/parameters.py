"""Parameters that several routes share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path
from pydantic import AfterValidator, Field, StringConstraints


def as_utc(moment: datetime | None) -> datetime | None:
    """The time in UTC; one without a zone is one in UTC already.

    One that leaves the calendar on the way is its end: what lies before or behind that is the same.
    """
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return (datetime.min if moment.year == 1 else datetime.max).replace(tzinfo=UTC)


NoNul = StringConstraints(pattern=r"^[^\x00]*$")
"""A text that every database can compare with: PostgreSQL takes none that holds NUL."""

InUtc = AfterValidator(as_utc)

RunNumber = Annotated[int, Field(ge=1, le=2**63 - 1)]
RunId = Annotated[int, Path(ge=1, le=2**63 - 1, description="Id of the run.")]
Slug = Annotated[
    str, Path(min_length=1, max_length=200, description="Slug of the importer.", examples=["products"]), NoNul
]
