"""Run stores under test: in memory, on SQLite, on PostgreSQL by both drivers, on MariaDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.storage.sql_store import SqlStore
from airflow_provider_ingest.testing.memory_store import MemoryStore

StoreFactory = Callable[[], RunStore]


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Iterator[str]:
    """URL of a database with the ingest tables."""
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE contract")
    url = postgres_server.replace("/postgres?", "/contract?", 1)
    engine = create_engine(url)
    metadata.create_all(engine)
    engine.dispose()
    yield url
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE contract WITH (FORCE)")


@pytest.fixture(params=["memory", "sqlite", "psycopg", "psycopg2", "mariadb"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreFactory]:
    """Each call gives another store over the same runs, as another process would have."""
    if request.param == "memory":
        store = MemoryStore()
        yield lambda: store
        return
    if request.param == "sqlite":
        engine = create_engine(f"sqlite:///{tmp_path}/ingest.db")
        metadata.create_all(engine)
    elif request.param == "mariadb":
        engine = create_engine(request.getfixturevalue("mariadb_url"))
        metadata.create_all(engine)
    else:
        url = make_url(request.getfixturevalue("postgres_database"))
        engine = create_engine(url.set(drivername=f"postgresql+{request.param}"))
    yield lambda: SqlStore.on_engine(engine)
    with engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    engine.dispose()


@pytest.fixture
def store(new_store: StoreFactory) -> RunStore:
    return new_store()
