"""Metadata, naming convention and column types shared by the ingest tables."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from json import loads as exact_loads
from typing import Any

import orjson
from sqlalchemy import BigInteger, DateTime, Dialect, Integer, MetaData, Text, TypeDecorator
from sqlalchemy.dialects import mysql
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""The ingest tables, apart from Airflow's own metadata so that they migrate on their own."""

_LONG_INTEGER = re.compile(r"\d{19}")


def load_json(text: str) -> Any:
    """Parse JSON without losing digits: integers beyond 64 bits, which orjson turns into floats, stay exact."""
    return exact_loads(text) if _LONG_INTEGER.search(text) else orjson.loads(text)


def dump_json(value: Any) -> str:
    """JSON text of a document; dates become ISO strings."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


class Base(DeclarativeBase):
    """Base of the ingest tables."""

    metadata = metadata


class Document(TypeDecorator[Any]):
    r"""A JSON document kept as text: key order and every digit survive, on every database.

    PostgreSQL's ``jsonb`` would reorder the fields of a row and refuse ``\u0000``, which real files hold.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Text without a small limit."""
        return dialect.type_descriptor(mysql.LONGTEXT() if dialect.name == "mysql" else Text())

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Serialize."""
        return None if value is None else dump_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Parse."""
        return None if value is None else load_json(value)


class UtcTimestamp(TypeDecorator[datetime]):
    """An aware UTC time with microseconds; databases without time zones keep it as naive UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """MySQL keeps no fractions unless told to."""
        if dialect.name == "mysql":
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC; a naive time is refused because nobody knows what it means."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"A time without a time zone cannot be stored: {value!r}")
        value = value.astimezone(UTC)
        return value if dialect.name == "postgresql" else value.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return it aware and in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


BigId = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit id; SQLite numbers only columns that are declared exactly ``INTEGER``."""
