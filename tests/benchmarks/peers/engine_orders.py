"""This project's reader and engine without its targets: the Arrow tables that a peer then loads."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT))

from airflow_provider_ingest.engine.plan import compile_plan  # noqa: E402
from airflow_provider_ingest.formats import plan_file, read_chunk  # noqa: E402
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape, TableShape  # noqa: E402
from airflow_provider_ingest.runs.frames import ROW_NUMBER  # noqa: E402
from tests.benchmarks.orders_importer import orders_importer  # noqa: E402

INTEGER = {"kind": ColumnKind.INTEGER, "sql_type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
AS_IN_THE_TABLE = {"order_id": pl.Int32, "quantity": pl.Int32}  # which ADBC insists on


def _text(name: str, length: int | None = None) -> ColumnShape:
    return ColumnShape(name=name, kind=ColumnKind.TEXT, sql_type="text", length=length)


SHAPE = TableShape(
    name="orders",
    columns=(
        ColumnShape(name="order_id", nullable=False, **INTEGER),
        _text("sku", 12), _text("name", 80), _text("email", 120), _text("category", 20),
        ColumnShape(name="price", kind=ColumnKind.NUMERIC, sql_type="numeric(10,2)", precision=10, scale=2),
        ColumnShape(name="quantity", nullable=False, **INTEGER),
        ColumnShape(name="is_active", kind=ColumnKind.BOOLEAN, sql_type="boolean"),
        ColumnShape(name="ordered_on", kind=ColumnKind.DATE, sql_type="date"),
        _text("country", 2),
        ColumnShape(name="rating", kind=ColumnKind.FLOAT, sql_type="double precision"),
        _text("note"),
    ),
)  # fmt: skip


def good_rows(path: Path, bad: list[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Frames of the good rows; the failures, one line for each bad row, are put on the list."""
    plan = compile_plan(orders_importer(), SHAPE)
    with tempfile.TemporaryDirectory() as scratch:
        planned = plan_file(path, options={}, chunk_rows=1_000_000, scratch=Path(scratch))
        for chunk in planned.chunks:
            for batch in read_chunk(planned.reader, chunk):
                done = plan.process(batch)
                bad.append(done.failures.unique(ROW_NUMBER))
                yield done.records.records.drop(ROW_NUMBER).cast(AS_IN_THE_TABLE)
