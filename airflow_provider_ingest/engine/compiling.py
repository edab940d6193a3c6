"""Joins a definition with the tables it fills; what does not fit ends the run before the first row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingABC

from airflow_provider_ingest.engine.convert import conversion_of
from airflow_provider_ingest.engine.mapped import MappedColumn
from airflow_provider_ingest.engine.relations import RelatedColumn
from airflow_provider_ingest.engine.table import TablePlan
from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.importers.mapping import Mapping
from airflow_provider_ingest.importers.nested import NestedConfig
from airflow_provider_ingest.importers.suggestions import did_you_mean, listed
from airflow_provider_ingest.importers.table import ColumnShape, TableShape


def compile_table(
    config: IngestConfig | NestedConfig,
    shape: TableShape,
    child_shapes: MappingABC[str, TableShape],
    sensitive: frozenset[str] = frozenset(),
    parent: TableShape | None = None,
) -> TablePlan:
    """The plan of one table and those nested in it.

    :raises TargetError: for a column that the table lacks, or that must be set and is not.
    """
    path = config.path if isinstance(config, NestedConfig) else ""
    key = config.key.attributes if config.key else ()
    if isinstance(config, IngestConfig):
        sensitive = config.sensitive_fields
    columns = tuple(
        MappedColumn(
            mapping=mapping,
            convert=conversion_of(_column(shape, mapping.attribute), is_key=mapping.attribute in key),
            is_sensitive=_is_sensitive(_names(mapping), path, sensitive),
        )
        for mapping in config.mappings
    )
    relations = tuple(
        RelatedColumn(
            relation=relation,
            convert=conversion_of(_column(shape, relation.attribute), is_key=relation.attribute in key),
            is_sensitive=_is_sensitive((relation.field, relation.attribute), path, sensitive),
        )
        for relation in config.relations
    )
    _check_filled(config, shape, parent)
    return TablePlan(
        path=path,
        key=config.within if isinstance(config, NestedConfig) else "",
        columns=columns,
        relations=relations,
        nested=tuple(
            compile_table(nested, _child(child_shapes, nested.path), child_shapes, sensitive, shape)
            for nested in config.nested
        ),
    )


def _child(child_shapes: MappingABC[str, TableShape], path: str) -> TableShape:
    if path not in child_shapes:
        raise TargetError(f'The table of the nested collection "{path}" is not known.')
    return child_shapes[path]


def _column(shape: TableShape, attribute: str) -> ColumnShape:
    column = shape.column(attribute)
    if attribute in shape.computed:
        raise TargetError(
            f'The column "{attribute}" of the table "{shape.name}" is computed by the database and cannot be written: '
            "leave out what maps it, and map the columns that it is computed of."
        )
    if column is None:
        raise TargetError(
            f'The table "{shape.name}" has no column "{attribute}".{did_you_mean(attribute, shape.names)} '
            f"It has {listed(shape.names)}."
        )
    return column


def _check_filled(config: IngestConfig | NestedConfig, shape: TableShape, parent: TableShape | None) -> None:
    filled = {mapping.attribute for mapping in config.mappings} | {relation.attribute for relation in config.relations}
    if isinstance(config, NestedConfig) and parent is not None:
        filled |= {config.parent_key} if config.parent_key else set()
        filled |= {name for names in shape.foreign_keys for name in names}
    unset = [
        column.name
        for column in shape.columns
        if not (column.nullable or column.has_default or column.has_constant or column.name in filled)
    ]
    if unset:
        raise TargetError(
            f'No mapping sets {listed(unset)} of the table "{shape.name}", which take no null and have no default: '
            "no row could be written."
        )


def _names(mapping: Mapping) -> tuple[str, ...]:
    read = (name for step in mapping.transformers for name in getattr(step, "reads", ()))
    return (*mapping.fields, mapping.attribute, *read)


def masked_columns(table: TablePlan, sensitive: frozenset[str], columns: Iterable[str]) -> frozenset[str]:
    """The source columns that are sensitive, hold a sensitive part, or feed a sensitive attribute."""
    if not sensitive:
        return frozenset()
    names = set(sensitive) | {field for one in table.columns if one.is_sensitive for field in _names(one.mapping)}
    names |= {one.relation.field for one in table.relations if one.is_sensitive}
    names |= {nested.key for nested in table.nested if _holds_sensitive(nested)}
    known = frozenset(columns)
    return known & (names | {holder for name in names for holder in _holders(name)})


def _holds_sensitive(table: TablePlan) -> bool:
    own = any(one.is_sensitive for one in table.columns) or any(one.is_sensitive for one in table.relations)
    return own or any(_holds_sensitive(nested) for nested in table.nested)


def _is_sensitive(names: tuple[str, ...], path: str, sensitive: frozenset[str]) -> bool:
    """Whether a name, the object that holds it, or the collection around it was called sensitive."""
    paths = [f"{path}.{name}" for name in names] if path else []
    around = {path, *_holders(path)} if path else set()
    return bool(sensitive & {*names, *paths, *around, *(holder for name in names for holder in _holders(name))})


def _holders(name: str) -> Iterator[str]:
    """The objects that a dotted name leads through, outermost last."""
    for place, character in enumerate(name):
        if character in ".[" and place:
            yield name[:place]
