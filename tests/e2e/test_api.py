"""The REST API on a real server: runs from start to download."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import API, BAD, GOOD, HEADER, ended, problem, upload


@pytest.fixture(scope="module")
def run(airflow: AirflowServer) -> dict[str, Any]:
    """A run of three rows of which two failed."""
    started = upload(airflow, HEADER + GOOD + BAD + BAD.replace("nonsense", "x"), "März/products 2026.csv")
    return ended(airflow, started["id"])


def test_an_uploaded_file_is_imported_and_its_bad_rows_are_shown(run: dict[str, Any]) -> None:
    assert run["status"] == "completed_with_errors"
    assert run["original_filename"] == "products 2026.csv"
    assert run["progress"]["total"] == 3
    assert run["progress"]["failed"] == 2
    assert [row["row_number"] for row in run["rows"]] == [2, 3]
    assert run["rows"][0]["data"]["sku"] == "nonsense"
    (reason,) = run["rows"][0]["errors"]["validation"]["sku"]
    assert reason.startswith("An SKU looks like AB-12345.")
    assert run["summary"]["error"] is None
    assert run["file"]["sha256"]
    assert run["user_name"] == "admin"
    assert run["user_id"] is None
    assert run["started_at"].endswith("Z")
    assert len(run["started_at"]) == len("2024-01-31T12:00:00.000000Z")


def test_the_error_summary_groups_by_message(airflow: AirflowServer, run: dict[str, Any]) -> None:
    assert airflow.get(f"{API}/{run['id']}/errors/summary").json() == {
        "data": {
            "total_failed_rows": 2,
            "error_summary": [{"message": "The given data was invalid.", "count": 2}],
            "validation_summary": [{"message": "sku: An SKU looks like AB-12345.", "count": 2}],
        }
    }


def test_failed_rows_are_downloaded_as_a_csv_without_formulas(airflow: AirflowServer, run: dict[str, Any]) -> None:
    answer = airflow.get(f"{API}/{run['id']}/failed-rows/download")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    header, first, _ = csv.reader(io.StringIO(answer.text, newline=""))
    assert header == [*HEADER.strip().split(","), "_error_message", "_row_number"]
    assert first[1] == "'=Saw"
    assert first[-1] == "2"


def test_a_retry_works_the_failed_rows_under_their_old_numbers(airflow: AirflowServer, run: dict[str, Any]) -> None:
    answer = airflow.post(f"{API}/{run['id']}/retry", json={"dry_run": True})
    assert answer.status_code == 202, answer.text
    retry = ended(airflow, answer.json()["data"]["id"])
    assert (retry["retry_of"], retry["is_dry_run"], retry["progress"]["total"]) == (run["id"], True, 2)
    assert [row["row_number"] for row in retry["rows"]] == [2, 3]
    family = airflow.get(API, params={"root_run": run["id"]}).json()["data"]
    assert [member["id"] for member in family] == [retry["id"], run["id"]]


def test_the_corrected_download_is_imported(airflow: AirflowServer, run: dict[str, Any]) -> None:
    text = airflow.get(f"{API}/{run['id']}/failed-rows/download").text
    corrected = text.replace("nonsense", "AB-10002").replace("\r\nx,", "\r\nAB-10003,")
    answer = airflow.post(f"{API}/{run['id']}/retry", files={"file": ("fixed.csv", corrected)})
    assert answer.status_code == 202, answer.text
    retry = ended(airflow, answer.json()["data"]["id"])
    assert retry["status"] == "completed", retry
    assert retry["progress"]["successful"] == 2
    names = airflow.python(
        "import sqlite3; print(sqlite3.connect('shop.db').execute("
        "\"SELECT name FROM products WHERE sku IN ('AB-10002', 'AB-10003')\").fetchall())"
    )
    assert names.strip() == "[('=Saw',), ('=Saw',)]"


def test_runs_are_listed_most_recent_first_in_pages(airflow: AirflowServer, run: dict[str, Any]) -> None:
    first = airflow.get(API, params={"per_page": 1, "importer": "products"}).json()
    assert first["meta"]["current_page"] == 1
    assert first["meta"]["total"] == first["meta"]["last_page"] >= 2
    assert first["links"]["next"].startswith(f"{API}/?importer=products&page=2")
    second = airflow.get(first["links"]["next"]).json()
    assert second["data"][0]["id"] < first["data"][0]["id"]
    assert "rows" not in first["data"][0]
    beyond = airflow.get(API, params={"page": 9999}).json()
    assert (beyond["data"], beyond["meta"]["from"]) == ([], None)


def test_runs_are_filtered(airflow: AirflowServer, run: dict[str, Any]) -> None:
    def ids(**filters: Any) -> list[int]:
        return [one["id"] for one in airflow.get(API, params={"per_page": 100, **filters}).json()["data"]]

    assert run["id"] in ids(status="completed_with_errors", importer="products", user="admin")
    assert run["id"] not in ids(status="failed")
    assert ids(dag_run_id=run["dag_run_id"]) == [run["id"]]
    assert ids(importer="nothing") == []
    assert run["id"] not in ids(started_after="2999-01-01T00:00:00Z")


def test_rows_are_paged_and_filtered(airflow: AirflowServer, run: dict[str, Any]) -> None:
    page = airflow.get(f"{API}/{run['id']}", params={"rows_page": 2, "rows_per_page": 1}).json()["data"]
    assert [row["row_number"] for row in page["rows"]] == [3]
    assert page["rows_meta"]["total"] == 2
    none = airflow.get(f"{API}/{run['id']}", params={"rows_status": "success"}).json()["data"]
    assert none["rows"] == []
    group = airflow.get(f"{API}/{run['id']}", params={"rows_message": "sku: An SKU looks like AB-12345."}).json()[
        "data"
    ]
    assert len(group["rows"]) == 2


def test_every_path_answers_with_and_without_a_slash(airflow: AirflowServer, run: dict[str, Any]) -> None:
    for path in ("", f"/{run['id']}", f"/{run['id']}/errors/summary", "/importers", "/importers/products"):
        for slash in ("", "/"):
            assert airflow.get(API + path + slash).status_code == 200, path + slash


def test_the_importers_are_listed_with_their_templates(airflow: AirflowServer, run: dict[str, Any]) -> None:
    importers = {one["slug"]: one for one in airflow.get(f"{API}/importers").json()["data"]}
    assert importers["products"]["source"]["type"] == "upload"
    assert importers["products"]["last_run"]["id"] >= run["id"]
    assert importers["customers"]["source"]["takes_path"]
    template = airflow.get(f"{API}/importers/products/template").text
    assert template.splitlines()[0] == HEADER.strip()


def test_a_file_is_previewed(airflow: AirflowServer) -> None:
    head = "sku,nmae,price\n" + "AB-10001,Hammer,9\n" * 3
    answer = airflow.post(f"{API}/importers/products/preview", content=head, headers={"X-File-Size": "999999"})
    preview = answer.json()["data"]
    assert {"field": "name", "did_you_mean": "nmae"} in preview["missing"]
    assert preview["columns"][0] == {"name": "sku", "attributes": ["sku"]}
    assert len(preview["rows"]) == 3


def test_a_triggered_run_reads_its_default_path(airflow: AirflowServer) -> None:
    answer = airflow.post(f"{API}/trigger/customers", json={"dry_run": True})
    assert answer.status_code == 202, answer.text
    run = ended(airflow, answer.json()["data"]["id"])
    assert (run["original_filename"], run["is_dry_run"]) == ("customers.csv", True)
    assert run["progress"]["total"] > 0


def test_a_path_that_leads_out_of_the_disk_fails_the_run(airflow: AirflowServer) -> None:
    started = airflow.post(f"{API}/trigger/customers", json={"payload": "../passwords.json"}).json()["data"]
    run = ended(airflow, started["id"])
    assert run["status"] == "failed"
    assert ".." in run["summary"]["error"]["message"]


def test_the_same_key_answers_with_the_first_run(airflow: AirflowServer) -> None:
    headers = {"Idempotency-Key": "nightly-2026-01-31"}
    first = upload(airflow, HEADER + GOOD, headers=headers, data={"dry_run": "1"})
    assert upload(airflow, HEADER + GOOD, headers=headers, data={"dry_run": "1"})["id"] == first["id"]
    other = airflow.post(f"{API}/upload/products", files={"file": ("a.csv", HEADER)}, headers=headers)
    problem(other, 409, "idempotency_key_reused")


def test_refusals_are_problem_documents(airflow: AirflowServer, run: dict[str, Any]) -> None:
    good = upload(airflow, HEADER + GOOD, data={"dry_run": "true"})
    problem(airflow.post(f"{API}/{good['id']}/retry"), 409, "run_not_finished")
    ended(airflow, good["id"])
    problem(airflow.post(f"{API}/{good['id']}/retry", json={"dry_run": True}), 400, "no_failed_rows")
    problem(airflow.get(f"{API}/{good['id']}/failed-rows/download"), 404, "no_failed_rows")
    problem(airflow.post(f"{API}/{run['id']}/cancel"), 409, "run_finished")
    problem(airflow.get(f"{API}/999999"), 404, "run_not_found")
    problem(airflow.post(f"{API}/trigger/nothing"), 404, "importer_not_found")
    problem(airflow.post(f"{API}/trigger/products"), 409, "source_is_upload")
    problem(airflow.post(f"{API}/upload/customers", files={"file": "a"}), 409, "source_is_not_upload")
    problem(airflow.get(f"{API}/abc"), 422, "invalid_parameter")
    problem(airflow.get(API, params={"per_page": 101}), 422, "invalid_parameter")
    problem(airflow.post(f"{API}/trigger/customers", content="{"), 422, "invalid_parameter")
    body = problem(airflow.post(f"{API}/trigger/customers", json={"dry_run": "yes"}), 422, "invalid_parameter")
    assert body["errors"][0]["field"] == "dry_run"
    body = problem(airflow.post(f"{API}/trigger/customers", content="[]"), 422, "invalid_parameter")
    assert body["errors"] == [{"field": "body", "message": "A JSON object is expected."}]
    problem(airflow.request("DELETE", f"{API}/{run['id']}"), 405, "method_not_allowed")


@pytest.mark.parametrize("start", ["trigger/customers", "upload/products", "1/retry"])
def test_a_dry_run_that_is_asked_for_in_the_address_starts_no_real_one(airflow: AirflowServer, start: str) -> None:
    newest = airflow.get(API).json()["data"][0]["id"]
    for flag in ("dry_run", "dryRun"):
        body = problem(airflow.post(f"{API}/{start}?{flag}=1"), 422, "invalid_parameter")
        assert body["errors"][0]["field"] == flag
    assert airflow.get(API).json()["data"][0]["id"] == newest


def test_a_waiting_run_is_cancelled_at_once_and_again(airflow: AirflowServer) -> None:
    run = upload(airflow, HEADER + GOOD * 2000)
    first = airflow.post(f"{API}/{run['id']}/cancel")
    assert first.status_code == 200, first.text
    assert set(first.json()) == {"message"}
    assert airflow.post(f"{API}/{run['id']}/cancel").status_code == 200
    assert ended(airflow, run["id"])["status"] == "cancelled"


def test_chunks_are_listed(airflow: AirflowServer, run: dict[str, Any]) -> None:
    (chunk,) = airflow.get(f"{API}/{run['id']}/chunks").json()["data"]
    assert (chunk["index"], chunk["first_row"], chunk["rows"], chunk["failed"]) == (0, 1, 3, 2)
    assert chunk["finished_at"]
