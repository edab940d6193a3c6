"""One Airflow for all end-to-end tests of a session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.airflow_server import AirflowServer, running


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here runs a whole Airflow."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AirflowServer]:
    """A running Airflow with the demo's importers and those in ``tests/e2e/dags``.

    ``INGEST_TEST_AIRFLOW`` names the home of one that runs already and is to be used again.
    """
    if home := os.environ.get("INGEST_TEST_AIRFLOW"):
        yield AirflowServer.attach(Path(home))
        return
    yield from running(tmp_path_factory.mktemp("airflow"))
