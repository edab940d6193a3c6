"""Foreign keys found by natural keys, looked up in bulk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from airflow_provider_ingest.engine.convert import Conversion
from airflow_provider_ingest.engine.failures import refused_rows
from airflow_provider_ingest.engine.mapped import Findings
from airflow_provider_ingest.engine.stretch import Stretch
from airflow_provider_ingest.engine.trace import HIDDEN, INPUT, MappingTrace, Step
from airflow_provider_ingest.importers.mapping import Relation
from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.transformers.base import Refusal
from airflow_provider_ingest.transformers.values import as_text, stripped

NOT_FOUND = "not_found"

Lookup = Callable[[Relation, pl.Series], pl.DataFrame]
"""Gives key and value, in two columns in this order, of the keys that are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedColumn:
    """A relation as compiled."""

    relation: Relation
    convert: Conversion
    is_sensitive: bool


def work_relation(column: RelatedColumn, stretch: Stretch, findings: Findings, lookup: Lookup | None) -> pl.Series:
    """The foreign key of each row; an unknown key fails its row, an empty one gives null.

    Without a lookup (an importer that is tested without a database) every key counts as known, and the value is null.
    """
    relation = column.relation
    text, keys = relation_keys(stretch, relation)
    label = stretch.label(relation.field)
    if lookup is None:
        unknown = pl.repeat(None, stretch.height, dtype=pl.String, eager=True)
        values, _ = column.convert(unknown)
        refused = [one for one in column.convert(keys)[1] if one.code == "not_null"]
    else:
        found = _found(keys, relation, lookup)
        missing = keys.is_not_null() & found.is_null()
        values, converted = column.convert(found)
        refused = [
            Refusal(rows=one.rows & ~missing, code=one.code, message=one.message)
            for one in converted
            if (one.rows & ~missing).any()
        ]
        if missing.any():
            message = f"No {relation.table} has this {relation.key}"
            message += ", and none can be made with it." if relation.create_missing else "."
            refused.insert(0, Refusal(rows=missing, code=NOT_FOUND, message=message))
    if findings.is_traced:
        shown = pl.repeat(HIDDEN, stretch.height, dtype=pl.String, eager=True) if column.is_sensitive else None
        steps = (Step(name=INPUT, values=text), Step(name=f"{relation.table}.{relation.key}", values=values))
        findings.traces.append(
            MappingTrace(
                numbers=stretch.numbers,
                all_numbers=stretch.numbers,
                label=stretch.label(relation.attribute),
                field=relation.field,
                attribute=relation.attribute,
                condition=None,
                steps=steps if shown is None else tuple(Step(name=step.name, values=shown) for step in steps),
                is_nested=stretch.prefix is not None,
            )
        )
    for refusal in refused:
        findings.failures.append(
            refused_rows(
                refusal, stretch.numbers, stage=Stage.VALIDATE, field=label, got=text, hide=column.is_sensitive
            )
        )
    return values


def relation_keys(stretch: Stretch, relation: Relation) -> tuple[pl.Series, pl.Series]:
    """The field's text, and the keys to look up: without blanks around them, null where there is none."""
    text = stretch.text(stretch.locate((relation.field,)))
    keys = stripped(text)
    return text, keys.set((keys == "").fill_null(False), None)


def _found(keys: pl.Series, relation: Relation, lookup: Lookup) -> pl.Series:
    wanted = keys.drop_nulls().unique(maintain_order=True)
    if wanted.is_empty():
        return pl.repeat(None, keys.len(), dtype=pl.Int64, eager=True)
    table = lookup(relation, wanted)
    known = pl.DataFrame({"key": as_text(table.to_series(0)), "value": table.to_series(1)}).unique("key", keep="first")
    return keys.to_frame("key").join(known, on="key", how="left", maintain_order="left").get_column("value")
