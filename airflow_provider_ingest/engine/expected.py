"""The expected schema: which columns the file must have, and what their raw values must be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from airflow_provider_ingest.engine.convert import FALSE, TRUE
from airflow_provider_ingest.engine.failures import refused_rows
from airflow_provider_ingest.engine.stretch import Stretch
from airflow_provider_ingest.engine.temporal import dates, timestamps
from airflow_provider_ingest.importers.schema import SchemaField
from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.frames import Kind
from airflow_provider_ingest.transformers.base import Refusal
from airflow_provider_ingest.transformers.numbers import PLAIN_SHAPE
from airflow_provider_ingest.transformers.values import stripped

ARTICLES = {"string": "a string", "integer": "an integer", "numeric": "a number", "boolean": "a boolean"}
WHOLE_SHAPE = r"\A[+-]?[0-9]+\z"
FITTING_KINDS = {
    "integer": {Kind.INTEGER},
    "numeric": {Kind.INTEGER, Kind.NUMBER},
    "boolean": {Kind.BOOLEAN},
    "date": {Kind.DATE},
    "datetime": {Kind.DATE, Kind.DATETIME},
    "string": set(Kind) - {Kind.JSON},
}


def check_schema(
    stretch: Stretch,
    schema: Mapping[str, SchemaField],
    aliases: Mapping[str, Sequence[str]],
    sensitive: frozenset[str],
    failures: list[pl.DataFrame],
) -> dict[str, pl.Series]:
    """Note the rows whose raw values are not what the schema expects, and return them by column.

    :param aliases: other names under which an expected field may come.
    """
    bad: dict[str, pl.Series] = {}
    for name, expected in schema.items():
        located = stretch.locate(aliases.get(name, (name,)))
        if located is None:
            continue
        text = stretch.text(located)
        for refusal in _refusals(text, stretch.kind(located), expected):
            failures.append(
                refused_rows(
                    refusal,
                    stretch.numbers,
                    stage=Stage.SCHEMA,
                    field=stretch.label(located.name),
                    got=text if refusal.code == "type" else None,
                    hide=located.name in sensitive or name in sensitive,
                )
            )
            bad[located.name] = bad.get(located.name, stretch.none()) | refusal.rows
    return bad


def _refusals(text: pl.Series, kind: Kind, expected: SchemaField) -> Iterable[Refusal]:
    trimmed = stripped(text)
    empty = (text.is_null() | (trimmed == "")).fill_null(True)
    if not expected.nullable and empty.any():
        yield Refusal(rows=empty, code="required", message="A value is required.")
    if kind in FITTING_KINDS[expected.type]:
        return
    wrong = ~empty & ~_fits(trimmed, expected.type, kind)
    if wrong.any():
        article = ARTICLES.get(expected.type, f"a {expected.type}")
        yield Refusal(rows=wrong, code="type", message=f"Expected {article}.")


def _fits(text: pl.Series, kind_name: str, kind: Kind) -> pl.Series:
    match kind_name:
        case "integer":
            return text.str.contains(WHOLE_SHAPE).fill_null(False)
        case "numeric":
            return text.str.contains(PLAIN_SHAPE).fill_null(False)
        case "boolean":
            return text.str.to_lowercase().is_in([*TRUE, *FALSE]).fill_null(False)
        case "date":
            return dates(text).is_not_null()
        case "datetime":
            return timestamps(text).is_not_null()
        case _:
            return pl.repeat(kind is not Kind.JSON, text.len(), dtype=pl.Boolean, eager=True)
