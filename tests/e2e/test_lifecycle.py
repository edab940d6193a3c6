"""The life of a run on a whole Airflow: cancelled, retried, limited, lost, and told to others."""

from __future__ import annotations

import csv
import io
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from airflow_provider_ingest.runs.status import RunStatus
from tests.e2e.airflow_server import AirflowServer
from tests.e2e.lost_dag_runs import lose_dag_run
from tests.e2e.recorded_runs import diary, ended, recorded, start
from tests.e2e.waiting import wait_until

pytestmark = pytest.mark.usefixtures("fresh_products")


def test_a_cancelled_run_finishes_what_is_in_flight_and_counts_the_rest(airflow: AirflowServer, file):
    path = file("cancel.csv", "C-1,first,Toys,1", "C-2,gate-cancel,Toys,1", "C-3,third,Toys,1", "C-4,fourth,Toys,1")
    dag_run_id = start(airflow, "gated", payload=path)
    wait_until(lambda: recorded(airflow, "gated", dag_run_id).chunks_done == 1)
    wait_until(lambda: airflow.has_started("ingest_gated", dag_run_id, 1))
    run_id = recorded(airflow, "gated", dag_run_id).id
    assert airflow.post(f"/api/v1/ingest/{run_id}/cancel").status_code == 200
    assert recorded(airflow, "gated", dag_run_id).status is RunStatus.CANCELLING
    (airflow.home / "gate-cancel").touch()
    run = ended(airflow, "gated", dag_run_id)
    assert run.status is RunStatus.CANCELLED
    assert (run.total, run.counts.created, run.summary["unprocessed"]) == (4, 2, 2)
    assert run.completed_at is not None
    assert airflow.rows("SELECT sku FROM products WHERE sku LIKE 'C-%' ORDER BY sku") == [("C-1",), ("C-2",)]
    assert airflow.wait_for_dag_run("ingest_gated", dag_run_id) == "failed"
    assert diary(airflow, run) == ["before processing", "after cancelled 2 0 2"]
    assert airflow.post(f"/api/v1/ingest/{run_id}/cancel").status_code == 200


def test_failed_rows_are_retried_with_their_numbers_and_then_corrected(airflow: AirflowServer):
    rows = "F-1,a,Toys,1\nbad,b,Toys,2\nF-3,c,Toys,\n"
    upload = {"file": ("märz.csv", "sku,name,category,price\n" + rows, "text/csv")}
    answer = airflow.post("/api/v1/ingest/upload/fixable", files=upload)
    assert answer.status_code == 202, answer.text
    first = ended(airflow, "fixable", answer.json()["data"]["dag_run_id"])
    assert (first.counts.created, first.counts.failed, first.original_filename) == (1, 2, "märz.csv")
    assert diary(airflow, first) == [
        "before processing",
        "error 2 regex",
        "error 3 required",
        "after completed_with_errors 1 2 0",
    ]

    answer = airflow.post(f"/api/v1/ingest/{first.id}/retry")
    assert answer.status_code == 202, answer.text
    dag_run_id = answer.json()["data"]["dag_run_id"]
    second = ended(airflow, "fixable", dag_run_id)
    failed = airflow.recorded_run("ingest_fixable", dag_run_id)["failed"]
    assert (second.retry_of, second.total, second.counts.failed) == (first.id, 2, 2)
    assert [(row.row_number, row.line_number) for row in failed] == [(2, 3), (3, 4)]
    assert failed[0].data == {"sku": "bad", "name": "b", "category": "Toys", "price": "2"}

    download = airflow.get(f"/api/v1/ingest/{second.id}/failed-rows/download")
    lines = list(csv.DictReader(io.StringIO(download.text)))
    lines[0]["sku"], lines[1]["price"] = "F-2", "3"
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]))
    writer.writeheader()
    writer.writerows(lines)
    corrected = {"file": ("corrected.csv", text.getvalue(), "text/csv")}
    answer = airflow.post(f"/api/v1/ingest/{second.id}/retry", files=corrected)
    assert answer.status_code == 202, answer.text
    third = ended(airflow, "fixable", answer.json()["data"]["dag_run_id"])
    assert (third.status, third.counts.created, third.root_run) == (RunStatus.COMPLETED, 2, first.id)
    assert airflow.rows("SELECT sku, price FROM products WHERE sku LIKE 'F-%' ORDER BY sku") == [
        ("F-1", 1),
        ("F-2", 2),
        ("F-3", 3),
    ]

    answer = airflow.post(f"/api/v1/ingest/{second.id}/retry", files=corrected)
    once_more = ended(airflow, "fixable", answer.json()["data"]["dag_run_id"])
    assert (once_more.counts.successful, once_more.summary["warnings"]) == (2, [])


