"""Which table receives the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """The target as declared: an SQLAlchemy mapped class, a ``Table`` or a ``"schema.table"`` name, and the Airflow
    connection of its database.

    ``model`` is kept as given; only the target adapters know what to do with it.
    """

    model: Any
    conn_id: str

    @property
    def label(self) -> str:
        """The table's name for people: ``schema.table``."""
        if isinstance(self.model, str):
            return self.model
        table = getattr(self.model, "__table__", self.model)
        return str(getattr(table, "fullname", table))
