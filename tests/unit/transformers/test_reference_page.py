"""Runs the tables of edge cases in ``docs/reference/transformers.md``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from airflow_provider_ingest import transformers
from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.transformers.scalar import apply_transformer
from airflow_provider_ingest.transformers.values import to_series

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "transformers.md"
NAMES = {name: getattr(transformers, name) for name in transformers.__all__} | {"Decimal": Decimal, "date": date}
LINE = re.compile(r"^\| `(?P<definition>.+?)` \| `(?P<value>.+?)` \| (?P<gives>.+?) \|$")


def cases() -> Iterator[Any]:
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if match := LINE.match(line):
            yield pytest.param(
                match["definition"], match["value"], match["gives"], id=f"line {number}: {match['definition']}"
            )


def column_of(value: Any) -> pl.Series:
    return pl.Series([None], dtype=pl.String) if value is None else to_series([value])


@pytest.mark.parametrize(("definition", "value", "gives"), list(cases()))
def test_the_page_says_what_a_transformer_gives(definition: str, value: str, gives: str) -> None:
    transformer, given = eval(definition, NAMES), eval(value, NAMES)
    row = given if isinstance(given, dict) else {}
    rows = Rows(pl.DataFrame([row or {"x": "x"}], schema=dict.fromkeys(row or ["x"], pl.String)), pl.Series([1]))
    values = pl.Series([None], dtype=pl.String) if row else column_of(given)

    result = apply_transformer(transformer, values, rows)

    refused = [refusal.code for refusal in result.refused if refusal.rows[0]]
    if gives.startswith("fails "):
        assert refused == [gives.removeprefix("fails ").strip("`")]
    else:
        expected = eval(gives.strip("`"), NAMES)
        assert (refused, result.values.to_list()) == ([], [expected])
        assert type(result.values[0]) is type(expected)


def test_the_page_has_a_table_for_every_transformer() -> None:
    built_in = {name for name in transformers.__all__ if name.endswith("Transformer")} - {
        "Transformer",
        "ScalarTransformer",
    }
    assert {re.match(r"\w+", case.values[0])[0] for case in cases()} == built_in
