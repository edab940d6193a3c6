"""What a writer must know of one table: where it is, what identifies a record, what hangs below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Table

from airflow_provider_ingest.importers.mapping import DuplicateStrategy, Key
from airflow_provider_ingest.importers.table import TableShape


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSource:
    """How the database fills a column that is left out.

    :param expression: SQL of its default, ``None`` where there is none.
    :param is_identity: an identity or autoincrement column.
    :param is_always: ``GENERATED ALWAYS``: a value of our own needs ``OVERRIDING SYSTEM VALUE``.
    """

    expression: str | None = None
    is_identity: bool = False
    is_always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """A table that receives rows, with the tables of the collections nested in them.

    :param path: dotted path of the nested collection, ``""`` for the root.
    :param key: what identifies a record; for a nested one with the foreign key in front.
    :param parent: ``(column here, column of the parent)`` pairs of the foreign key.
    :param constants: values or functions that the mapped class gives to columns left out on insert.
    :param checks: expressions of the check constraints by name.
    :param constraints: columns of the unique and foreign keys by the constraint's name.
    :param hidden: attributes whose values appear in no message.
    """

    table: Table
    shape: TableShape
    path: str = ""
    key: Key | None = None
    parent: tuple[tuple[str, str], ...] = ()
    children: tuple[TablePlan, ...] = ()
    sources: Mapping[str, ColumnSource] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    @property
    def strategy(self) -> DuplicateStrategy | None:
        """What to do with a key that exists; ``None`` without a key."""
        return self.key.on_duplicate if self.key else None

    @property
    def label(self) -> str:
        """``schema.table``, for messages."""
        return f"{self.shape.schema}.{self.shape.name}" if self.shape.schema else self.shape.name

    @property
    def has_unique_key(self) -> bool:
        """Whether the database itself keeps the key unique."""
        if self.key is None:
            return False
        wanted = frozenset(self.key.attributes)
        return any(frozenset(unique) == wanted for unique in (self.shape.primary_key, *self.shape.unique_keys))

    def child(self, path: str) -> TablePlan | None:
        """The plan of the nested collection with this dotted path."""
        return next((child for child in self.children if child.path == path), None)

    def walk(self) -> Iterator[TablePlan]:
        """The table and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()
