"""Which rows of a file must be worked in order because their key stands in several chunks."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_ingest.engine import key_order
from airflow_provider_ingest.engine.key_order import contested_rows, store_keys, without
from airflow_provider_ingest.runs.frames import ROW_NUMBER

KEYS = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d", "Ä", ""]), st.text(max_size=3))


def keys(first: int, values: list[str | None]) -> pl.DataFrame:
    numbers = list(range(first, first + len(values)))
    return pl.DataFrame({ROW_NUMBER: numbers, "sku": values}, schema={ROW_NUMBER: pl.Int64, "sku": pl.String})


@given(chunks=st.lists(st.lists(KEYS, max_size=12), max_size=6), partition=st.integers(1, 50))
def test_contested_rows_are_exactly_those_whose_key_stands_in_another_chunk_too(tmp_path_factory, chunks, partition):
    folder = tmp_path_factory.mktemp("keys")
    seen, stored, first, rows = defaultdict(set), [], 1, {}
    for index, values in enumerate(chunks):
        stored.append(store_keys(index, [keys(first, values)], folder))
        for number, value in enumerate(values, first):
            rows[number] = (index, value)
            if value is not None:
                seen[value].add(index)
        first += len(values)
    expected = defaultdict(list)
    for number, (index, value) in rows.items():
        if value is not None and len(seen[value]) > 1:
            expected[index].append(number)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_order, "PARTITION", partition)
        found = contested_rows(stored)
    assert {index: list(numbers) for index, numbers in found.items()} == dict(expected)


def test_contested_rows_are_taken_out_of_their_chunk_and_no_other(tmp_path):
    first, second = keys(1, ["a", "b"]), keys(3, ["b", "c"])
    found = contested_rows([store_keys(0, [first], tmp_path), store_keys(1, [second], tmp_path)])
    assert without(first, found, 0)["sku"].to_list() == ["a"]
    assert without(second, found, 1)["sku"].to_list() == ["c"]
    assert without(second, found, 2)["sku"].to_list() == ["b", "c"]
