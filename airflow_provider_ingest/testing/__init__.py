"""What tests of importers, services and operators are built from.

``check_importer`` is for the tests of your own importers; it needs neither Airflow nor a database.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_ingest.testing.importer_check import ImporterCheck, check_importer
    from airflow_provider_ingest.testing.memory_store import MemoryStore

__all__ = ["ImporterCheck", "MemoryStore", "check_importer"]

_MODULES = {"ImporterCheck": "importer_check", "MemoryStore": "memory_store", "check_importer": "importer_check"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
