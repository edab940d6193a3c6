"""From an importer's definition to the plan of its tables in a real database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.importers.mapping import Key
from airflow_provider_ingest.importers.table import TableShape
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.reflect import (
    constants_of,
    declared_table,
    reflect_table,
    shape_of,
    sources_of,
    table_name,
)

SqlTypes = Callable[[sa.Connection, sa.Table], dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetTables:
    """The tables of an importer as it declares them.

    :param model: mapped class, ``Table`` or name.
    :param hidden: attributes that come from sensitive fields.
    :param conn_id: the Airflow connection of the database, for messages.
    """

    model: Any
    key: Key | None = None
    path: str = ""
    parent_key: str | None = None
    nested: tuple[TargetTables, ...] = ()
    is_atomic: bool = False
    hidden: frozenset[str] = field(default_factory=frozenset)
    conn_id: str = ""

    @property
    def schema(self) -> str | None:
        """The schema of the root table, where the markers go too."""
        return table_name(self.model)[0]

    @classmethod
    def of(cls, config: Any, *, sensitive: frozenset[str] | None = None) -> TargetTables:
        """The tables of an ``IngestConfig`` or ``NestedConfig``."""
        if config.target is None:
            raise TargetError("The importer has no target: begin with IngestConfig.for_(Model, conn_id=…)")
        sensitive = config.sensitive_fields if sensitive is None else sensitive
        return cls(
            model=config.target.model,
            key=config.key,
            path=getattr(config, "path", ""),
            parent_key=getattr(config, "parent_key", None),
            nested=tuple(cls.of(one, sensitive=sensitive) for one in config.nested),
            is_atomic=getattr(config, "is_atomic", False),
            conn_id=config.target.conn_id or "",
            hidden=frozenset(
                mapping.attribute
                for mapping in config.mappings
                if not mapping.fields or not sensitive.isdisjoint(mapping.fields)
            )
            if sensitive
            else frozenset(),
        )


def plan_tables(connection: sa.Connection, tables: TargetTables, sql_types: SqlTypes) -> TablePlan:
    """Look the tables up; raises :class:`TargetError` where one is missing or does not hang together."""
    inspector = sa.inspect(connection)  # one for each table: it remembers what it was told
    table = reflect_table(inspector, tables.model)
    shape = shape_of(inspector, table, tables.model, sql_types(connection, table))
    if tables.key is not None:
        unknown = [name for name in tables.key.attributes if shape.column(name) is None]
        if unknown:
            computed = [name for name in unknown if name in shape.computed]
            if computed:
                raise TargetError(
                    f"The key names {', '.join(computed)}, which {shape.name} computes: no row can set it"
                )
            raise TargetError(f"The key names {', '.join(unknown)}, but {shape.name} has {', '.join(shape.names)}")
    children = []
    for nested in tables.nested:
        child = plan_tables(connection, nested, sql_types)
        parent = _parent_columns(child.shape, nested, shape, tables)
        key = child.key
        if key is not None:
            here = tuple(column for column, _ in parent)
            own = tuple(name for name in key.attributes if name not in here)
            key = replace(key, attributes=(*here, *own))
        children.append(replace(child, parent=parent, key=key))
    return TablePlan(
        table=table,
        shape=shape,
        path=tables.path,
        key=tables.key,
        children=tuple(children),
        sources=sources_of(table),
        constants=constants_of(table, tables.model),
        checks=_checks(inspector, table),
        constraints=_constraints(inspector, table),
        hidden=tables.hidden,
    )


def _parent_columns(
    shape: TableShape, nested: TargetTables, parent: TableShape, above: TargetTables
) -> tuple[tuple[str, str], ...]:
    """The pairs of the foreign key from a nested table to its parent's."""
    found = {
        local: remote
        for local, (table, remote) in shape.foreign_keys.items()
        if table in (parent.name, f"{parent.schema}.{parent.name}") or table.rpartition(".")[2] == parent.name
    }
    declared = declared_table(nested.model)
    if not found and declared is not None:  # a database without the constraint, a class that knows
        for constraint in declared.foreign_key_constraints:
            if constraint.referred_table.name == table_name(above.model)[1]:
                found[tuple(constraint.column_keys)] = tuple(element.column.name for element in constraint.elements)
    if nested.parent_key is not None:
        if shape.column(nested.parent_key) is None:
            raise TargetError(
                f'{shape.name} has no column "{nested.parent_key}", which parent_key of "{nested.path}" names; '
                f"it has {', '.join(shape.names)}"
            )
        local = next((one for one in found if nested.parent_key in one), (nested.parent_key,))
        remote = found.get(local) or parent.primary_key
    elif len(found) == 1:
        local, remote = next(iter(found.items()))
    else:
        say = f"several foreign keys ({'; '.join(', '.join(one) for one in found)})" if found else "no foreign key"
        raise TargetError(
            f'The table {shape.name} of the nested collection "{nested.path}" has {say} to {parent.name}: '
            "name the column by for_(…, parent_key=…)"
        )
    if len(local) != len(remote):
        raise TargetError(
            f'"{nested.path}": {parent.name} has no single primary key that {", ".join(local)} could refer to'
        )
    return tuple(zip(local, remote, strict=True))


def _checks(inspector: sa.Inspector, table: sa.Table) -> dict[str, str]:
    try:
        found = inspector.get_check_constraints(table.name, schema=table.schema)
    except NotImplementedError:  # a dialect without check constraints
        return {}
    return {str(one["name"] or f"check {number}"): one["sqltext"] for number, one in enumerate(found, 1)}


def _constraints(inspector: sa.Inspector, table: sa.Table) -> dict[str, tuple[str, ...]]:
    """Columns of unique keys and foreign keys by name."""
    name, schema = table.name, table.schema
    named = {one["name"]: tuple(one["column_names"]) for one in inspector.get_unique_constraints(name, schema=schema)}
    for index in inspector.get_indexes(name, schema=schema):
        named[index["name"]] = tuple(column for column in index["column_names"] if column is not None)
    foreign = inspector.get_foreign_keys(name, schema=schema)
    named |= {one["name"]: tuple(one["constrained_columns"]) for one in foreign}
    primary = inspector.get_pk_constraint(name, schema=schema)
    named[primary.get("name")] = tuple(primary["constrained_columns"])
    return {str(constraint): columns for constraint, columns in named.items() if constraint}
