"""The asset event by which other DAGs follow an importer's table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, AssetAlias
from airflow.sdk.execution_time.context import InletEventsAccessors

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_provider_ingest.runs.records import RunRecord


def table_asset(conn_id: str, table: str) -> Asset:
    """The asset of a target table: schedule a DAG on it to run whenever an ingest run has changed the table.

    >>> table_asset("shop", "public.products").uri
    'ingest://shop/public.products'
    """
    return Asset(name=f"{conn_id}/{table}", uri=f"ingest://{conn_id}/{table}", group="ingest")


def importer_alias(slug: str) -> AssetAlias:
    """The outlet of the importer's DAG. An alias, since a dry run or an empty file must not cause an event."""
    return AssetAlias(f"ingest_{slug}")


def emit_asset_event(context: Context, run: RunRecord, conn_id: str, table: str) -> None:
    """Say that a run has changed the table, with its counts."""
    extra: dict[str, Any] = {"ingest_run_id": run.id, "importer": run.importer, **run.progress.to_dict()}
    context["outlet_events"][importer_alias(run.importer)].add(table_asset(conn_id, table), extra=extra)


def was_emitted(run: RunRecord) -> bool:
    """Whether the run's event is there already; Airflow records it together with the success of the task."""
    alias = importer_alias(run.importer)
    events = InletEventsAccessors([alias])[alias].after(run.started_at.isoformat())
    return any((event.extra or {}).get("ingest_run_id") == run.id for event in events)
