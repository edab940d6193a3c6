"""What is recorded of the way from fields to attributes, rendered for the rows that are logged."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from airflow_provider_ingest.engine.json_text import json_strings, json_values
from airflow_provider_ingest.runs.frames import ROW_NUMBER

INPUT = "input"
HIDDEN = "***"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The column after one step; ``reached`` is false where an earlier step refused the row."""

    name: str
    values: pl.Series
    reached: pl.Series | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingTrace:
    """One mapping over the rows in which it was active.

    :param numbers: row numbers of these rows; ``all_numbers`` those of all rows.
    :param label: the attribute, with the element's path in nested collections.
    """

    numbers: pl.Series
    all_numbers: pl.Series
    label: str | pl.Series
    field: str | None
    attribute: str
    condition: str | None
    steps: tuple[Step, ...]
    is_nested: bool = False


class Trace:
    """The traces of a batch: kept as the columns they are, made into documents only for the rows asked for.

    A document is ``{"transformations": {attribute: [{"step", "value"}, …]}, "mappings": [{"field", "attribute",
    "condition", "active"}, …]}``, with the members that the importer traces.
    """

    def __init__(self, mappings: list[MappingTrace], *, transformations: bool, with_mappings: bool) -> None:
        self._mappings = mappings
        self._transformations = transformations
        self._with_mappings = with_mappings

    def documents(self, numbers: pl.Series) -> pl.DataFrame:
        """:data:`ROW_NUMBER` and ``trace`` (JSON text) of the rows with these numbers."""
        wanted = numbers.unique().implode()
        members = []
        if self._transformations:
            members.append(_member("transformations", "{", "}", [_steps(one, wanted) for one in self._mappings]))
        if self._with_mappings:
            flat = [_active(one, wanted) for one in self._mappings if not one.is_nested]
            members.append(_member("mappings", "[", "]", flat))
        frame = pl.DataFrame({ROW_NUMBER: numbers.unique(maintain_order=True).cast(pl.Int64)})
        for place, member in enumerate(members):
            frame = frame.join(
                member.rename({"json": f"json{place}"}), on=ROW_NUMBER, how="left", maintain_order="left"
            )
        body = [pl.col(f"json{place}") for place in range(len(members))]
        joined = pl.concat_str(body, separator=",", ignore_nulls=True)
        has_any = pl.any_horizontal(member.is_not_null() for member in body)
        return frame.select(ROW_NUMBER, pl.when(has_any).then("{" + joined + "}").alias("trace"))


def _member(name: str, opening: str, closing: str, parts: list[pl.DataFrame]) -> pl.DataFrame:
    schema = {ROW_NUMBER: pl.Int64, "json": pl.String}
    filled = [part for part in parts if not part.is_empty()]
    if not filled:
        return pl.DataFrame(schema=schema)
    return (
        pl.concat(filled)
        .group_by(ROW_NUMBER, maintain_order=True)
        .agg(pl.col("json").str.join(","))
        .select(ROW_NUMBER, (f'"{name}":{opening}' + pl.col("json") + closing).alias("json"))
    )


def _steps(one: MappingTrace, wanted: pl.Series) -> pl.DataFrame:
    rows = one.numbers.is_in(wanted)
    parts = []
    for place, step in enumerate(one.steps):
        name = json_strings(pl.Series([step.name])).item()
        entry = f'{{"step":{name},"value":' + json_values(step.values.filter(rows)) + "}"
        if step.reached is not None:
            entry = entry.set(~step.reached.filter(rows), None)
        parts.append(entry.alias(str(place)))
    label = one.label.filter(rows) if isinstance(one.label, pl.Series) else pl.Series([one.label] * int(rows.sum()))
    frame = pl.DataFrame(parts) if parts else pl.DataFrame()
    steps = frame.select(pl.concat_str(pl.all(), separator=",", ignore_nulls=True)).to_series()
    return pl.DataFrame(
        {
            ROW_NUMBER: one.numbers.filter(rows).cast(pl.Int64),
            "json": json_strings(label.cast(pl.String)) + ":[" + steps + "]",
        }
    )


def _active(one: MappingTrace, wanted: pl.Series) -> pl.DataFrame:
    numbers = one.all_numbers.filter(one.all_numbers.is_in(wanted))
    field, attribute, condition = (
        json_strings(pl.Series([name], dtype=pl.String)).item() for name in (one.field, one.attribute, one.condition)
    )
    start = f'{{"field":{field},"attribute":{attribute},"condition":{condition},"active":'
    active = numbers.is_in(one.numbers.implode()).cast(pl.String)
    return pl.DataFrame({ROW_NUMBER: numbers.cast(pl.Int64), "json": start + active + "}"})
