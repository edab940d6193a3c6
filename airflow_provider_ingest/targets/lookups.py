"""Foreign keys by natural keys, in bulk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

import polars as pl
import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.targets.mysql_refusals import CHECKS, SIGNAL
from airflow_provider_ingest.targets.postgres_refusals import is_about_rows
from airflow_provider_ingest.targets.reflect import has_own_default, reflect_table

SLICE = 900
"""Keys asked for at once: SQLite takes 999 parameters in its smallest build."""

SPELLED_OTHERWISE = 100
"""Keys asked for one by one, but in one statement, where the database calls texts equal that are not."""

INTEGERS = range(-(2**63), 2**63)
"""What a key that is a whole number can be: drivers raise on others."""


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text.lower() in ("true", "1")


_PARSERS: dict[type, Any] = {
    bool: _truth,
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

    A key that the database does not take, whatever the reason, is one that is not there: it fails its row, no other.

    :param create_missing: insert a record with the key alone for each that is not there; another transaction may do the
        same at the same time.
    :raises TargetError: a column is missing, or no record can be made of a key alone.
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
        _check_key_is_enough(found, key)
        accepted: list[Any] = []
        fitting = _that_fit(found.columns[key], missing)
        _taken(connection, fitting, lambda some: _insert(connection, found, key, some, accepted))
        known |= _select(connection, found, key, value, missing)
        known |= _spelled_otherwise(connection, found, key, value, asked, known)
        if lost := [one for one in accepted if one not in known]:
            _insert_again(connection, found, key, lost)
            known |= _select(connection, found, key, value, lost)
    else:
        known |= _spelled_otherwise(connection, found, key, value, asked, known)
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
        if isinstance(one, datetime):  # without a zone it is UTC, as in every other column
            one = one.replace(tzinfo=UTC) if one.tzinfo is None else one.astimezone(UTC)
            one = one if getattr(column.type, "timezone", False) else one.replace(tzinfo=None)
        if "\0" in str(key) or (isinstance(one, int) and one not in INTEGERS):
            continue
        typed.setdefault(one, []).append(key)
    return typed


Found = dict[Any, Any]


def _taken(connection: sa.Connection, keys: Sequence[Any], work: Callable[[Sequence[Any]], Found]) -> Found:
    """What the work finds, without the keys that the database refuses: a check, a trigger, a type of its own."""
    try:
        with connection.begin_nested():
            return work(keys) if keys else {}
    except sa.exc.StatementError as error:
        if not _is_about_keys(error):
            raise
        if len(keys) == 1:
            return {}
    half = len(keys) // 2
    return _taken(connection, keys[:half], work) | _taken(connection, keys[half:], work)


def _is_about_keys(error: sa.exc.StatementError) -> bool:
    if isinstance(error, sa.exc.DataError | sa.exc.IntegrityError) or not isinstance(error, sa.exc.DBAPIError):
        return True  # the last is refused while it is bound: no choice of an enum
    number, state = next(iter(getattr(error.orig, "args", ())), None), getattr(error.orig, "sqlstate", None)
    return number in CHECKS | {SIGNAL} or is_about_rows(state or "", str(error.orig))


def _select(connection: sa.Connection, table: sa.Table, key: str, value: str, keys: Sequence[Any]) -> Found:
    column, wanted = table.columns[key], table.columns[value]
    query = sa.select(column, sa.func.min(wanted) if _is_ordered(wanted) else wanted)

    def ask(some: Sequence[Any]) -> Found:
        asked = query.where(column.in_(some))
        found: Found = {}
        for one, its in connection.execute(asked.group_by(column) if _is_ordered(wanted) else asked):
            found.setdefault(one, its)
        return found

    found: Found = {}
    for start in range(0, len(keys), SLICE):
        found |= _taken(connection, keys[start : start + SLICE], ask)
    return found


def _spelled_otherwise(
    connection: sa.Connection, table: sa.Table, key: str, value: str, asked: Iterable[Any], known: Found
) -> Found:
    """What is there under another spelling that the column's collation calls equal: ``Ada`` for ``ADA``."""
    column, wanted = table.columns[key], table.columns[value]
    folds = connection.dialect.name in ("mysql", "mariadb") or any(one not in asked for one in known)
    unknown = [one for one in asked if one not in known and isinstance(one, str)] if folds else []

    def ask(some: Sequence[Any]) -> Found:
        each = [sa.select(sa.literal(at), sa.func.min(wanted)).where(column == one) for at, one in enumerate(some)]
        found = connection.execute(sa.union_all(*each))
        return {some[at]: its for at, its in found if its is not None}

    found: Found = {}
    for start in range(0, len(unknown) if _is_ordered(wanted) else 0, SPELLED_OTHERWISE):
        found |= _taken(connection, unknown[start : start + SPELLED_OTHERWISE], ask)
    return found


def _is_ordered(column: sa.Column[Any]) -> bool:
    return isinstance(column.type, (sa.Integer, sa.String, sa.Numeric, sa.Date, sa.DateTime))


def _check_key_is_enough(table: sa.Table, key: str) -> None:
    """Raise where a record needs more than its key: that is the importer's mistake, and no row's."""
    needed = [
        column.name
        for column in table.columns
        if column.name != key and not column.nullable and column.computed is None and not has_own_default(column)
    ]
    if needed:
        raise TargetError(
            f"No record can be made in {table.name} of its {key} alone: {', '.join(needed)} must have a value. "
            "Give it a default, or relate without create_missing"
        )


def _that_fit(column: sa.Column[Any], keys: Sequence[Any]) -> list[Any]:
    """The keys that are not too long: some databases cut them, some do not count."""
    length = getattr(column.type, "length", None)
    return [one for one in keys if length is None or not isinstance(one, str) or len(one) <= length]


def _insert_again(connection: sa.Connection, table: sa.Table, key: str, keys: Sequence[Any]) -> None:
    """Insert what was taken without an error, and is not there: it had something in common with another record.

    Raises where that is the number of the record: no key's fault, and so it would go with each of them.
    """
    if connection.dialect.name != "postgresql" or key in table.primary_key.columns:
        return
    try:
        with connection.begin_nested():
            connection.execute(table.insert(), [{key: one} for one in keys])
    except sa.exc.DBAPIError as error:
        primary = sa.inspect(connection).get_pk_constraint(table.name, schema=table.schema)
        refused_by = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
        if primary["name"] is None or refused_by != primary["name"]:
            return
        name = connection.dialect.identifier_preparer.format_table(table)
        columns = primary["constrained_columns"]
        raise TargetError(
            f"No record can be made in {table.name}: the database gives it a {', '.join(columns)} that another has. "
            f"Its sequence lags behind, as it does after rows were copied with their numbers. To set it right: "
            f"SELECT setval(pg_get_serial_sequence('{name}', '{columns[0]}'), max({columns[0]})) FROM {name}"
        ) from None


def _insert(connection: sa.Connection, table: sa.Table, key: str, keys: Sequence[Any], accepted: list[Any]) -> Found:
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
    accepted.extend(keys)
    return {}
