"""The wheel, built and installed into an environment of its own, works there without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An environment with the wheel in it."""

    python: Path
    home: Path

    def run(self, *arguments: str) -> str:
        """What ``airflow …`` prints there, in a directory from which the checkout is out of reach."""
        environment = {name: text for name, text in os.environ.items() if not name.startswith(("AIRFLOW", "PYTHON"))}
        environment |= {"AIRFLOW_HOME": str(self.home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "COLUMNS": "300"}
        command = [str(self.python), "-m", *arguments]
        done = subprocess.run(command, env=environment, cwd=self.home, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, f"{arguments}:\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    python, home = folder / "venv" / "bin" / "python", folder / "home"
    install = [UV, "pip", "install", "--quiet", "--python", python, "--constraints", ROOT / "constraints.txt", wheel]
    subprocess.run(install, check=True)
    home.mkdir()
    return Installed(python=python, home=home)


def test_the_wheel_holds_everything_that_is_no_python(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "airflow_provider_ingest"
    wanted = {
        str(file.relative_to(ROOT))
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".pyc"
    }
    assert {name for name in wanted if name.endswith(("alembic.ini", "py.typed", "script.py.mako", "main.js"))}
    assert not wanted - names
    assert not {name for name in names if name.startswith(("tests", "dags", "scripts", "docs"))}


def test_airflow_finds_the_provider_and_its_parts(installed: Installed) -> None:
    provider = installed.run("airflow", "providers", "get", "airflow-provider-ingest", "--full", "-o", "yaml")
    assert "airflow_provider_ingest.models.db.IngestDBManager" in provider
    assert "Bulk data ingest" in provider
    assert "airflow-provider-ingest" in installed.run("airflow", "plugins", "-o", "yaml")


def test_airflow_migrates_its_tables_and_lists_its_importers(installed: Installed) -> None:
    installed.run("airflow", "db", "migrate")
    assert "ingest_db" in installed.run("airflow", "connections", "list", "-o", "plain")
    assert installed.run("airflow", "ingest", "list", "-o", "json").strip().endswith("[]")


def test_airflow_shows_its_settings(installed: Installed) -> None:
    shown = installed.run("airflow", "config", "list", "--section", "ingest", "--include-descriptions", "--show-values")
    assert "url_prefix = /api/v1/ingest" in shown
    assert "Most rows in a chunk" in shown
