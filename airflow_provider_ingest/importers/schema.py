"""The input an importer expects."""

from __future__ import annotations

from dataclasses import dataclass

FIELD_TYPES = ("string", "integer", "numeric", "boolean", "date", "datetime")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """One expected field of the raw input.

    :param type: one of ``string, integer, numeric, boolean, date, datetime``.
    :param required: the file must have this column.
    :param nullable: null and empty cells are accepted.

    >>> SchemaField(type="integer", required=True)
    SchemaField(type='integer', required=True, nullable=True)
    """

    type: str = "string"
    required: bool = False
    nullable: bool = True
