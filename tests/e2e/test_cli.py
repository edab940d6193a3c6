"""The command line against a real Airflow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import BAD, GOOD, HEADER


def ingest(airflow: AirflowServer, *arguments: str, code: int = 0) -> Any:
    """Run a command with ``-o json``; gives what it printed."""
    done = airflow.run_cli("ingest", *arguments, "-o", "json", check=False)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout) if code == 0 else done.stderr


@pytest.fixture(scope="module")
def run(airflow: AirflowServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run of an uploaded local file of two rows, of which one failed."""
    file = tmp_path_factory.mktemp("local") / "local.csv"
    file.write_text(HEADER + GOOD.replace("10001", "20001") + BAD)
    done = airflow.run_cli("ingest", "run", "products", "--file", str(file), "--wait", "-o", "json")
    assert "of 2 rows" in done.stderr
    assert "1 row failed:" in done.stderr
    assert "sku: An SKU looks like AB-12345." in done.stderr
    return json.loads(done.stdout)


def test_a_local_file_is_uploaded_and_imported(run: dict[str, Any]) -> None:
    assert (run["status"], run["original_filename"]) == ("completed_with_errors", "local.csv")
    assert (run["progress"]["total"], run["progress"]["failed"]) == (2, 1)


def test_status_shows_the_run_as_the_api_does(airflow: AirflowServer, run: dict[str, Any]) -> None:
    assert ingest(airflow, "status", str(run["id"])) == run


def test_with_fail_on_errors_failed_rows_are_exit_code_1(airflow: AirflowServer, run: dict[str, Any]) -> None:
    ingest(airflow, "status", str(run["id"]), "--wait")
    done = airflow.run_cli("ingest", "status", str(run["id"]), "--wait", "--fail-on-errors", check=False)
    assert done.returncode == 1
    assert "completed_with_errors" in done.stdout


def test_importers_are_listed(airflow: AirflowServer, run: dict[str, Any]) -> None:
    importers = {one["slug"]: one for one in ingest(airflow, "list")}
    assert importers["products"]["last_run"]["id"] >= run["id"]
    table = airflow.run_cli("ingest", "list").stdout
    assert "demo_db:products" in table
    assert "upload" in table


def test_failed_rows_are_retried(airflow: AirflowServer, run: dict[str, Any]) -> None:
    retry = ingest(airflow, "retry", str(run["id"]), "--dry-run", "--wait")
    assert (retry["retry_of"], retry["is_dry_run"], retry["progress"]["failed"]) == (run["id"], True, 1)


def test_a_row_is_explained(airflow: AirflowServer, run: dict[str, Any]) -> None:
    row = ingest(airflow, "explain", str(run["id"]), "--row", "2")
    assert (row["row_number"], row["data"]["sku"]) == (2, "nonsense")
    assert "is not logged" in ingest(airflow, "explain", str(run["id"]), "--row", "1", code=1)


def test_a_file_outside_of_the_disk_is_staged_first(airflow: AirflowServer, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.csv"
    file.write_bytes((airflow.home / "files" / "customers.csv").read_bytes())
    run = ingest(airflow, "run", "customers", "--file", str(file), "--dry-run", "--wait")
    assert (run["original_filename"], run["status"]) == ("elsewhere.csv", "completed_with_errors")


def test_a_file_on_the_disk_is_read_there(airflow: AirflowServer) -> None:
    run = ingest(airflow, "run", "customers", "--file", "customers.csv", "--dry-run", "--wait")
    assert run["progress"]["total"] > 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("run", "nothing"), 1, "There is no importer 'nothing'."),
        (("run", "nothing"), 1, "'airflow dags reserialize'"),
        (("run", "products"), 1, "name it with --file"),
        (("run", "products", "--file", "/no/such.csv"), 1, "cannot be read"),
        (("status", "999999"), 1, "There is no run 999999."),
        (("cancel", "999999"), 1, "There is no run 999999."),
        (("status", "abc"), 2, "'abc' is no whole number from 1"),
        (("prune-files", "--hours", "-1"), 2, "argument --hours: '-1' is no whole number from 0 to 876,000"),
        (("nonsense",), 2, "invalid choice"),
    ],
)
def test_refusals_are_one_clear_line(
    airflow: AirflowServer, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = airflow.run_cli("ingest", *arguments, check=False)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    if code == 1:
        assert done.stderr.splitlines()[-1].startswith("Error: ")


def test_a_finished_run_cannot_be_cancelled(airflow: AirflowServer, run: dict[str, Any]) -> None:
    assert "cannot be cancelled" in ingest(airflow, "cancel", str(run["id"]), code=1)


def test_pruning_spares_what_is_new(airflow: AirflowServer, run: dict[str, Any]) -> None:
    uploads = airflow.home / "ingest" / "ingest-uploads"
    before = sorted(path for path in uploads.rglob("*") if path.is_file())
    assert ingest(airflow, "prune-files", "--hours", "24") == []
    would = ingest(airflow, "prune-files", "--hours", "0", "--dry-run")
    assert len(would) >= 1
    assert sorted(path for path in uploads.rglob("*") if path.is_file()) == before
    assert ingest(airflow, "prune-rows", "--days", "30") == {"rows": 0, "dry_run": False}
    assert ingest(airflow, "prune-rows", "--days", "0", "--dry-run")["rows"] >= 1
