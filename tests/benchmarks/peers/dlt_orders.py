"""dlt: rows through its normalizer, and Arrow tables of our own past it; into the table that is there already."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import dlt
import polars as pl
from dlt.destinations import postgres
from polars_orders import good_rows
from rules import COLUMNS, BadRowError, convert

BATCH = 10_000
TYPES: dict[str, Any] = {
    "order_id": {"data_type": "bigint", "precision": 32, "primary_key": True, "nullable": False},
    "sku": {"data_type": "text", "precision": 12, "nullable": False},
    "name": {"data_type": "text", "precision": 80, "nullable": False},
    "email": {"data_type": "text", "precision": 120, "nullable": False},
    "category": {"data_type": "text", "precision": 20, "nullable": False},
    "price": {"data_type": "decimal", "precision": 10, "scale": 2, "nullable": False},
    "quantity": {"data_type": "bigint", "precision": 32, "nullable": False},
    "is_active": {"data_type": "bool", "nullable": False},
    "ordered_on": {"data_type": "date", "nullable": False},
    "country": {"data_type": "text", "precision": 2, "nullable": False},
    "rating": {"data_type": "double"},
    "note": {"data_type": "text"},
}

# What dlt's guide to performance advises: large buffers, no compression of files that are read once, no telemetry.
os.environ |= {
    "DATA_WRITER__BUFFER_MAX_ITEMS": "50000",
    "NORMALIZE__DATA_WRITER__DISABLE_COMPRESSION": "true",
    "RUNTIME__DLTHUB_TELEMETRY": "false",
    "RUNTIME__LOG_LEVEL": "CRITICAL",
}


def python_rows(path: Path, bad: list[Any]) -> Iterator[list[dict[str, Any]]]:
    """Lists of good rows: quicker in dlt than one row at a time."""

    def records(reader: Any) -> Iterator[dict[str, Any]]:
        for row in reader:
            try:
                yield dict(zip(COLUMNS, convert(row), strict=True))
            except BadRowError as error:
                bad.append((reader.line_num, row, error.errors))

    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        next(reader)
        rows = records(reader)
        while batch := list(islice(rows, BATCH)):
            yield batch


def run(dsn: str, rows: Iterator[Any], loader: str) -> None:
    """One pipeline with a folder of its own."""
    with_host = dsn.replace("@/", "@localhost/", 1)  # dlt insists on one; libpq takes the socket named at the end
    with tempfile.TemporaryDirectory() as folder:
        pipeline = dlt.pipeline(
            pipeline_name=f"orders_{uuid4().hex[:8]}",
            pipelines_dir=folder,
            destination=postgres(credentials=with_host),
            dataset_name="public",
        )
        resource = dlt.resource(rows, name="orders", columns=TYPES, write_disposition="append", max_table_nesting=0)
        pipeline.run(resource, loader_file_format=loader).raise_on_failed_jobs()


def rows_insert(dsn: str, path: Path) -> int:
    """Rows, and INSERT statements: what dlt does unless told otherwise."""
    bad: list[Any] = []
    run(dsn, python_rows(path, bad), "insert_values")
    return len(bad)


def rows_csv(dsn: str, path: Path) -> int:
    """Rows, and COPY of CSV files."""
    bad: list[Any] = []
    run(dsn, python_rows(path, bad), "csv")
    return len(bad)


def load(dsn: str, path: Path, frames: Callable[[Path, list[pl.DataFrame]], Iterator[pl.DataFrame]], how: str) -> int:
    """Arrow tables, which dlt does not look into."""
    bad: list[pl.DataFrame] = []
    run(dsn, (frame.to_arrow(compat_level=pl.CompatLevel.oldest()) for frame in frames(path, bad)), how)
    return sum(frame.height for frame in bad)


def polars_csv(dsn: str, path: Path) -> int:
    """Tables of a program of one's own, and COPY of CSV files."""
    return load(dsn, path, good_rows, "csv")


def polars_adbc(dsn: str, path: Path) -> int:
    """Tables of a program of one's own, and Parquet files through ADBC."""
    return load(dsn, path, good_rows, "parquet")


def engine_adbc(dsn: str, path: Path) -> int:
    """Tables that this project's engine has read, transformed and checked, and Parquet files through ADBC."""
    from engine_orders import good_rows as engine_rows

    return load(dsn, path, engine_rows, "parquet")
