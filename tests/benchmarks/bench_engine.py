"""The engine alone, without reading and writing: a million rows of twelve columns, eight checks, six steps.

Run it by ``make bench`` or ``python tests/benchmarks/bench_engine.py [rows]``. Each line shows seconds and the ratio
to the plain engine run of the same process; a ratio that grows is a step backwards on any machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.engine.failures import error_counts
from airflow_provider_ingest.engine.plan import compile_plan
from airflow_provider_ingest.engine.row_log import failed_rows
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape, TableShape
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, RowBatch
from airflow_provider_ingest.transformers import (
    BooleanTransformer,
    DateTransformer,
    DefaultValueTransformer,
    MapTransformer,
    NumericTransformer,
    TrimTransformer,
)
from airflow_provider_ingest.validators import (
    DateValidator,
    EmailValidator,
    InArrayValidator,
    RangeValidator,
    RegexValidator,
    RequiredValidator,
)

BATCH = 50_000


def text(name: str, length: int | None = None) -> ColumnShape:
    return ColumnShape(name=name, kind=ColumnKind.TEXT, sql_type="text", length=length)


SHAPE = TableShape(
    name="people",
    columns=(
        ColumnShape(name="id", kind=ColumnKind.INTEGER, sql_type="bigint", nullable=False),
        text("sku", 20),
        text("name", 100),
        text("email", 200),
        ColumnShape(name="price", kind=ColumnKind.NUMERIC, sql_type="numeric(10,2)", precision=10, scale=2),
        ColumnShape(name="stock", kind=ColumnKind.INTEGER, sql_type="integer", minimum=-(2**31), maximum=2**31 - 1),
        text("category", 20),
        ColumnShape(name="active", kind=ColumnKind.BOOLEAN, sql_type="boolean"),
        ColumnShape(name="released", kind=ColumnKind.DATE, sql_type="date"),
        ColumnShape(name="seen_at", kind=ColumnKind.TIMESTAMP, sql_type="timestamp"),
        text("country", 2),
        text("note"),
    ),
)


def config() -> IngestConfig:
    return (
        IngestConfig.for_("people", conn_id="bench")
        .from_source(SourceType.UPLOAD)
        .map_and_validate("id", "id", [RequiredValidator])
        .map_and_validate("sku", "sku", RegexValidator(r"^[A-Z]{2}-\d{6}$", "no SKU"))
        .map_transform_and_validate("name", "name", [TrimTransformer], [RequiredValidator])
        .map_and_validate("email", "email", EmailValidator)
        .map_transform_and_validate("price", "price", [NumericTransformer(2)], [RangeValidator(0, 10000)])
        .map_and_transform("stock", "stock", DefaultValueTransformer(0))
        .map_and_validate("category", "category", InArrayValidator(["Books", "Toys", "Garden"]))
        .map_and_transform("active", "active", BooleanTransformer())
        .map_transform_and_validate(
            "released", "released", [DateTransformer("%d.%m.%Y", "%Y-%m-%d")], [DateValidator("%Y-%m-%d")]
        )
        .map("seen_at", "seen_at")
        .map_transform_and_validate(
            "country", "country", [MapTransformer({"Germany": "DE", "France": "FR"})], [RequiredValidator]
        )
        .map("note", "note")
    )


def batches(rows: int, *, email: str = "user{}@example.com") -> list[RowBatch]:
    return [RowBatch(frame=_frame(start, min(BATCH, rows - start), email)) for start in range(0, rows, BATCH)]


def _frame(start: int, height: int, email: str) -> pl.DataFrame:
    number = pl.int_range(start + 1, start + height + 1)
    digits = number.cast(pl.String)
    before, _, after = email.partition("{}")
    return pl.select(
        number.alias(ROW_NUMBER),
        (number + 1).alias(LINE_NUMBER),
        digits.alias("id"),
        ("AB-" + (number % 1_000_000).cast(pl.String).str.zfill(6)).alias("sku"),
        ("  Product " + digits + " ").alias("name"),
        (before + digits + after).alias("email"),
        ((number % 100_000) / 100).round(2).cast(pl.String).alias("price"),
        (number % 500).cast(pl.String).alias("stock"),
        pl.Series(["Books", "Toys", "Garden"]).gather(number % 3).alias("category"),
        pl.Series(["yes", "No"]).gather(number % 2).alias("active"),
        ((number % 28 + 1).cast(pl.String).str.zfill(2) + ".03.2024").alias("released"),
        ("2024-03-01 10:00:" + (number % 60).cast(pl.String).str.zfill(2)).alias("seen_at"),
        pl.Series(["Germany", "France"]).gather(number % 2).alias("country"),
        ("note " + digits).alias("note"),
    )


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measures(rows: int) -> Iterator[tuple[str, float]]:
    good, bad = batches(rows), batches(rows, email="no address {}")

    def run(made: IngestConfig, given: list[RowBatch]) -> Callable[[], None]:
        plan = compile_plan(made, SHAPE)

        def work() -> None:
            for batch in given:
                plan.process(batch)

        return work

    def run_and_log() -> None:
        plan = compile_plan(config(), SHAPE)
        for batch in bad:
            processed = plan.process(batch)
            failed_rows(batch, processed.failures, processed.trace)
            error_counts(processed.failures)

    yield "built-ins alone", timed(run(config(), good))
    yield "with tracing, nothing logged", timed(run(config().with_tracing(), good))
    yield "every row failed, with row log and summary", timed(run_and_log)
    bare = [value for batch in good for value in batch.frame["note"]]
    yield "the bare calls of str.upper", timed(lambda: [str.upper(value) for value in bare])
    callable_config = IngestConfig.for_("people", conn_id="bench").map_and_transform("note", "note", str.upper)
    plain_config = IngestConfig.for_("people", conn_id="bench").map("note", "note")
    shape = TableShape(name="people", columns=(text("note"),))

    def only(made: IngestConfig) -> float:
        plan = compile_plan(made, shape)
        return timed(lambda: [plan.process(batch) for batch in good])

    yield "a mapping through str.upper", only(callable_config)
    yield "a mapping alone", only(plain_config)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    first = None
    for name, seconds in measures(rows):
        first = first or seconds
        print(f"{name:45} {seconds:7.3f} s {seconds / first:6.2f} x  {rows / seconds:12,.0f} rows/s")


if __name__ == "__main__":
    main()
