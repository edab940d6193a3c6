"""What can be known of a target's mapped class or table without a database and without importing SQLAlchemy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.importers.suggestions import did_you_mean, listed
from airflow_provider_ingest.importers.target import TargetSpec


def model_columns(model: Any) -> Mapping[str, Any] | None:
    """Attribute name to column object, in order; ``None`` where only the database knows (a table's name).

    Works on SQLAlchemy mapped classes and tables by their shape: ``__mapper__.columns`` or ``columns``.
    """
    holder = getattr(model, "__mapper__", None) or getattr(model, "__table__", None)
    if holder is None and not isinstance(model, str):
        holder = model
    columns = getattr(holder, "columns", None)
    return dict(columns.items()) if columns is not None and hasattr(columns, "items") else None


def check_model(model: Any, where: str) -> None:
    """Refuse what is neither a mapped class nor a table nor a table's name."""
    if isinstance(model, str):
        if not model.strip() or model != model.strip() or any(not part for part in model.split(".")):
            raise ConfigError(f'{where}: "{model}" is no table name; give "table" or "schema.table".')
    elif not model_columns(model):
        raise ConfigError(
            f"{where}: {model!r} is no target; give an SQLAlchemy mapped class, a Table or a name like "
            '"public.products".'
        )


def column_name(target: TargetSpec | None, attribute: str, where: str) -> str:
    """The column behind an attribute of the model; raises :class:`ConfigError` for an unknown one."""
    columns = model_columns(target.model) if target is not None else None
    if target is None or columns is None:
        return attribute
    if attribute in columns:
        return str(columns[attribute].name)
    names = [str(column.name) for column in columns.values()]
    if attribute in names:
        return attribute
    known = list(dict.fromkeys([*columns, *names]))
    raise ConfigError(
        f'{where}: "{target.label}" has no attribute "{attribute}".'
        f"{did_you_mean(attribute, known)} It has {listed(known)}."
    )


def primary_key(model: Any) -> tuple[str, ...]:
    """The names of the primary key's columns; empty where only the database knows."""
    columns = model_columns(model) or {}
    return tuple(str(column.name) for column in columns.values() if getattr(column, "primary_key", False))


def columns_that_must_be_set(model: Any) -> list[str]:
    """Columns that take no null and that neither the database nor the class fills: an insert has to name them.

    Foreign keys are left out: a relation or the parent of a nested row may fill them.
    """
    return [
        str(column.name)
        for column in (model_columns(model) or {}).values()
        if not getattr(column, "nullable", True)
        and all(
            getattr(column, filler, None) is None for filler in ("default", "server_default", "identity", "computed")
        )
        and not getattr(column, "foreign_keys", None)
        and not getattr(column, "primary_key", False)
    ]


def related_model(model: Any, name: str) -> Any | None:
    """The class at the other end of the model's relationship ``name``, if it has one."""
    relationships = getattr(getattr(model, "__mapper__", None), "relationships", None)
    if relationships is None or name not in relationships:
        return None
    return relationships[name].mapper.class_