def test_a_second_retry_that_doubles_rows_warns_of_them(airflow: AirflowServer):
    def ended_run(answer: Any) -> Any:
        assert answer.status_code == 202, answer.text
        return ended(airflow, "keyless", answer.json()["data"]["dag_run_id"])

    upload = {"file": ("people.csv", "name,country\nAda,GB\nGrace,usa\n", "text/csv")}
    first = ended_run(airflow.post("/api/v1/ingest/upload/keyless", files=upload))
    download = airflow.get(f"/api/v1/ingest/{first.id}/failed-rows/download").text
    corrected = {"file": ("corrected.csv", download.replace("usa", "US"), "text/csv")}
    ended_run(airflow.post(f"/api/v1/ingest/{first.id}/retry", json={"dry_run": True}))
    second = ended_run(airflow.post(f"/api/v1/ingest/{first.id}/retry", files=corrected))
    assert (second.counts.created, second.summary["warnings"]) == (1, [])
    third = ended_run(airflow.post(f"/api/v1/ingest/{first.id}/retry", files=corrected))
    assert third.summary["warnings"] == [f"Run {second.id} has imported 1 of these rows already."]
    assert airflow.rows("SELECT count(*) FROM customers WHERE full_name = 'Grace'") == [(2,)]
    family = {"importer": "keyless", "started_after": first.started_at.isoformat()}
    totals = airflow.get("/api/v1/ingest/totals", params=family).json()["data"]
    assert totals == {"runs": 4, "imported": 3, "failed": 0}


def test_a_corrected_file_that_still_hides_a_sensitive_value_imports_nothing(airflow: AirflowServer):
    upload = {"file": ("secret.csv", "sku,name,category,price\nX-1,Ada,Toys,\n", "text/csv")}
    answer = airflow.post("/api/v1/ingest/upload/discreet", files=upload)
    first = ended(airflow, "discreet", answer.json()["data"]["dag_run_id"])
    download = airflow.get(f"/api/v1/ingest/{first.id}/failed-rows/download").text
    assert "X-1,***,Toys," in download

    def corrected(text: str) -> Any:
        answer = airflow.post(f"/api/v1/ingest/{first.id}/retry", files={"file": ("fixed.csv", text, "text/csv")})
        return ended(airflow, "discreet", answer.json()["data"]["dag_run_id"])

    half = corrected(download.replace("Toys,", "Toys,1"))
    assert half.status is RunStatus.FAILED
    assert "line 2" in half.summary["error"]["message"].lower()
    assert "sensitive field 'name'" in half.summary["error"]["message"]
    assert airflow.rows("SELECT count(*) FROM products WHERE sku = 'X-1'") == [(0,)]
    assert corrected(download.replace("***,Toys,", "Ada,Toys,1")).status is RunStatus.COMPLETED
    assert airflow.rows("SELECT name FROM products WHERE sku = 'X-1'") == [("Ada",)]


def test_a_run_with_too_many_failed_rows_stops_and_says_why(airflow: AirflowServer, file):
    path = file("rejects.csv", *[f"{sku},x,Toys,1" for sku in ("R-1", "bad", "worse", "R-4", "R-5", "R-6")])
    dag_run_id = start(airflow, "strict", payload=path)
    run = ended(airflow, "strict", dag_run_id)
    assert run.status is RunStatus.FAILED
    assert run.summary["error"]["code"] == "reject_limit"
    message = run.summary["error"]["message"]
    assert "the importer allows 1. Most often: sku: The value does not have the required format." in message
    failed = airflow.recorded_run("ingest_strict", dag_run_id)["failed"]
    assert len(failed) == run.counts.failed  # those of chunks that were given up are unprocessed


def test_the_same_file_again_is_refused_unless_it_is_forced(airflow: AirflowServer, file):
    path = file("once.csv", "S-1,x,Toys,1")
    first = ended(airflow, "strict", start(airflow, "strict", payload=path))
    assert first.status is RunStatus.COMPLETED
    again = ended(airflow, "strict", start(airflow, "strict", payload=path))
    assert again.status is RunStatus.FAILED
    assert f"imported by run {first.id} already" in again.summary["error"]["message"]
    conf = {"payload": path, "force": True}
    answer = airflow.post("/api/v2/dags/ingest_strict/dagRuns", json={"logical_date": None, "conf": conf})
    forced = ended(airflow, "strict", answer.json()["dag_run_id"])
    assert (forced.status, forced.counts.updated) == (RunStatus.COMPLETED, 1)


def test_of_the_same_file_several_times_at_once_one_is_imported(airflow: AirflowServer, file):
    path = file("at-once.csv", "T-1,x,Toys,1")
    with ThreadPoolExecutor(3) as clients:
        started = list(clients.map(lambda _: start(airflow, "strict", payload=path), range(3)))
    runs = [ended(airflow, "strict", dag_run_id) for dag_run_id in started]
    assert sorted(run.status for run in runs) == [RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.FAILED]
    refused = [run.summary["error"]["message"] for run in runs if run.status is RunStatus.FAILED]
    assert all(message.startswith("The same file ") for message in refused)


