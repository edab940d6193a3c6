"""All mappings of one table over a stretch of rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from airflow_provider_ingest.engine.conditions import active_rows
from airflow_provider_ingest.engine.failures import refused_rows
from airflow_provider_ingest.engine.mapped import Findings, MappedColumn, work_mapping
from airflow_provider_ingest.engine.relations import Lookup, RelatedColumn, work_relation
from airflow_provider_ingest.engine.stretch import Stretch
from airflow_provider_ingest.engine.temporal import laid_out
from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.frames import SET_PREFIX
from airflow_provider_ingest.transformers.base import Refusal

CONFLICT = "conflicting_mappings"


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """One table's part of a plan.

    :param path: of the nested collection, empty for the importer's own rows.
    :param key: the collection's key inside its parent.
    """

    path: str = ""
    key: str = ""
    columns: tuple[MappedColumn, ...] = ()
    relations: tuple[RelatedColumn, ...] = ()
    nested: tuple[TablePlan, ...] = ()

    @property
    def conditional(self) -> tuple[str, ...]:
        """Attributes that are not set in every row."""
        return tuple(dict.fromkeys(one.mapping.attribute for one in self.columns if one.mapping.condition is not None))


@dataclass(slots=True)
class _Conditional:
    """An attribute that several conditional mappings may fill."""

    parts: list[tuple[pl.Series, pl.Series]] = field(default_factory=list)

    def merged(self, height: int) -> tuple[pl.Series, pl.Series, pl.Series]:
        """The values, where they are set, and where more than one mapping set them."""
        first = self.parts[0][1]
        values = pl.Series([None], dtype=first.dtype).new_from_index(0, height) if height else first.clear()
        times_set = pl.repeat(0, height, dtype=pl.Int32, eager=True)
        for mask, part in self.parts:
            if part.len():
                values = laid_out(part.cast(values.dtype), mask, values)
            times_set = times_set + mask.cast(pl.Int32)
        return values, times_set > 0, times_set > 1


def work_table(plan: TablePlan, stretch: Stretch, findings: Findings, lookup: Lookup | None) -> pl.DataFrame:
    """The attributes of all rows of the stretch, converted, and the ``SET_PREFIX`` columns of conditional ones."""
    made: dict[str, pl.Series] = {}
    conditional: dict[str, _Conditional] = {}
    for column in plan.columns:
        attribute = column.mapping.attribute
        if column.mapping.condition is None:
            bad = _schema_refusals(column, stretch, findings)
            made[attribute] = work_mapping(column, stretch, stretch, findings, bad)
        else:
            made.setdefault(attribute, stretch.none())  # keeps the place of the first mapping
            part = _work_conditional(column, stretch, findings)
            conditional.setdefault(attribute, _Conditional()).parts.append(part)
    for relation in plan.relations:
        made[relation.relation.attribute] = work_relation(relation, stretch, findings, lookup)
    sets: dict[str, pl.Series] = {}
    for attribute, parts in conditional.items():
        made[attribute], sets[SET_PREFIX + attribute], clash = parts.merged(stretch.height)
        if clash.any():
            message = "More than one conditional mapping applies."
            refusal = Refusal(rows=clash, code=CONFLICT, message=message)
            label = stretch.label(attribute)
            findings.failures.append(refused_rows(refusal, stretch.numbers, stage=Stage.TRANSFORM, field=label))
    return pl.DataFrame([values.alias(name) for name, values in {**made, **sets}.items()])


def _work_conditional(column: MappedColumn, stretch: Stretch, findings: Findings) -> tuple[pl.Series, pl.Series]:
    mapping = column.mapping
    mask, refused = active_rows(mapping, stretch)
    name = mapping.fields[0] if mapping.fields else mapping.attribute
    for refusal in refused:
        findings.failures.append(
            refused_rows(
                refusal, stretch.numbers, stage=Stage.TRANSFORM, field=stretch.label(name), hide=column.is_sensitive
            )
        )
    bad = _schema_refusals(column, stretch, findings)
    part = stretch.filter(mask)
    return mask, work_mapping(column, part, stretch, findings, None if bad is None else bad.filter(mask))


def _schema_refusals(column: MappedColumn, stretch: Stretch, findings: Findings) -> pl.Series | None:
    """The rows of the mapping's field that the expected schema refused; nested elements have none."""
    if not findings.bad or stretch.prefix is not None:
        return None
    located = stretch.locate(column.mapping.fields)
    return findings.bad.get(located.name) if located else None
