"""Foreign keys by natural keys, in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

import polars as pl
import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.targets.reflect import reflect_table

SLICE = 900
"""Keys asked for at once: SQLite takes 999 parameters in its smallest build."""

_PARSERS: dict[type, Any] = {
    int: int,
    Decimal: Decimal,
    float: float,
    UUID: UUID,
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
}


def look_up(
    connection: sa.Connection, table: str, key: str, value: str, keys: pl.Series, *, create_missing: bool
) -> pl.DataFrame:
    """Frame of ``key`` (as given) and ``value`` for the keys that are there; a key that several
    records have gives the smallest value.

    :param create_missing: insert a record with the key alone for each that is not there; another transaction may do the
        same at the same time.
    """
    found = reflect_table(sa.inspect(connection), table)
    for column in (key, value):
        if column not in found.columns:
            raise TargetError(f'{table} has no column "{column}"; it has {", ".join(found.columns.keys())}')
    given = keys.drop_nulls().unique(maintain_order=True)
    asked = _typed(found.columns[key], given.to_list())
    known = _select(connection, found, key, value, list(asked))
    missing = [one for one in asked if one not in known]
    if create_missing and missing:
        _insert(connection, found, key, missing)
        known |= _select(connection, found, key, value, missing)
    pairs = [(one, known[typed]) for typed, ones in asked.items() if typed in known for one in ones]
    values = pl.Series("value", [pair[1] for pair in pairs], strict=False)
    return pl.DataFrame({"key": pl.Series("key", [pair[0] for pair in pairs], dtype=given.dtype), "value": values})


def _typed(column: sa.Column[Any], keys: Iterable[Any]) -> dict[Any, list[Any]]:
    """The keys in the column's type, each with the given forms of it; what has no such form cannot be there."""
    try:
        wanted = column.type.python_type
    except NotImplementedError:
        wanted = str
    parse = _PARSERS.get(wanted, str)
    typed: dict[Any, list[Any]] = {}
    for key in keys:
        try:
            one = key if isinstance(key, wanted) else parse(str(key).strip() if parse is not str else str(key))
        except (ValueError, InvalidOperation):
            continue
        typed.setdefault(one, []).append(key)
    return typed


def _select(connection: sa.Connection, table: sa.Table, key: str, value: str, keys: Sequence[Any]) -> dict[Any, Any]:
    column, wanted = table.columns[key], table.columns[value]
    query = sa.select(column, sa.func.min(wanted) if _is_ordered(wanted) else wanted)
    found: dict[Any, Any] = {}
    for start in range(0, len(keys), SLICE):
        some = query.where(column.in_(keys[start : start + SLICE]))
        for one, its in connection.execute(some.group_by(column) if _is_ordered(wanted) else some):
            found.setdefault(one, its)
    return found


def _is_ordered(column: sa.Column[Any]) -> bool:
    return isinstance(column.type, (sa.Integer, sa.String, sa.Numeric, sa.Date, sa.DateTime))


def _insert(connection: sa.Connection, table: sa.Table, key: str, keys: Sequence[Any]) -> None:
    dialect = connection.dialect.name
    rows = [{key: one} for one in keys]
    if dialect == "postgresql":
        connection.execute(postgresql.insert(table).on_conflict_do_nothing(), rows)
    elif dialect == "sqlite":
        connection.execute(sqlite.insert(table).on_conflict_do_nothing(), rows)
    elif dialect in ("mysql", "mariadb"):
        # INSERT IGNORE would also cut a value that is too long; this changes nothing where the key is there
        connection.execute(mysql.insert(table).on_duplicate_key_update({key: table.columns[key]}), rows)
    else:
        for row in rows:
            try:
                with connection.begin_nested():
                    connection.execute(table.insert().values(row))
            except sa.exc.IntegrityError:  # another transaction was faster
                continue
