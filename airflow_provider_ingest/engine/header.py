"""Compares the columns that a file has with those that its importer reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from airflow_provider_ingest.engine.stretch import locate
from airflow_provider_ingest.engine.table import TablePlan
from airflow_provider_ingest.exceptions import ConfigError, SchemaMismatch
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.importers.schema import SchemaField
from airflow_provider_ingest.importers.sourcing import schema_fields
from airflow_provider_ingest.importers.suggestions import did_you_mean, listed, look_alikes


def expected_fields(config: IngestConfig) -> dict[str, SchemaField]:
    """The expected schema: what a source object says of itself, overridden by the importer.

    :raises SchemaMismatch: if the source object's own schema is unusable.
    """
    custom = config.source.custom if config.source else None
    own = custom.get_schema() if custom is not None else None
    if not own:
        return dict(config.schema)
    try:
        return {**schema_fields(own, "The schema of the source"), **config.schema}
    except ConfigError as error:
        raise SchemaMismatch(str(error)) from None


def check_header(
    table: TablePlan,
    schema: Mapping[str, SchemaField],
    aliases: Mapping[str, tuple[str, ...]],
    columns: Sequence[str],
    *,
    is_sparse: bool,
) -> tuple[str, ...]:
    """Raise :class:`SchemaMismatch` for missing columns; returns warnings for fields that no row has."""
    known = dict.fromkeys(columns)
    required = [aliases.get(name, (name,)) for name, field in schema.items() if field.required]
    missing = [names for names in required if locate(names, known) is None]
    optional = {name for name, field in schema.items() if not field.required}
    mapped = list(dict.fromkeys(_read_fields(table)))
    absent = [
        names
        for names in mapped
        if names not in missing and not optional.intersection(names) and locate(names, known) is None
    ]
    if not is_sparse:
        missing += absent
    elif mapped and all(locate(names, known) is None for names in mapped):
        missing = mapped
    if missing:
        raise SchemaMismatch(_message(missing, columns))
    return tuple(f'No row has the field "{names[0]}".{did_you_mean(names[0], columns)}' for names in absent)


def _read_fields(table: TablePlan) -> Iterator[tuple[str, ...]]:
    for column in table.columns:
        mapping = column.mapping
        if mapping.fields:
            yield mapping.fields
        for step in (*mapping.transformers, *mapping.validators):
            yield from ((name,) for name in getattr(step, "reads", ()))
        if isinstance(mapping.condition, pl.Expr):
            yield from ((name,) for name in mapping.condition.meta.root_names())
    yield from ((relation.relation.field,) for relation in table.relations)
    yield from ((nested.key,) for nested in table.nested)


def _message(missing: Sequence[tuple[str, ...]], columns: Sequence[str]) -> str:
    has = f"It has {listed(columns) if columns else 'no columns'}."
    if len(missing) == 1:
        name, *others = missing[0]
        also = f" (or {listed(others)})" if others else ""
        return f'The file lacks the field "{name}"{also}.{did_you_mean(name, columns)} {has}'
    named = ", ".join(_with_notes(names, columns) for names in missing)
    return f"The file lacks {len(missing)} fields that the importer reads: {named}. {has}"


def _with_notes(names: tuple[str, ...], columns: Sequence[str]) -> str:
    """A field with the other names that it may have and the one that may have been meant."""
    notes = [f"or {listed(names[1:])}"] if names[1:] else []
    notes += [f'did you mean "{alike}"?' for alike in look_alikes(names[0], columns, most=1)]
    return f'"{names[0]}"' + (f" ({'; '.join(notes)})" if notes else "")
