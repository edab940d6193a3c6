"""Where the rows go: one target per kind of database, all with the promises of
:class:`~airflow_provider_ingest.runs.ports.Target`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import URL

    from airflow_provider_ingest.targets.base import SqlTarget


def open_target(url: str | URL, config: Any) -> SqlTarget:
    """The target of an importer in the database at ``url``; nothing is connected yet.

    :param url: an SQLAlchemy URL; of PostgreSQL ones the driver does not matter.
    :param config: an ``IngestConfig``: its target, key, nested collections, sensitive fields and ``is_atomic`` count.
    """
    import sqlalchemy as sa

    from airflow_provider_ingest.exceptions import TargetError
    from airflow_provider_ingest.targets.planning import TargetTables

    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise TargetError("The connection of the target gives no usable database URL.") from None
    tables = TargetTables.of(config)
    backend = parsed.get_backend_name()
    if backend in ("postgresql", "postgres"):
        from airflow_provider_ingest.targets.postgres import PostgresTarget

        return PostgresTarget(parsed, tables)
    if backend == "sqlite":
        from airflow_provider_ingest.targets.sqlite import SqliteTarget

        return SqliteTarget(parsed, tables)
    if backend in ("mysql", "mariadb"):
        try:
            from airflow_provider_ingest.targets.mysql import MysqlTarget
        except ModuleNotFoundError as error:
            if error.name != "pymysql":
                raise
            raise TargetError("MySQL needs its driver: pip install 'airflow-provider-ingest[mysql]'") from None
        return MysqlTarget(parsed, tables)
    from airflow_provider_ingest.targets.generic import GenericTarget

    return GenericTarget(parsed, tables)
