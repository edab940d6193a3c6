"""Bulk data ingest for Apache Airflow.

The public names are imported on first use, so that naming the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_ingest.bootstrap import start_run
    from airflow_provider_ingest.exceptions import IngestError
    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.importers.mapping import ConditionalMapping, DuplicateStrategy
    from airflow_provider_ingest.importers.nested import NestedConfig
    from airflow_provider_ingest.importers.schema import SchemaField
    from airflow_provider_ingest.importers.source import Source, SourceType
    from airflow_provider_ingest.operators.dag_factory import ingest_dag
    from airflow_provider_ingest.operators.prune import ingest_prune_dag
    from airflow_provider_ingest.runs.events import EventHandler, ImportStats, IngestRun
    from airflow_provider_ingest.runs.failure import RowFailure
    from airflow_provider_ingest.runs.status import RunStatus

__version__ = "0.1.0"

__all__ = [
    "ConditionalMapping",
    "DuplicateStrategy",
    "EventHandler",
    "ImportStats",
    "IngestConfig",
    "IngestError",
    "IngestRun",
    "NestedConfig",
    "RowFailure",
    "RunStatus",
    "SchemaField",
    "Source",
    "SourceType",
    "ingest_dag",
    "ingest_prune_dag",
    "start_run",
]

_MODULES = {
    "ConditionalMapping": "importers.mapping",
    "DuplicateStrategy": "importers.mapping",
    "EventHandler": "runs.events",
    "ImportStats": "runs.events",
    "IngestConfig": "importers.config",
    "IngestError": "exceptions",
    "IngestRun": "runs.events",
    "NestedConfig": "importers.nested",
    "RowFailure": "runs.failure",
    "RunStatus": "runs.status",
    "SchemaField": "importers.schema",
    "Source": "importers.source",
    "SourceType": "importers.source",
    "ingest_dag": "operators.dag_factory",
    "ingest_prune_dag": "operators.prune",
    "start_run": "bootstrap",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
