"""What nobody wants to get, sent to a whole Airflow: a clear error each, nothing lost, nothing half counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from airflow_provider_ingest.runs.status import RunStatus
from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import API

HEADER = "sku,name,category,price,stock,active,released"
GOOD = "AB-70001,Lamp,Garden,12.50,7,yes,31.01.2026"
WIDE = [f"extra {number}" for number in range(2_000)]

FILES: dict[str, tuple[str, RunStatus, str]] = {
    "header only": (HEADER + "\n", RunStatus.COMPLETED, ""),
    "an empty array": ("[]", RunStatus.COMPLETED, ""),
    "an array of no objects": ("[1,2]", RunStatus.COMPLETED_WITH_ERRORS, ""),
    "an array of objects without fields": ("[{},2]", RunStatus.FAILED, "It has no columns."),
    "wrong header": (
        "sku,nmae,category,price,stock,active,released\n" + GOOD,
        RunStatus.FAILED,
        'The file lacks the field "name". Did you mean "nmae"?',
    ),
    "a row of 5 MB": (
        f"{HEADER}\n{GOOD}\nAB-70002,{'x' * 5_000_000},Garden,1,1,yes,31.01.2026\n",
        RunStatus.COMPLETED_WITH_ERRORS,
        "",
    ),
    "2,000 more columns": (
        f"{HEADER},{','.join(WIDE)}\n{GOOD}{',1' * len(WIDE)}\n",
        RunStatus.COMPLETED,
        "",
    ),
    "a header twice": (
        f"{HEADER},name\n{GOOD},Other\n",
        RunStatus.COMPLETED,
        "",
    ),
}
"""By what is odd about it: the file, how its run ends, and what the run's error says."""


@pytest.fixture(scope="module")
def uploaded(airflow: AirflowServer) -> Iterator[dict[str, dict[str, Any]]]:
    """The runs of :data:`FILES`, all sent at once."""
    sent = {}
    for name, (content, _, _) in FILES.items():
        answer = airflow.post(f"{API}/upload/products", files={"file": (f"{name}.csv", content)})
        assert answer.status_code == 202, answer.text
        sent[name] = answer.json()["data"]
    for name, run in sent.items():
        airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
        sent[name] = airflow.get(f"{API}/{run['id']}").json()["data"]
    yield sent
    airflow.change("DELETE FROM products WHERE sku LIKE 'AB-7000%'")


@pytest.mark.parametrize("name", FILES)
def test_an_odd_file_ends_its_run_with_every_row_counted(uploaded: dict[str, dict[str, Any]], name: str) -> None:
    _, status, says = FILES[name]
    run = uploaded[name]
    assert run["status"] == status
    progress, summary = run["progress"], run["summary"]
    assert summary["total"] == sum(summary[end] for end in ("created", "updated", "skipped", "failed", "unprocessed"))
    assert progress["total"] == summary["total"]
    assert (summary["error"] is not None) == (status is RunStatus.FAILED)
    if says:
        assert says in summary["error"]["message"]


def test_a_row_of_5_mb_is_shown_with_its_failure(airflow: AirflowServer, uploaded: dict[str, dict[str, Any]]) -> None:
    run = uploaded["a row of 5 MB"]
    assert run["progress"]["failed"] == 1
    (failed,) = airflow.get(f"{API}/{run['id']}?rows_status=failed").json()["data"]["rows"]
    assert (failed["row_number"], failed["errors"]["code"]) == (2, "too_long")


def test_elements_that_are_no_objects_fail_each_with_its_number(
    airflow: AirflowServer, uploaded: dict[str, dict[str, Any]]
) -> None:
    run = uploaded["an array of no objects"]
    rows = airflow.get(f"{API}/{run['id']}?rows_status=failed").json()["data"]["rows"]
    assert [(row["row_number"], row["errors"]["code"]) for row in rows] == [(1, "malformed_row"), (2, "malformed_row")]


def test_repeated_and_unknown_columns_are_told_as_warnings(uploaded: dict[str, dict[str, Any]]) -> None:
    warnings = " ".join(uploaded["a header twice"]["summary"]["warnings"])
    assert "The header name 'name' of column 8 is there before" in warnings


def test_what_is_no_table_is_refused_before_a_run_is_recorded(airflow: AirflowServer) -> None:
    for content, code in ((b"", 415), (bytes(range(256)) * 40, 415)):
        answer = airflow.post(f"{API}/upload/products", files={"file": ("odd.csv", content)})
        assert answer.status_code == code, answer.text
        assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/?importer=%00", 422),
        ("/?user=a%00", 422),
        ("/?dag_run_id=%00", 422),
        ("/1?rows_message=%00", 422),
        ("/importers/products%00", 422),
        ("/static/1/%00.js", 404),
        (f"/static/1/{'x' * 300}.js", 404),
    ],
)
def test_an_address_that_nothing_can_have_is_no_error_of_the_server(
    airflow: AirflowServer, path: str, status: int
) -> None:
    answer = airflow.get(API + path, user="viewer")
    assert (answer.status_code, answer.json()["status"]) == (status, status), answer.text


def test_times_that_leave_the_calendar_in_utc_lie_before_and_behind_all_runs(airflow: AirflowServer) -> None:
    total = airflow.get(f"{API}/", user="viewer").json()["meta"]["total"]
    for bounds in ("started_after=0001-01-01T00:00:00%2B14:00", "started_before=9999-12-31T23:59:59-14:00"):
        answer = airflow.get(f"{API}/?{bounds}", user="viewer")
        assert (answer.status_code, answer.json()["meta"]["total"]) == (200, total), answer.text
        assert airflow.get(f"{API}/totals?{bounds}", user="viewer").status_code == 200


def test_a_file_name_in_an_encoding_that_is_none_is_refused(airflow: AirflowServer) -> None:
    head = "Content-Disposition: form-data; name=\"file\"; filename*=idna''%ff"
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    body = f"--b\r\n{head}\r\n\r\n{HEADER}\r\n--b--\r\n"
    answer = airflow.post(f"{API}/upload/products", content=body, headers=headers)
    assert answer.status_code == 422, answer.text
