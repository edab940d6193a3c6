"""What it costs to find rows whose keys stand in several chunks, beside planning the file alone.

``python -m tests.benchmarks.bench_keys [rows] [rounds]``. ``assume_unique_keys()`` spares the second part.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.engine.key_order import contested_rows, store_keys
from airflow_provider_ingest.engine.plan import compile_plan
from airflow_provider_ingest.formats import plan_file, read_chunk
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape, TableShape
from airflow_provider_ingest.runs.frames import ROW_NUMBER
from tests.benchmarks.dataset import FOLDER, make_dataset

CHUNKS = 4
KEY = ColumnShape(name="order_id", kind=ColumnKind.INTEGER, sql_type="integer", minimum=-(2**31), maximum=2**31 - 1)


def main(rows: int = 1_000_000, rounds: int = 5) -> None:
    """Print the medians of planning alone and of finding shared keys."""
    data = make_dataset(FOLDER, rows)
    config = IngestConfig.for_("orders", conn_id="x").from_source(SourceType.UPLOAD).map("order", "order_id")
    compiled = compile_plan(config.keyed_by("order_id"), TableShape(name="orders", columns=(KEY,)))
    planning, finding = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            plan = plan_file(data.raw, options={}, chunk_rows=-(-rows // CHUNKS), scratch=Path(folder))
            planned = time.perf_counter()
            stored = []
            for chunk in plan.chunks:
                batches = read_chunk(plan.reader, chunk)
                keys = (compiled.process(batch).records.records.select(ROW_NUMBER, "order_id") for batch in batches)
                stored.append(store_keys(chunk.index, keys, Path(folder)))
            assert contested_rows(stored) == {}, "every key of the file is there once"
            planning.append(planned - started)
            finding.append(time.perf_counter() - planned)
    print(f"{rows:,} rows in {CHUNKS} chunks, Polars {pl.__version__}, medians of {rounds}")
    print(f"planning alone            {statistics.median(planning):.2f} s")
    print(f"finding shared keys       {statistics.median(finding):.2f} s")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
