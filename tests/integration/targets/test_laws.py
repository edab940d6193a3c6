"""Wherever the batches are cut, the table ends as if each row had been worked by itself, in order."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.importers.mapping import DuplicateStrategy
from airflow_provider_ingest.runs.frames import ROW_NUMBER
from airflow_provider_ingest.targets import open_target
from tests.contract.target_fixtures import batch, into, open_generic, write

TABLE = """CREATE TABLE items (sku TEXT {unique}, stock INTEGER DEFAULT 7 CHECK (stock >= 0), barcode TEXT UNIQUE)"""
ROWS = st.lists(
    st.tuples(
        st.sampled_from("ABC"),
        st.integers(-1, 3),
        st.none() | st.sampled_from("xyz"),
        st.booleans(),
    ),
    max_size=12,
)
STRATEGIES = st.sampled_from([None, DuplicateStrategy.UPDATE, DuplicateStrategy.SKIP, DuplicateStrategy.FAIL])


def by_hand(rows: list[tuple[Any, ...]], strategy: DuplicateStrategy | None, unique: bool) -> tuple[Any, ...]:
    """The rows worked one by one: the table, the ends, the refused row numbers."""
    table: list[dict[str, Any]] = []
    ends, refused = [], []
    for number, (sku, stock, barcode, is_set) in enumerate(rows, 1):
        existing = next((one for one in table if one["sku"] == sku), None) if strategy else None
        if existing is not None and strategy is DuplicateStrategy.SKIP:
            ends.append((number, "skipped"))
            continue
        new = {"sku": sku, "stock": existing["stock"] if existing else 7, "barcode": barcode}
        if is_set:
            new["stock"] = stock
        others = [one for one in table if one is not existing]
        clash = any(barcode is not None and one["barcode"] == barcode for one in others)
        clash |= unique and any(one["sku"] == sku for one in others)
        if new["stock"] < 0 or clash or (existing is not None and strategy is DuplicateStrategy.FAIL):
            refused.append(number)
        elif existing is not None:
            existing.update(new)
            ends.append((number, "updated"))
        else:
            table.append(new)
            ends.append((number, "created"))
    return sorted((one["sku"], one["stock"], one["barcode"] or "") for one in table), ends, refused


@settings(max_examples=140, deadline=None)
@given(ROWS, STRATEGIES, st.booleans(), st.booleans(), st.sampled_from([open_target, open_generic]), st.booleans())
def test_a_chunk_ends_as_its_rows_worked_one_by_one(
    rows: list[tuple[Any, ...]],
    strategy: DuplicateStrategy | None,
    unique: bool,
    conditional: bool,
    opened: Any,
    ahead: bool,
) -> None:
    rows = [(*row[:3], row[3] or not conditional) for row in rows]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "law.db"
        connection = sqlite3.connect(path)
        connection.execute(TABLE.format(unique="UNIQUE" if unique else ""))
        connection.commit()
        config = into("items", "sku", "stock", "barcode")
        config = config.keyed_by("sku", on_duplicate=strategy) if strategy else config
        target = opened(f"sqlite:///{path}", config)
        records = [{"sku": sku, "stock": stock, "barcode": barcode} for sku, stock, barcode, _ in rows]
        made = batch(
            records,
            schema={"sku": pl.String, "stock": pl.Int64, "barcode": pl.String},
            conditional={"stock": [row[3] for row in rows]} if conditional else None,
        )
        result = write(target, made, want_ends=True, ahead=ahead)
        found = connection.execute("SELECT sku, stock, coalesce(barcode, '') FROM items ORDER BY 1, 2, 3").fetchall()
        connection.close()
    table, ends, refused = by_hand(rows, strategy, unique)
    assert found == table, (rows, strategy, unique, conditional)
    assert result.refused.get_column(ROW_NUMBER).to_list() == refused, (rows, strategy, unique, conditional)
    assert result.ends is not None
    assert result.ends.rows() == ends
    assert result.created + result.updated + result.skipped + result.refused.height == len(rows)
