"""The shape of a mapped class as PostgreSQL would have it, without a database."""

from __future__ import annotations

from typing import Any

from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.importers.nested import NestedConfig
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape, TableShape


def shape_of_target(config: IngestConfig | NestedConfig) -> TableShape:
    """The shape of the table that a definition names: from its class, or made up from the mappings for a mere name."""
    assert config.target is not None
    model = config.target.model
    if isinstance(model, str):
        mapped = [mapping.attribute for mapping in config.mappings] + [one.attribute for one in config.relations]
        columns = (ColumnShape(name=name, kind=ColumnKind.TEXT, sql_type="text") for name in dict.fromkeys(mapped))
        return TableShape(name=model, columns=tuple(columns))
    return shape_of_model(model)


def child_shapes(config: IngestConfig | NestedConfig) -> dict[str, TableShape]:
    """The shapes of nested collections by dotted path."""
    shapes: dict[str, TableShape] = {}
    for nested in config.nested:
        shapes[nested.path] = shape_of_target(nested)
        shapes |= child_shapes(nested)
    return shapes


def shape_of_model(model: Any) -> TableShape:
    """The shape of an SQLAlchemy mapped class or ``Table``."""
    table = getattr(model, "__table__", model)
    return TableShape(
        name=table.name,
        schema=table.schema,
        columns=tuple(_column(column, table) for column in table.columns if column.computed is None),
        computed=tuple(column.name for column in table.columns if column.computed is not None),
        primary_key=tuple(column.name for column in table.primary_key.columns),
        foreign_keys={
            tuple(constraint.column_keys): (
                constraint.referred_table.name,
                tuple(element.column.name for element in constraint.elements),
            )
            for constraint in table.foreign_key_constraints
        },
    )


def _column(column: Any, table: Any) -> ColumnShape:
    from sqlalchemy.dialects import postgresql

    from airflow_provider_ingest.targets.kinds import choices_of, integer_range, kind_of

    kind = kind_of(column.type)
    low, high = integer_range(column.type, "postgresql")
    is_filled = column.server_default is not None or column.identity is not None
    return ColumnShape(
        name=column.name,
        kind=kind,
        sql_type=column.type.compile(
            postgresql.dialect()  # type: ignore[no-untyped-call]
        ).lower(),
        nullable=bool(column.nullable),
        has_default=is_filled or column is table.autoincrement_column,
        has_constant=column.default is not None,
        length=getattr(column.type, "length", None) if kind is ColumnKind.TEXT else None,
        precision=getattr(column.type, "precision", None) if kind is ColumnKind.NUMERIC else None,
        scale=getattr(column.type, "scale", None) if kind is ColumnKind.NUMERIC else None,
        minimum=low,
        maximum=high,
        choices=choices_of(column.type),
    )
