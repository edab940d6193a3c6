"""The engine alone, without reading and writing: a million rows of twelve columns, eight checks, six steps.

``python -m tests.benchmarks.bench_engine [rows] [rounds]``. Each line shows CPU seconds (all threads; the median of the
rounds, in each of which all are measured one after the other) and the ratio to the plain engine run, of the plain run
that to a million bare calls of ``str.upper``; a ratio that grows is a step backwards on any machine. For mappings
through Python also what they add to a row beyond the bare calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl

from airflow_provider_ingest import EventHandler, IngestConfig, SourceType
from airflow_provider_ingest.engine.failures import error_counts
from airflow_provider_ingest.engine.handlers import RowHandlers
from airflow_provider_ingest.engine.plan import compile_plan
from airflow_provider_ingest.engine.row_log import failed_rows
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape, TableShape
from airflow_provider_ingest.runs.events import IngestRun
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
from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import Results, alternate, sizes, summary, timed, times

BATCH = 50_000
PLAIN = "built-ins alone"
BARE, ALONE, CALLED = "the bare calls of str.upper", "a mapping alone", "a mapping through str.upper"
WITH_ROW = "a mapping through a callable of value and row"
BARE_FEW, FEW_ALONE = "the bare calls on a column of three values", "a mapping of three values alone"
FEW_CALLED = "a mapping of three values through str.upper"
PYTHON = {CALLED: (ALONE, BARE), WITH_ROW: (ALONE, BARE), FEW_CALLED: (FEW_ALONE, BARE_FEW)}
"""By mapping through Python: the same without Python, and the bare calls."""
TINY = (ALONE, FEW_ALONE, FEW_CALLED)
"""Too little work for a ratio that says anything."""


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


class Beginning(EventHandler):
    """A handler that wants no rows."""

    def before_import(self, run: IngestRun) -> None:
        """Is called once a run, so not here."""


class EachRow(EventHandler):
    """A handler that wants every row."""

    def on_row_processed(self, run: IngestRun, row: dict[str, Any], record: dict[str, Any]) -> None:
        """Costs its call."""


RUN = IngestRun(id=1, importer="people", status="processing", is_dry_run=False, dag_id="d", dag_run_id="r")


def upper_with_row(value: str, row: dict[str, Any]) -> str:
    """The same call as ``str.upper``, with the row."""
    return value.upper()


def works(rows: int) -> dict[str, Callable[[], Any]]:
    """What is measured, by name."""
    good, bad = batches(rows), batches(rows, email="no address {}")
    bare = [value for batch in good for value in batch.frame["note"]]
    few = [value for batch in good for value in batch.frame["category"]]

    def run(made: IngestConfig, shape: TableShape = SHAPE) -> Callable[[], None]:
        plan = compile_plan(made, shape)

        def work() -> None:
            for batch in good:
                plan.process(batch)

        return work

    def with_handler(*handlers: EventHandler) -> Callable[[], None]:
        plan = compile_plan(config(), SHAPE)

        def work() -> None:
            with RowHandlers(handlers, RUN) as told:
                for batch in good:
                    processed = plan.process(batch)
                    told.set_aside(batch, processed.records, processed.failures)
                told.deliver()

        return work

    def logged() -> None:
        plan = compile_plan(config(), SHAPE)
        for batch in bad:
            processed = plan.process(batch)
            failed_rows(batch, processed.failures, processed.trace)
            error_counts(processed.failures)

    def one(name: str, step: Any = None) -> Callable[[], None]:
        made = IngestConfig.for_("people", conn_id="bench")
        made = made.map(name, name) if step is None else made.map_and_transform(name, name, step)
        return run(made, TableShape(name="people", columns=(text(name),)))

    return {
        PLAIN: run(config()),
        "tracing on, nothing logged": run(config().with_tracing()),
        "a handler that wants no rows": with_handler(Beginning()),
        "a handler that wants every row": with_handler(EachRow()),
        "every row failed, with row log and summary": logged,
        BARE: lambda: [str.upper(value) for value in bare],
        ALONE: one("note"),
        CALLED: one("note", str.upper),
        WITH_ROW: one("note", upper_with_row),
        BARE_FEW: lambda: [str.upper(value) for value in few],
        FEW_ALONE: one("category"),
        FEW_CALLED: one("category", str.upper),
    }


def figures_of(results: Results) -> tuple[Figures, Figures]:
    """Ours, CPU time compared, and the bare calls."""
    bare = {name: summary(results[name]) for name in (BARE, BARE_FEW)}
    ours = {name: summary(runs) for name, runs in results.items() if name not in bare}
    for name, one in ours.items():
        if name not in TINY:
            one["ratio"] = times(results[name], results[BARE if name == PLAIN else PLAIN], "cpu")
        if name in PYTHON:
            alone, calls = PYTHON[name]
            one["added"] = 1e6 * (one["cpu"] - ours[alone]["cpu"] - bare[calls]["cpu"]) / one["rows"]
    return ours, bare


def table(ours: Figures, bare: Figures) -> str:
    """As Markdown."""
    lines = ["| | CPU µs a row | × built-ins alone | µs a row beyond the bare calls |", "|---|---|---|---|"]
    for name, one in {**ours, **bare}.items():
        ratio = "1.00" if name == PLAIN else f"{one['ratio']:.2f}" if "ratio" in one else ""
        added = f"{one['added']:+.2f}" if "added" in one else ""
        lines.append(f"| {name} | {1e6 * one['cpu'] / one['rows']:.2f} | {ratio} | {added} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    rows, rounds = sizes()
    works_by_name = {name: partial(timed, work, rows) for name, work in works(rows).items()}
    ours, bare = figures_of(alternate(works_by_name, rounds))
    print(table(ours, bare))
    print(f"kept in {record('engine', {'rows': rows, 'rounds': rounds}, ours, bare)}")


if __name__ == "__main__":
    main()
