"""The package's own names."""

from __future__ import annotations

import subprocess
import sys

import pytest

import airflow_provider_ingest


def test_naming_the_package_imports_nothing_heavy() -> None:
    heavy = "('polars', 'airflow', 'sqlalchemy')"
    code = f"import sys, airflow_provider_ingest; print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_importing_a_definition_needs_neither_airflow_nor_a_database_library() -> None:
    code = (
        "import sys\nfrom airflow_provider_ingest import IngestConfig\n"
        "from airflow_provider_ingest.engine import work\n"
        "print([m for m in ('airflow', 'sqlalchemy', 'pydantic') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("name", airflow_provider_ingest.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(airflow_provider_ingest, name) is not None
    assert name in dir(airflow_provider_ingest)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        airflow_provider_ingest.Nothing  # noqa: B018
