"""What all answers share: errors, pages, times."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

Timestamp = Annotated[
    str, Field(json_schema_extra={"format": "date-time", "examples": ["2024-01-31T12:00:00.000000Z"]})
]


class Problem(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Conflict"])
    status: int = Field(examples=[409])
    detail: str = Field(description="For people.", examples=["Run 7 is still processing; retry it when it has ended."])
    code: str = Field(description="For programs; stable.", examples=["run_not_finished"])
    errors: list[FieldError] | None = Field(default=None, description="With 422: what is wrong with which parameter.")


class FieldError(BaseModel):
    """One malformed parameter."""

    field: str
    message: str


class Links(BaseModel):
    """Other pages of a listing."""

    first: str
    last: str
    prev: str | None
    next: str | None


class Meta(BaseModel):
    """Where a page stands in its listing; ``from`` and ``to`` count from 1 and are null on an empty page."""

    current_page: int
    per_page: int
    last_page: int
    from_: int | None = Field(alias="from")
    to: int | None
    total: int


class Message(BaseModel):
    """A sentence."""

    message: str
