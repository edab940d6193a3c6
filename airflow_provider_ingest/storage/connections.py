"""From an Airflow connection to an SQLAlchemy engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import SetupError

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

DRIVERS = {
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
}
"""Connection types whose driver is chosen here; others are asked for their own URL."""

POSTGRES_OPTIONS = (
    "application_name",
    "channel_binding",
    "connect_timeout",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "options",
    "sslcert",
    "sslcrl",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
)
"""Members of a connection's extra that libpq understands."""

MYSQL_OPTIONS = ("charset", "ssl_ca", "ssl_cert", "ssl_key", "local_infile")


def connection(conn_id: str) -> Any | None:
    """The Airflow connection, in a task or in a process of Airflow itself; ``None`` if there is none."""
    from airflow.exceptions import AirflowNotFoundException as CoreNotFound
    from airflow.sdk import Connection
    from airflow.sdk.exceptions import AirflowNotFoundException

    try:
        return Connection.get(conn_id)
    except (AirflowNotFoundException, CoreNotFound):
        return None


def database_url(conn: Any) -> URL:
    """The SQLAlchemy URL of a connection's database.

    SQLite takes the file from ``host``; PostgreSQL and MySQL take known options from ``extra``; any other type
    is asked through its Airflow hook.

    :raises SetupError: its type speaks no SQL.
    """
    from sqlalchemy.engine import URL, make_url

    if conn.conn_type == "sqlite":
        return URL.create("sqlite", database=conn.host or conn.schema or ":memory:")
    if conn.conn_type in DRIVERS:
        options = POSTGRES_OPTIONS if "postgres" in conn.conn_type else MYSQL_OPTIONS
        extra = conn.extra_dejson
        return URL.create(
            DRIVERS[conn.conn_type],
            username=conn.login or None,
            password=conn.password or None,
            host=conn.host or None,
            port=conn.port,
            database=conn.schema or extra.get("database") or None,
            query={name: str(extra[name]) for name in options if name in extra},
        )
    hook = conn.get_hook()
    for name in ("sqlalchemy_url", "get_uri"):
        found = getattr(hook, name, None)
        if found is not None:
            return make_url(found() if callable(found) else found)
    raise SetupError(f"The connection {conn.conn_id!r} is of type {conn.conn_type!r}, which is no SQL database.")


def engine_for(url: URL) -> Engine:
    """An engine that notices connections which died while they rested."""
    from sqlalchemy import create_engine

    if url.get_backend_name() == "sqlite":
        return create_engine(url)
    return create_engine(url, pool_pre_ping=True, pool_size=2, max_overflow=8)
