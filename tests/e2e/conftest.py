"""One Airflow for all end-to-end tests of a session."""

from __future__ import annotations

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


@pytest.fixture(scope="session")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AirflowServer]:
    """A running Airflow with the demo's importers and those in ``tests/e2e/dags``."""
    yield from running(tmp_path_factory.mktemp("airflow"))
