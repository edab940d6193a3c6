"""Defaults that a mapped class gives in Python: filled in where a new record leaves the column out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.statements import DEFAULT_PREFIX


def with_constants(plan: TablePlan, frame: pl.DataFrame, conditional: Sequence[str]) -> pl.DataFrame:
    """The frame with the class's defaults added: under the column's name where it did not come, under
    ``_default:`` where it is set in some rows only.
    """
    added = []
    for name, default in plan.constants.items():
        if name in conditional:
            added.append(_series(DEFAULT_PREFIX + name, default, frame.height))
        elif name not in frame.columns:
            added.append(_series(name, default, frame.height))
    return frame.with_columns(added) if added else frame


def _series(name: str, default: Any, height: int) -> pl.Series:
    """A function is called once for each row, as the mapped class would."""
    if not callable(default):
        return pl.repeat(default, height, eager=True).alias(name)
    values = [default() for _ in range(height)]
    simple = bool(values) and isinstance(values[0], (bool, int, float, str, bytes))
    return pl.Series(name, values) if simple or not values else _by_type(name, values)


def _by_type(name: str, values: list[Any]) -> pl.Series:
    """Values of other types: those that columns know stay, the rest (UUIDs, …) becomes text."""
    series = pl.Series(name, values, strict=False) if hasattr(values[0], "isoformat") else pl.Series(name, [])
    return series if len(series) == len(values) else pl.Series(name, [str(value) for value in values])
