"""Working distinct values gives what working every row gives, and each value is worked once."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.engine import distinct
from airflow_provider_ingest.engine.distinct import Memory, distinct_of
from airflow_provider_ingest.transformers import ConcatTransformer, TrimTransformer
from airflow_provider_ingest.validators import RequiredValidator
from tests.unit.engine.test_laws import SHAPE, STEPS, made, result, rows
from tests.unit.engine.worlds import batch, column, importer, plan, table

TIMES = 12
"""How often each row comes in a batch, so that values come back."""


@settings(max_examples=60)
@given(st.lists(rows, min_size=1, max_size=3))
def test_distinct_values_and_what_is_remembered_of_them_change_no_result(batches: Any) -> None:
    compiled, memory, first = plan(STEPS, SHAPE), Memory(), 1
    for given_rows in batches:
        repeated = made(given_rows * TIMES, first)
        with patch.object(distinct, "FEWEST_ROWS", 20):
            by_value = compiled.process(repeated, memory=memory)
        row_by_row = compiled.process(repeated)
        assert result(by_value) == result(row_by_row)
        assert by_value.records.records.schema == row_by_row.records.records.schema
        first += len(given_rows) * TIMES


def test_a_function_of_the_value_is_called_once_for_each_value_of_a_chunk() -> None:
    seen: list[str] = []

    def noted(value: str) -> str:
        seen.append(value)
        if value == "c":
            raise ValueError("no c")
        return value.upper()

    compiled = plan(importer().map_and_transform("name", "name", noted), table(column("name")))
    memory = Memory()
    for first, letters in ((1, "abc"), (3001, "cba"), (6001, "acd"), (9001, "bbb")):
        processed = compiled.process(batch({"name": list(letters) * 1000}, first=first), memory=memory)
        assert processed.failures.height == letters.count("c") * 1000
        wanted = {letter.upper() for letter in letters} - {"C"}
        assert set(processed.records.records["name"]) == wanted
    assert sorted(seen[:3]) == ["a", "b", "c"]
    assert sorted(seen[3:]) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("values", "is_worth_it"),
    [
        (["a", "b"] * 600, True),
        (["a", None] * 600, True),
        ([None] * 1200, True),
        (["", "a"] * 600, True),
        ([str(number) for number in range(1200)], False),
        (["a"] * 1000 + [str(number) for number in range(1000)], False),
        (["a"] * 10, False),
    ],
)
def test_a_column_is_taken_apart_where_its_values_come_back(values: list[str | None], is_worth_it: bool) -> None:
    taken = distinct_of(pl.Series(values, dtype=pl.String))
    assert (taken is not None) is is_worth_it
    if taken is not None:
        assert taken.spread(taken.values).to_list() == values
        assert taken.values.is_unique().all()


def test_a_subclass_with_steps_of_its_own_is_not_taken_for_elementwise() -> None:
    class Numbered(TrimTransformer):
        def transform(self, values: pl.Series, rows: Any) -> pl.Series:
            return rows.numbers.cast(pl.String)

    class First(RequiredValidator):
        def passes(self, values: pl.Series, rows: Any) -> pl.Series:
            return rows.numbers == 1

    class Quiet(TrimTransformer):
        pass

    assert not any(step.is_elementwise for step in (Numbered, First, ConcatTransformer))
    assert Quiet.is_elementwise
    assert Quiet.cuts_only
    assert not Numbered.cuts_only
