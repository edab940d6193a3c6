"""Run stores under test: in memory, on SQLite, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, make_url

from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.runs.ports import RunStore
from airflow_provider_ingest.storage.sql_store import SqlStore
from airflow_provider_ingest.testing.memory_store import MemoryStore

StoreFactory = Callable[[], RunStore]


@pytest.fixture(scope="session")
def postgres_engine(postgres_url: str) -> Iterator[Engine]:
    engine = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))
    metadata.create_all(engine)
    yield engine
    metadata.drop_all(engine)
    engine.dispose()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreFactory]:
    """Each call gives another store over the same runs, as another process would have."""
    if request.param == "memory":
        store = MemoryStore()
        yield lambda: store
        return
    if request.param == "sqlite":
        engine = create_engine(f"sqlite:///{tmp_path}/ingest.db")
        metadata.create_all(engine)
    else:
        engine = request.getfixturevalue("postgres_engine")
    yield lambda: SqlStore.on_engine(engine)
    with engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    if request.param == "sqlite":
        engine.dispose()


@pytest.fixture
def store(new_store: StoreFactory) -> RunStore:
    return new_store()
