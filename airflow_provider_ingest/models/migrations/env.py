"""Alembic's environment of the ingest tables, run by ``airflow db migrate`` through ``IngestDBManager``."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from alembic import context
from sqlalchemy import Connection

from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.models.db import IngestDBManager

config = context.config


def _is_ours(_: Any, name: str | None, kind: str, *rest: Any) -> bool:
    return kind != "table" or name in metadata.tables


OPTIONS: dict[str, Any] = {
    "target_metadata": metadata,
    "version_table": IngestDBManager.version_table_name,
    "include_object": _is_ours,
    "render_as_batch": True,
    "compare_type": True,
    "compare_server_default": True,
}


def run_migrations_offline() -> None:
    """Write the statements instead of running them."""
    context.configure(url=config.get_main_option("sqlalchemy.url"), literal_binds=True, **OPTIONS)
    with context.begin_transaction():
        context.run_migrations()


def run_migrations_online() -> None:
    """Run on the connection given in ``config.attributes``, else on one of Airflow's own engine."""
    given: Connection | None = config.attributes.get("connection")
    if given is None:
        from airflow import settings

        source: Any = settings.engine.connect()
    else:
        source = nullcontext(given)
    with source as connection:
        context.configure(connection=connection, transaction_per_migration=True, **OPTIONS)
        with context.begin_transaction():
            context.run_migrations()


if context.is_offline_mode():
    run_migrations_offline()
else:
    run_migrations_online()
