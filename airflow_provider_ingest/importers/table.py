"""The target table as the engine needs to know it, without a database library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class ColumnKind(StrEnum):
    """Families of column types that are converted alike."""

    TEXT = "text"
    INTEGER = "integer"
    NUMERIC = "numeric"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    TIME = "time"
    DURATION = "duration"
    """The times of MySQL, which may be negative and longer than a day."""
    UUID = "uuid"
    JSON = "json"
    ENUM = "enum"
    BINARY = "binary"
    ARRAY = "array"
    """PostgreSQL's arrays, as its literals."""
    OTHER = "other"
    """Anything else: the text is handed to the database as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnShape:
    """One column.

    :param sql_type: its type as the database writes it, for messages and casts.
    :param has_default: the database fills it when it is left out (default, identity, autoincrement).
    :param default: a constant that the mapped class gives it (``Column(default=…)``), with ``has_constant``.
    :param length: most characters of a text column; ``size`` its most bytes, where the type counts those.
    :param precision: total digits of a numeric column; ``scale`` its decimals.
    :param minimum: smallest integer it takes; ``maximum`` the largest.
    :param choices: the values of an enum.
    :param is_loose: texts that differ may be equal to the database: in case, accents or blanks at their end.
    """

    name: str
    kind: ColumnKind
    sql_type: str
    nullable: bool = True
    has_default: bool = False
    has_constant: bool = False
    default: Any = None
    length: int | None = None
    size: int | None = None
    precision: int | None = None
    scale: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    is_loose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """A table: columns in order, primary key, unique keys, and foreign keys as
    ``{(local columns): (table, (remote columns))}``.

    :param computed: the columns that the database computes of others and nobody can write; not among ``columns``.
    """

    name: str
    schema: str | None = None
    columns: tuple[ColumnShape, ...]
    computed: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    foreign_keys: Mapping[tuple[str, ...], tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def column(self, name: str) -> ColumnShape | None:
        """The column of this name."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """All column names."""
        return tuple(column.name for column in self.columns)
