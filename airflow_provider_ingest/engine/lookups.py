"""Finds the foreign keys of relations through the target, in bulk, and remembers them while a chunk is worked."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from airflow_provider_ingest.engine.relations import relation_keys
from airflow_provider_ingest.engine.stretch import Stretch
from airflow_provider_ingest.engine.table import TablePlan
from airflow_provider_ingest.importers.mapping import Relation
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RowBatch

MOST_REMEMBERED = 200_000


class Finder(Protocol):
    """Where relations are looked up: the chunk's transaction, or a target."""

    def lookup(self, table: str, key: str, value: str, keys: pl.Series, *, create_missing: bool) -> pl.DataFrame:
        """``key`` and ``value`` columns for the given keys."""


class Lookups:
    """Asks for each key once.

    The database is only asked from :meth:`prepare` (and, for relations inside nested collections, from
    :meth:`find`), never while another thread may use its connection.
    """

    def __init__(self, table: TablePlan, finder: Finder) -> None:
        self._relations = [column.relation for column in table.relations]
        self._finder = finder
        self._known: dict[Relation, pl.DataFrame] = {}
        self.needs_target = any(_has_relations(nested) for nested in table.nested)

    @property
    def asks_ahead(self) -> bool:
        """Whether :meth:`prepare` has anything to ask for."""
        return bool(self._relations)

    def prepare(self, batch: RowBatch) -> None:
        """Look up the keys of a batch that are not known yet."""
        if not self._relations:
            return
        stretch = Stretch(batch.frame.select(batch.columns), batch.frame[ROW_NUMBER], batch.kinds)
        for relation in self._relations:
            self._ask(relation, relation_keys(stretch, relation)[1])

    def find(self, relation: Relation, keys: pl.Series) -> pl.DataFrame:
        """Key and value of the keys that are known."""
        if relation not in self._relations:
            self._ask(relation, keys)
        return self._known.get(relation, pl.DataFrame(schema={"key": pl.String, "value": pl.Int64}))

    def _ask(self, relation: Relation, keys: pl.Series) -> None:
        wanted = keys.drop_nulls().unique().sort()
        known = self._known.get(relation)
        if known is not None:
            wanted = wanted.filter(~wanted.is_in(known["key"].implode()))
        if wanted.is_empty():
            return
        found = self._finder.lookup(
            relation.table, relation.key, relation.value, wanted, create_missing=relation.create_missing
        )
        found = pl.DataFrame({"key": found.to_series(0).cast(pl.String), "value": found.to_series(1)})
        if found.is_empty():
            return
        if known is None or known.height > MOST_REMEMBERED:
            needed = found if known is None else pl.concat([known.filter(pl.col("key").is_in(keys.implode())), found])
            self._known[relation] = needed
        else:
            self._known[relation] = pl.concat([known, found])


def _has_relations(table: TablePlan) -> bool:
    return bool(table.relations) or any(_has_relations(nested) for nested in table.nested)
