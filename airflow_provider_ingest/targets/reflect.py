"""The target table as it is in the database, joined with what the mapped class says of it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape, TableShape
from airflow_provider_ingest.targets.definition import ColumnSource
from airflow_provider_ingest.targets.kinds import choices_of, integer_range, kind_of

SHOWN_TABLES = 10

ANY = "ANY"
"""A type of SQLite, for which SQLAlchemy says NUMERIC."""

SIZES = {"name": 63, '"char"': 1}
"""Types of PostgreSQL that cut a longer text without a word, and the bytes they take."""


def declared_table(model: Any) -> sa.Table | None:
    """The table behind a mapped class or ``Table``; ``None`` for a name."""
    if isinstance(model, str):
        return None
    table = getattr(model, "__table__", model)
    if not isinstance(table, sa.Table):
        raise TargetError(f"{model!r} is no mapped class, Table or table name")
    return table


def table_name(model: Any) -> tuple[str | None, str]:
    """Schema and name."""
    table = declared_table(model)
    if table is not None:
        return table.schema, table.name
    schema, _, name = str(model).rpartition(".")
    return schema or None, name


def reflect_table(inspector: sa.Inspector, model: Any) -> sa.Table:
    """The table as it is in the database; raises :class:`TargetError` where it or a column of the class is missing."""
    schema, name = table_name(model)
    declared = declared_table(model)
    try:
        found = _table(inspector, schema, name)
    except sa.exc.NoSuchTableError:
        raise TargetError(_no_such_table(inspector, schema, name, declared)) from None
    missing = (
        [column for column in declared.columns if column.name not in found.columns] if declared is not None else []
    )
    if missing:
        names = ", ".join(column.name for column in missing)
        kinds = "; ".join(
            f"ALTER TABLE {found.fullname} ADD COLUMN {column.name} {column.type.compile(inspector.dialect)}"
            for column in missing
        )
        raise TargetError(
            f"The table {found.fullname} has no column {names}, which its class declares. "
            f"It has {', '.join(column.name for column in found.columns)}. To add what is missing: {kinds}"
        )
    return found


def _table(inspector: sa.Inspector, schema: str | None, name: str) -> sa.Table:
    """The table with its columns, primary key and foreign keys.

    The inspector remembers what it was asked in this way; its own ``reflect_table`` asks for comments and options as
    well, and what it was told is asked once more by whoever needs keys and indexes by name: twice as many questions,
    which the first rows of each chunk wait for.
    """
    table = sa.Table(name, sa.MetaData(), schema=schema)
    name, schema = table.name, table.schema  # as all others say them: else nothing is found of what was remembered
    columns = inspector.get_columns(name, schema=schema)
    if not columns:
        raise sa.exc.NoSuchTableError(name)
    for column in columns:
        table.append_column(_reflected(column))
    primary = inspector.get_pk_constraint(name, schema=schema)
    table.append_constraint(sa.PrimaryKeyConstraint(*primary["constrained_columns"]))
    for one in inspector.get_foreign_keys(name, schema=schema):
        referred = [part for part in (one["referred_schema"], one["referred_table"]) if part]
        remote = [".".join((*referred, column)) for column in one["referred_columns"]]
        table.append_constraint(sa.ForeignKeyConstraint(one["constrained_columns"], remote, link_to_name=True))
    return table


def _reflected(told: Any) -> sa.Column[Any]:
    """A column as the inspector tells of it."""
    filled: list[Any] = []
    default = told.get("default")
    if isinstance(default, str):
        default = sa.DefaultClause(sa.text(default))
    if default is not None:
        filled.append(default)
    if "computed" in told:
        filled.append(sa.Computed(**told["computed"]))
    if "identity" in told:
        filled.append(sa.Identity(**told["identity"]))
    known = {name: told[name] for name in ("nullable", "autoincrement") if name in told}
    return sa.Column(told["name"], told["type"], *filled, **known)


def _no_such_table(inspector: sa.Inspector, schema: str | None, name: str, declared: sa.Table | None) -> str:
    full = f"{schema}.{name}" if schema else name
    there = sorted([*inspector.get_table_names(schema=schema), *inspector.get_view_names(schema=schema)])
    close = get_close_matches(name, there, n=1)
    where = f"The schema {schema}" if schema else "The database"
    listed = ", ".join(there[:SHOWN_TABLES]) + (", …" if len(there) > SHOWN_TABLES else "")
    message = f"The table {full} does not exist" + (f"; did you mean {close[0]}?" if close else ".")
    message += f" {where} has {listed}." if there else f" {where} has no tables."
    if declared is not None:
        statement = " ".join(str(sa.schema.CreateTable(declared).compile(dialect=inspector.dialect)).split())
        message += f" To create it: {statement}"
    return message


def shape_of(inspector: sa.Inspector, table: sa.Table, model: Any, sql_types: dict[str, str]) -> TableShape:
    """The shape of a reflected table.

    :param sql_types: column types as the database writes them, where it was asked.
    """
    declared = declared_table(model)
    indexes = inspector.get_indexes(table.name, schema=table.schema)
    uniques = [tuple(one["column_names"]) for one in inspector.get_unique_constraints(table.name, schema=table.schema)]
    for index in indexes:
        partial = any(name.endswith("_where") for name in index.get("dialect_options", {}))
        names = [name for name in index["column_names"] if name is not None]
        if index["unique"] and not partial and not index.get("expressions") and names:
            uniques.append(tuple(names))
    foreign = {}
    for one in inspector.get_foreign_keys(table.name, schema=table.schema):
        referred = (
            f"{one['referred_schema']}.{one['referred_table']}" if one["referred_schema"] else one["referred_table"]
        )
        foreign[tuple(one["constrained_columns"])] = (referred, tuple(one["referred_columns"]))
    return TableShape(
        name=table.name,
        schema=table.schema,
        columns=tuple(
            _column(inspector.dialect, column, declared, sql_types)
            for column in table.columns
            if column.computed is None
        ),
        computed=tuple(column.name for column in table.columns if column.computed is not None),
        primary_key=tuple(column.name for column in table.primary_key.columns),
        unique_keys=tuple(dict.fromkeys(uniques)),
        foreign_keys=foreign,
    )


def _column(
    dialect: sa.Dialect, column: sa.Column[Any], declared: sa.Table | None, sql_types: dict[str, str]
) -> ColumnShape:
    own = declared.columns.get(column.name) if declared is not None else None
    said = next((one for one in declared.columns if one.name == column.name), own) if declared is not None else None
    # databases with few types of their own (SQLite, MySQL) know less of a column than its class
    type_ = column.type if said is None or dialect.name == "postgresql" else said.type
    sql_type = sql_types.get(column.name)
    kind = ColumnKind.TEXT if sql_type == ANY else ColumnKind.ARRAY if _is_array(sql_type) else kind_of(type_)
    low, high = integer_range(type_, dialect.name)
    lengths = [
        length
        for one in (column, said)
        if one is not None and kind is ColumnKind.TEXT and (length := getattr(one.type, "length", None)) is not None
    ]
    if sql_type is None:
        sql_type = "" if isinstance(column.type, sa.types.NullType) else column.type.compile(dialect)
    constant: Any = said.default if said is not None else None
    is_constant = constant is not None and constant.is_scalar
    return ColumnShape(
        name=column.name,
        kind=kind,
        sql_type=sql_type,
        nullable=bool(column.nullable),
        has_default=has_own_default(column) or constant is not None,
        has_constant=is_constant,
        default=constant.arg if is_constant else None,
        length=min(lengths) if lengths else None,
        size=SIZES.get(sql_type) if dialect.name == "postgresql" else None,
        precision=getattr(type_, "precision", None) if kind is ColumnKind.NUMERIC else None,
        scale=getattr(type_, "scale", None) if kind is ColumnKind.NUMERIC else None,
        minimum=low,
        maximum=high,
        is_loose=kind is ColumnKind.TEXT
        and (dialect.name != "postgresql" or isinstance(type_, sa.CHAR | postgresql.CITEXT)),
        choices=choices_of(type_) or (choices_of(said.type) if said is not None and kind is ColumnKind.ENUM else ()),
    )


def _is_array(sql_type: str | None) -> bool:
    return sql_type is not None and sql_type.endswith("[]")


def has_own_default(column: sa.Column[Any]) -> bool:
    """Whether the database fills the column when it is left out."""
    if column.server_default is not None or column.identity is not None:
        return True
    return (
        column.table is not None and column is column.table.autoincrement_column and column.autoincrement is not False
    )


def sources_of(table: sa.Table) -> dict[str, ColumnSource]:
    """How each column with a default is filled."""
    sources = {}
    for column in table.columns:
        default = column.server_default
        expression = str(default.arg) if isinstance(default, sa.DefaultClause) else None
        identity = column.identity
        sources[column.name] = ColumnSource(
            expression=expression,
            is_identity=identity is not None or (expression is None and column is table.autoincrement_column),
            is_always=bool(identity is not None and identity.always),
        )
    return sources


def constants_of(table: sa.Table, model: Any) -> dict[str, Any]:
    """Defaults of the mapped class that the database does not have: values, and functions to call."""
    declared = declared_table(model)
    constants: dict[str, Any] = {}
    for column in declared.columns if declared is not None else ():
        default: Any = column.default
        if default is None or table.columns[column.name].server_default is not None:
            continue
        if default.is_scalar:
            constants[column.name] = default.arg
        elif default.is_callable:
            constants[column.name] = _caller(default.arg)
    return constants


def _caller(function: Any) -> Any:
    """SQLAlchemy wraps default functions so that they take a context; there is none here."""
    return lambda: function(None)
