"""SQLAlchemy's column types as the engine's kinds."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql

from airflow_provider_ingest.importers.table import ColumnKind

_KINDS: tuple[tuple[tuple[type[Any], ...], ColumnKind], ...] = (
    ((sa.Enum, postgresql.ENUM, mysql.ENUM), ColumnKind.ENUM),
    ((sa.JSON,), ColumnKind.JSON),
    ((sa.Uuid,), ColumnKind.UUID),
    ((sa.Boolean,), ColumnKind.BOOLEAN),
    ((sa.Integer,), ColumnKind.INTEGER),
    ((sa.Float,), ColumnKind.FLOAT),
    ((sa.Numeric,), ColumnKind.NUMERIC),
    ((sa.Date,), ColumnKind.DATE),
    ((mysql.TIME,), ColumnKind.DURATION),
    ((sa.Time,), ColumnKind.TIME),
    ((sa.LargeBinary, sa.BINARY, sa.VARBINARY, postgresql.BYTEA), ColumnKind.BINARY),
    ((mysql.TINYBLOB, mysql.MEDIUMBLOB, mysql.LONGBLOB), ColumnKind.BINARY),
    ((sa.ARRAY,), ColumnKind.ARRAY),
    ((mysql.SET,), ColumnKind.OTHER),
    ((sa.String,), ColumnKind.TEXT),
)

_RANGES = {"SMALLINT": (-(2**15), 2**15 - 1), "INTEGER": (-(2**31), 2**31 - 1), "BIGINT": (-(2**63), 2**63 - 1)}
_MYSQL_BITS = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INTEGER": 32, "BIGINT": 64}


def kind_of(type_: Any) -> ColumnKind:
    """The kind of a column type."""
    while hasattr(type_, "data_type") and isinstance(type_, postgresql.DOMAIN):
        type_ = type_.data_type
    if isinstance(type_, sa.types.TypeDecorator):
        type_ = type_.impl
    if isinstance(type_, mysql.TINYINT) and type_.display_width == 1:
        return ColumnKind.BOOLEAN
    if isinstance(type_, mysql.BIT):
        return ColumnKind.BOOLEAN if type_.length in (None, 1) else ColumnKind.INTEGER
    if isinstance(type_, sa.DateTime):
        is_zoned = bool(type_.timezone) or isinstance(type_, mysql.TIMESTAMP)
        return ColumnKind.TIMESTAMPTZ if is_zoned else ColumnKind.TIMESTAMP
    if isinstance(type_, postgresql.TIME) and type_.timezone:
        return ColumnKind.OTHER  # a time of day with its offset, which no type that the engine computes with can keep
    return next((kind for types, kind in _KINDS if isinstance(type_, types)), ColumnKind.OTHER)


def integer_range(type_: Any, dialect: str) -> tuple[int, int] | tuple[None, None]:
    """Smallest and largest value of an integer type."""
    if isinstance(type_, mysql.BIT):
        return 0, 2 ** min(type_.length or 1, 63) - 1
    if not isinstance(type_, sa.Integer) or isinstance(type_, sa.Boolean):
        return None, None
    if dialect == "sqlite":
        return _RANGES["BIGINT"]
    name = type_.__visit_name__.upper()
    if getattr(type_, "unsigned", False):
        return 0, 2 ** _MYSQL_BITS.get(name, 32) - 1
    if name in _MYSQL_BITS and name not in _RANGES:
        bits = _MYSQL_BITS[name]
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return _RANGES.get({"SMALL_INTEGER": "SMALLINT", "BIG_INTEGER": "BIGINT"}.get(name, name), _RANGES["INTEGER"])


def choices_of(type_: Any) -> tuple[str, ...]:
    """The values of an enum as the database has them."""
    return (
        tuple(str(choice) for choice in getattr(type_, "enums", None) or ())
        if kind_of(type_) is ColumnKind.ENUM
        else ()
    )
