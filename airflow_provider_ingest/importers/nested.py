"""Collections nested in the rows of an importer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.importers.builder import MappingBuilder
from airflow_provider_ingest.importers.mapping import Key, Mapping, Relation
from airflow_provider_ingest.importers.model import check_model, column_name, related_model
from airflow_provider_ingest.importers.target import TargetSpec


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NestedConfig(MappingBuilder):
    """How the elements of a nested array (or one nested object) become rows of a related target.

    The callback of :meth:`MappingBuilder.nest` receives an empty one and returns it filled. The foreign key to the
    parent is found from the target's ``ForeignKey``, or named by ``for_(…, parent_key=)``.

    >>> NestedConfig(path="variants").for_("public.variants").map("sku", "sku").keyed_by("sku").key.attributes
    ('sku',)

    :param path: the dotted path from the row to the collection (``variants``, ``variants.prices``).
    :param within: the last part of it: where the collection is in its parent (may lead through objects).
    :param parent_key: column that refers to the parent, ``None`` to find it.
    """

    path: str
    within: str = ""
    target: TargetSpec | None = None
    mappings: tuple[Mapping, ...] = ()
    key: Key | None = None
    parent_key: str | None = None
    nested: tuple[NestedConfig, ...] = ()
    relations: tuple[Relation, ...] = ()

    @property
    def where(self) -> str:
        """What messages call this definition."""
        return f'nested collection "{self.path}"'

    def for_(self, model: Any, *, parent_key: str | None = None) -> NestedConfig:
        """Set the table that receives the elements: a mapped class, a ``Table`` or a name.

        It may be left out where the parent's class has a relationship of the collection's name.

        :param parent_key: the attribute that refers to the parent, where the foreign keys leave it open.
        """
        check_model(model, self.where)
        if self.mappings or self.relations:
            raise ConfigError(f"{self.where}: for_() comes before the mappings.")
        target = TargetSpec(model=model, conn_id=self.target.conn_id if self.target else "")
        column = column_name(target, parent_key, self.where) if parent_key is not None else None
        return replace(self, target=target, parent_key=column)


def define_nested(parent: MappingBuilder, path: str, callback: Callable[[NestedConfig], NestedConfig]) -> NestedConfig:
    """The finished nested collection, for the connection of its parent."""
    if not isinstance(path, str) or not path or any(not part for part in path.split(".")):
        raise ConfigError(f'{parent.where}: nest() takes the key of a collection, such as "variants"; got {path!r}.')
    full = f"{parent.path}.{path}" if isinstance(parent, NestedConfig) else path
    if any(other.path == full for other in parent.nested):
        raise ConfigError(f'{parent.where}: the collection "{path}" is nested twice.')
    if not callable(callback):
        raise ConfigError(f'{parent.where}: nest("{path}") takes a callback that receives a NestedConfig.')
    conn_id = parent.target.conn_id if parent.target else ""
    model = related_model(parent.target.model, path) if parent.target else None
    empty = NestedConfig(
        path=full, within=path, target=TargetSpec(model=model, conn_id=conn_id) if model is not None else None
    )
    made = callback(empty)
    if not isinstance(made, NestedConfig):
        raise ConfigError(
            f'{parent.where}: the callback of nest("{path}") returned {made!r}; it must return the NestedConfig it '
            "built (each method returns a new one)."
        )
    if made.target is None:
        raise ConfigError(f'{parent.where}: nest("{path}") has no target; begin with nested.for_(Model).')
    if not (made.mappings or made.relations or made.nested):
        raise ConfigError(f'{parent.where}: nest("{path}") maps nothing.')
    return bound(made, conn_id)


def bound(nested: NestedConfig, conn_id: str) -> NestedConfig:
    """The collection and those inside it, in the database of the importer."""
    if nested.target is not None:
        nested = replace(nested, target=replace(nested.target, conn_id=conn_id))
    return replace(nested, nested=tuple(bound(inner, conn_id) for inner in nested.nested))
