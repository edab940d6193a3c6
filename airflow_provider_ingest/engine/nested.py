"""Arrays and objects inside the rows, as rows of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from airflow_provider_ingest.engine.failures import refused_rows
from airflow_provider_ingest.engine.mapped import Findings
from airflow_provider_ingest.engine.relations import Lookup
from airflow_provider_ingest.engine.stretch import Stretch
from airflow_provider_ingest.engine.table import TablePlan, work_table
from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.frames import ROW_NUMBER, ChildBatch, Kind
from airflow_provider_ingest.transformers.base import Refusal

PARENT = "_parent"
NO_COLLECTION = "Expected an array of objects, or one object."


@dataclass(frozen=True, slots=True, kw_only=True)
class Children:
    """A nested collection as worked, rows of failed parents still among them.

    :param frame: row number, position of the parent among all its siblings, attributes.
    """

    plan: TablePlan
    frame: pl.DataFrame
    inner: tuple[Children, ...]

    def kept(self, valid: pl.Series, places: pl.Series) -> ChildBatch:
        """Without the elements of failed rows.

        :param valid: mask over the parents; ``places``: where each parent stands among the kept ones.
        """
        parents = self.frame.get_column(PARENT)
        mask = valid.gather(parents)
        records = self.frame.filter(mask).with_columns(places.gather(parents.filter(mask)).cast(pl.Int64).alias(PARENT))
        below = places_of(mask)
        return ChildBatch(
            name=self.plan.path, records=records, children=tuple(one.kept(mask, below) for one in self.inner)
        )


def places_of(mask: pl.Series) -> pl.Series:
    """Where each row stands among those for which the mask is true."""
    return mask.cast(pl.Int64).cum_sum() - 1


def work_nested(
    plans: tuple[TablePlan, ...], parents: Stretch, findings: Findings, lookup: Lookup | None
) -> tuple[Children, ...]:
    """The collections nested in these rows, at all levels."""
    return tuple(_work_collection(plan, parents, findings, lookup) for plan in plans)


def _work_collection(plan: TablePlan, parents: Stretch, findings: Findings, lookup: Lookup | None) -> Children:
    elements, positions = _elements(plan, parents, findings)
    frame = work_table(plan, elements, findings, lookup)
    inner = work_nested(plan.nested, elements, findings, lookup)
    numbered = pl.DataFrame([elements.numbers.alias(ROW_NUMBER), positions.alias(PARENT), *frame.get_columns()])
    return Children(plan=plan, frame=numbered, inner=inner)


def _elements(plan: TablePlan, parents: Stretch, findings: Findings) -> tuple[Stretch, pl.Series]:
    """The collection's elements as rows of text, and the position of each one's parent."""
    text = parents.text(parents.locate((plan.key,)))
    positions: list[int] = []
    places: list[str] = []
    found: list[dict[str, Any]] = []
    wrong: list[int] = []
    # the elements of one batch may mix types, which no columnar JSON reader takes: one orjson call per parent
    for position, one in enumerate(text.to_list()):
        if not one:
            continue
        loaded = _loaded(one)
        if isinstance(loaded, dict):
            positions.append(position)
            places.append(".")
            found.append(loaded)
        elif isinstance(loaded, list) and all(isinstance(element, dict) for element in loaded):
            positions.extend([position] * len(loaded))
            places.extend([f"[{index}]." for index in range(len(loaded))])
            found.extend(loaded)
        elif loaded is not None:
            wrong.append(position)
    if wrong:
        rows = parents.none().scatter(wrong, True)
        findings.failures.append(
            refused_rows(
                Refusal(rows=rows, code="type", message=NO_COLLECTION),
                parents.numbers,
                stage=Stage.SCHEMA,
                field=parents.label(plan.key),
            )
        )
    parent_places = pl.Series(positions, dtype=pl.Int64)
    prefix = plan.key + pl.Series(places, dtype=pl.String)
    if parents.prefix is not None:
        prefix = parents.prefix.gather(parent_places) + prefix
    names = dict.fromkeys(name for element in found for name in element)
    columns, kinds = [], {}
    for name in names:
        values = [element.get(name) for element in found]
        kinds[name] = _kind(values)
        columns.append(pl.Series(name, [_text(value) for value in values], dtype=pl.String))
    frame = pl.DataFrame(columns)
    return Stretch(frame, parents.numbers.gather(parent_places), kinds, prefix), parent_places


def _loaded(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return text


def _text(value: Any) -> str | None:
    """A JSON value as the text in which values travel."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return orjson.dumps(value).decode()
    return ("true" if value else "false") if isinstance(value, bool) else repr(value)


def _kind(values: list[Any]) -> Kind:
    types = {type(value) for value in values} - {type(None)}
    if not types:
        return Kind.TEXT
    if types == {bool}:
        return Kind.BOOLEAN
    if types == {int}:
        return Kind.INTEGER
    if types <= {int, float}:
        return Kind.NUMBER
    return Kind.JSON if types <= {dict, list} else Kind.TEXT
