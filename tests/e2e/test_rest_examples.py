"""The examples of the REST reference, run as they stand against a real API server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.airflow_server import CHECKOUT, AirflowServer
from tests.e2e.rest import BAD, GOOD, HEADER

PAGE = CHECKOUT / "docs" / "reference" / "rest.md"
SECONDS = 600


def examples(language: str) -> str:
    """All blocks of the page in this language, as one program on the lines where they stand."""
    text, lines = PAGE.read_text(encoding="utf-8"), []
    for block in re.finditer(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        first = text[: block.start(1)].count("\n")
        lines += [""] * (first - len(lines)) + block[1].splitlines()
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what the examples read: a file to import and the OpenAPI document."""
    place = tmp_path_factory.mktemp("examples")
    (place / "products.csv").write_text(HEADER + GOOD + BAD)
    (place / "docs" / "reference").mkdir(parents=True)
    shutil.copy(CHECKOUT / "docs" / "reference" / "openapi.json", place / "docs" / "reference")
    return place


def run(airflow: AirflowServer, place: Path, *command: str, **variables: str) -> str:
    done = subprocess.run(
        command,
        env={**airflow.environment, "AIRFLOW": airflow.url, **variables},
        cwd=place,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_the_curl_examples_run(airflow: AirflowServer, place: Path) -> None:
    printed = run(airflow, place, "bash", "-euo", "pipefail", "-c", examples("bash"))
    assert "completed_with_errors" in printed
    assert '"total_failed_rows":1' in printed
    assert "_error_message,_row_number" in (place / "failed-rows.csv").read_text()
    assert "AB-20002" in (place / "corrected.csv").read_text()
    written = place / "docs" / "reference" / "openapi.json"
    assert written.read_text() == (CHECKOUT / "docs" / "reference" / "openapi.json").read_text(), "it is up to date"


def test_the_python_examples_run_and_the_generated_client_works(airflow: AirflowServer, place: Path) -> None:
    shutil.rmtree(place / "ingest_client", ignore_errors=True)
    generate = next(line for line in examples("bash").splitlines() if line.startswith("openapi-python-client"))
    run(airflow, place, "bash", "-c", generate)
    (place / "example.py").write_text(examples("python"))
    printed = run(airflow, place, sys.executable, "-W", "error", "example.py", TOKEN=airflow.token())
    assert "completed_with_errors" in printed
    assert "'products'" in printed
