"""Chunks are large, enough for the slots, never too many, smaller where Python sees each row."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_ingest import EventHandler, IngestConfig
from airflow_provider_ingest.operators.sizing import (
    MOST_CHUNKS,
    SMALLEST,
    TOO_SMALL,
    chunk_size,
    row_wise_python,
    slots_of,
)

ROWS, SLOTS = st.integers(0, 10**11), st.integers(1, 500)


class Watching(EventHandler):
    def on_row_processed(self, run, row, record):
        pass


def keep(value, row):
    return value


def importer() -> IngestConfig:
    return IngestConfig.for_("products", conn_id="shop").map("sku", "sku")


@given(ROWS, SLOTS, st.none() | st.integers(1, 10**6), st.booleans())
def test_there_are_never_more_chunks_than_airflow_maps(rows, slots, declared, row_wise):
    size = chunk_size(declared, 1_000_000, rows=rows, slots=slots, row_wise="it" if row_wise else None)
    assert size.rows >= 1
    assert -(-rows // size.rows) <= MOST_CHUNKS


@given(ROWS, SLOTS)
def test_an_automatic_chunk_is_large_and_none_is_wasted_on_a_slot_that_is_free(rows, slots):
    size = chunk_size(None, 1_000_000, rows=rows, slots=slots)
    assert size.rows >= SMALLEST
    chunks = -(-rows // size.rows)
    assert chunks >= min(slots, rows // SMALLEST) or size.rows == -(-rows // MOST_CHUNKS)


def test_chunks_on_one_machine_have_no_more_slots_than_cores(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert [slots_of(32, "LocalExecutor", limit) for limit in (None, 8, 2)] == [3, 3, 2]
    assert [slots_of(32, "CeleryExecutor", limit) for limit in (None, 8, 64)] == [32, 8, 32]


@pytest.mark.parametrize(
    ("declared", "rows", "row_wise", "rule"),
    [
        (None, 90_000, None, TOO_SMALL),
        (None, 2_000_000, None, "one for each of 4 slots"),
        (None, 9_000_000, None, "[ingest] chunk_size"),
        (None, 90_000, "f", f"{TOO_SMALL}; less since f runs for each row"),
        (7, 90, None, "chunk_size() of the importer"),
        (7, 70_000, None, "at most 1,000 chunks in a run"),
    ],
)
def test_the_rule_is_told(declared, rows, row_wise, rule):
    assert chunk_size(declared, 1_000_000, rows=rows, slots=4, row_wise=row_wise).rule == rule


@pytest.mark.parametrize(
    ("config", "what"),
    [
        (importer(), None),
        (importer().map_and_transform("name", "name", str.upper), None),
        (importer().map_when("a", "a", pl.col("b") == "x"), None),
        (importer().map_when("a", "a", lambda row: row["b"] == "x"), "the condition of a"),
        (importer().map_and_transform("a", "a", keep), "keep"),
        (importer().with_event_handler(Watching()), "on_row_processed"),
        (importer().with_event_handler(EventHandler()), None),
    ],
)
def test_python_that_sees_each_row_is_found(config, what):
    assert row_wise_python(config) == what
