"""Runs the tables of edge cases in ``docs/reference/validators.md``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from airflow_provider_ingest import validators
from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.validators.scalar import apply_validator

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "validators.md"
NAMES = {name: getattr(validators, name) for name in validators.__all__} | {"Decimal": Decimal, "date": date}
LINE = re.compile(r"^\| `(?P<definition>.+?)` \| `(?P<value>.+?)` \| (?P<outcome>.+?) \|$")


def cases() -> Iterator[Any]:
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if match := LINE.match(line):
            label = f"line {number}: {match['definition']}"
            yield pytest.param(match["definition"], match["value"], match["outcome"], id=label)


@pytest.mark.parametrize(("definition", "value", "outcome"), list(cases()))
def test_the_page_says_what_a_validator_does(definition: str, value: str, outcome: str) -> None:
    validator, given = eval(definition, NAMES), eval(value, NAMES)
    values = pl.Series([given], dtype=pl.String if given is None else None)

    refusals = apply_validator(validator, values, Rows(pl.DataFrame({"x": ["x"]}), pl.Series([1])))

    assert [refusal.code for refusal in refusals] == ([] if outcome == "passes" else [outcome.split("`")[1]])
    assert all(refusal.rows.to_list() == [True] for refusal in refusals)


def test_the_page_has_a_table_for_every_validator() -> None:
    built_in = {name for name in validators.__all__ if name.endswith("Validator")} - {"Validator", "ScalarValidator"}
    assert {re.match(r"\w+", case.values[0])[0] for case in cases()} == built_in
