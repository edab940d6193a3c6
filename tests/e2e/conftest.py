"""Marks the end-to-end tests; their Airflow is the fixture ``airflow``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.airflow_server import AirflowServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here runs a whole Airflow."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="module")
def fresh_products(airflow: AirflowServer) -> None:
    """No products, and closed gates: the server may have been used before."""
    airflow.change("DELETE FROM products")
    for left in [*airflow.home.glob("gate-*"), *airflow.home.glob("pid-*"), *airflow.home.glob("*.jsonl")]:
        left.unlink()


@pytest.fixture
def file(airflow: AirflowServer) -> Callable[..., str]:
    """Put a file of products on the disk ``demo_files``."""

    def make(name: str, *rows: str) -> str:
        (airflow.home / "files" / name).write_text("sku,name,category,price\n" + "".join(row + "\n" for row in rows))
        return name

    return make
