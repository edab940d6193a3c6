"""Importers, tables and batches for the engine's tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.engine.plan import Plan, Processed, compile_plan
from airflow_provider_ingest.engine.relations import Lookup
from airflow_provider_ingest.importers.table import ColumnKind, ColumnShape, TableShape
from airflow_provider_ingest.runs.frames import LINE_NUMBER, MALFORMED, ROW_NUMBER, Kind, RowBatch

SMALL, LARGE = -(2**31), 2**31 - 1


def column(name: str, kind: ColumnKind = ColumnKind.TEXT, **more: Any) -> ColumnShape:
    return ColumnShape(name=name, kind=kind, sql_type=more.pop("sql_type", str(kind)), **more)


def table(*columns: ColumnShape | str, **more: Any) -> TableShape:
    made = tuple(column(one) if isinstance(one, str) else one for one in columns)
    return TableShape(name=more.pop("name", "things"), columns=made, **more)


def integer(name: str, **more: Any) -> ColumnShape:
    return column(name, ColumnKind.INTEGER, sql_type="integer", minimum=SMALL, maximum=LARGE, **more)


def money(name: str, **more: Any) -> ColumnShape:
    return column(name, ColumnKind.NUMERIC, sql_type="numeric(10,2)", precision=10, scale=2, **more)


def importer() -> IngestConfig:
    return IngestConfig.for_("things", conn_id="shop").from_source(SourceType.UPLOAD)


def batch(
    columns: Mapping[str, Sequence[str | None]],
    *,
    first: int = 1,
    kinds: Mapping[str, Kind] | None = None,
    malformed: Sequence[Mapping[str, Any]] = (),
) -> RowBatch:
    """A batch of these columns; rows are numbered from ``first``, lines lie one below."""
    height = len(next(iter(columns.values())))
    numbers = list(range(first, first + height))
    frame = pl.DataFrame(
        {ROW_NUMBER: numbers, LINE_NUMBER: [number + 1 for number in numbers], **columns},
        schema={ROW_NUMBER: pl.Int64, LINE_NUMBER: pl.Int64, **dict.fromkeys(columns, pl.String)},
    )
    return RowBatch(frame=frame, malformed=pl.DataFrame(list(malformed), schema=MALFORMED), kinds=kinds or {})


def process(
    config: IngestConfig,
    shape: TableShape,
    given: RowBatch | Mapping[str, Sequence[str | None]],
    *,
    children: Mapping[str, TableShape] | None = None,
    lookup: Lookup | None = None,
) -> Processed:
    return plan(config, shape, children).process(given if isinstance(given, RowBatch) else batch(given), lookup)


def plan(config: IngestConfig, shape: TableShape, children: Mapping[str, TableShape] | None = None) -> Plan:
    return compile_plan(config, shape, children or {})


def records(processed: Processed) -> list[dict[str, Any]]:
    return processed.records.records.to_dicts()


def failures(processed: Processed) -> list[tuple[int, str, str | None]]:
    """Row, code and field of each failure."""
    return list(processed.failures.select(ROW_NUMBER, "code", "field").iter_rows())