def test_clearing_a_chunk_of_a_finished_run_loads_nothing_twice(airflow: AirflowServer, file):
    path = file("clear.csv", "K-1,x,Toys,1")
    dag_run_id = start(airflow, "strict", payload=path)
    before = ended(airflow, "strict", dag_run_id)
    airflow.change("UPDATE products SET name = 'touched' WHERE sku = 'K-1'")
    body = {
        "dry_run": False,
        "dag_run_id": dag_run_id,
        "task_ids": ["chunk"],
        "include_downstream": True,
        "only_failed": False,
    }
    answer = airflow.post("/api/v2/dags/ingest_strict/clearTaskInstances", json=body)
    assert answer.status_code == 200, answer.text
    time.sleep(1)
    assert ended(airflow, "strict", dag_run_id) == before
    assert airflow.rows("SELECT name FROM products WHERE sku = 'K-1'") == [("touched",)]


def test_a_before_import_that_raises_fails_the_run_before_any_row(airflow: AirflowServer, file):
    run = ended(airflow, "gated", start(airflow, "gated", payload=file("refused.csv", "H-1,x,Toys,1")))
    assert run.status is RunStatus.FAILED
    assert run.summary["error"]["code"] == "hook_failed"
    assert airflow.get(f"/api/v1/ingest/{run.id}").json()["data"]["summary"]["success_rate"] == 0
    assert airflow.rows("SELECT count(*) FROM products WHERE sku = 'H-1'") == [(0,)]
    assert diary(airflow, run) == ["before processing", "after failed 0 0 0"]


def test_a_dag_run_that_is_failed_by_hand_takes_its_run_along(airflow: AirflowServer, file):
    path = file("hand.csv", "M-1,gate-hand,Toys,1", "M-2,x,Toys,1")
    dag_run_id = start(airflow, "gated", payload=path)
    wait_until(lambda: airflow.has_started("ingest_gated", dag_run_id, 0))
    path = f"/api/v2/dags/ingest_gated/dagRuns/{dag_run_id}"
    # Airflow itself gives 500 where its SQLite database is busy for five seconds, as on a crowded machine.
    wait_until(lambda: airflow.request("PATCH", path, json={"state": "failed"}).status_code == 200)
    wait_until(lambda: recorded(airflow, "gated", dag_run_id).status.is_terminal)
    (airflow.home / "gate-hand").touch()
    run = recorded(airflow, "gated", dag_run_id)
    assert run.status is RunStatus.FAILED
    assert run.summary["unprocessed"] == 2
    assert run.summary["error"]["code"] in ("dag_run_lost", "task_failed")


def test_a_run_whose_dag_run_is_gone_from_the_database_is_ended_by_the_daily_sweep(airflow: AirflowServer, file):
    dag_run_id = start(airflow, "gated", payload=file("deleted.csv", "D-1,gate-deleted,Toys,1"))
    wait_until(lambda: airflow.has_started("ingest_gated", dag_run_id, 0))
    lose_dag_run(airflow, dag_run_id)
    (airflow.home / "gate-deleted").touch()
    answer = airflow.post("/api/v2/dags/ingest_prune/dagRuns", json={"logical_date": None, "conf": {"hours": 24}})
    assert airflow.wait_for_dag_run("ingest_prune", answer.json()["dag_run_id"]) == "success"
    run = recorded(airflow, "gated", dag_run_id)
    assert (run.status, run.summary["error"]["code"]) == (RunStatus.FAILED, "dag_run_lost")


def test_another_dag_starts_a_run_waits_for_it_and_a_third_one_follows_the_table(airflow: AirflowServer):
    airflow.change("DELETE FROM customers WHERE email LIKE 'n%@example.com'")
    answer = airflow.post("/api/v2/dags/starts_numbers/dagRuns", json={"logical_date": None})
    dag_run_id = answer.json()["dag_run_id"]
    assert airflow.wait_for_dag_run("starts_numbers", dag_run_id) == "success"
    path = f"/api/v2/dags/starts_numbers/dagRuns/{dag_run_id}/taskInstances/wait/xcomEntries/return_value"
    result = airflow.get(path, params={"deserialize": True}).json()["value"]
    assert (result["status"], result["created"], result["failed"]) == ("completed", 25, 0)
    run = recorded(airflow, "numbers", result["dag_run_id"])
    assert run.file["source"] == {"source_type": "numbers", "version": 3}

    def followers() -> list[dict[str, Any]]:
        return airflow.get("/api/v2/dags/follows_customers/dagRuns").json()["dag_runs"]

    wait_until(lambda: any(each["state"] == "success" for each in followers()))
    follower = followers()[-1]["dag_run_id"]
    path = f"/api/v2/dags/follows_customers/dagRuns/{follower}/taskInstances/counts/xcomEntries/return_value"
    extras = airflow.get(path, params={"deserialize": True}).json()["value"]
    assert any(extra["created"] > 0 and "ingest_run_id" in extra for extra in extras)
