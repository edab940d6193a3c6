"""Who may do what: the whole route table, walked as nobody, viewer, user and admin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import API, GOOD, HEADER, ended, problem, upload

READS = "GET"
STARTS = ("/upload/{slug}", "/trigger/{slug}", "/{run_id}/retry", "/{run_id}/cancel", "/importers/{slug}/preview")


@pytest.fixture(scope="module")
def run(airflow: AirflowServer) -> dict[str, Any]:
    return ended(airflow, upload(airflow, HEADER + "x" + GOOD)["id"])


def routes(airflow: AirflowServer, run_id: int) -> Iterator[tuple[str, str, str]]:
    """Method, path and template of every operation of the OpenAPI document, and those that are not in it."""
    paths = airflow.get(f"{API}/openapi.json").json()["paths"]
    for template, operations in paths.items():
        for method in operations:
            yield method.upper(), API + template.format(run_id=run_id, slug="products"), template
    yield "GET", f"{API}/openapi.json", "/openapi.json"
    yield "GET", f"{API}/static/1/main.js", "/static"


def test_no_route_is_open(airflow: AirflowServer, run: dict[str, Any]) -> None:
    walked = list(routes(airflow, run["id"]))
    assert len(walked) >= 14
    for method, path, _ in walked:
        answer = airflow.request(method, path, user=None)
        problem(answer, 401, "not_authenticated")
        assert answer.headers["www-authenticate"] == "Bearer"
        forged = airflow.request(method, path, user=None, headers={"Authorization": "Bearer eyJhbGciOi.e30.x"})
        problem(forged, 401, "not_authenticated")


def test_malformed_bodies_do_not_come_before_authentication(airflow: AirflowServer) -> None:
    problem(airflow.post(f"{API}/trigger/customers", user=None, content="{"), 401, "not_authenticated")
    problem(airflow.get(f"{API}/abc", user=None), 401, "not_authenticated")


def test_a_viewer_may_read_everything_and_start_nothing(airflow: AirflowServer, run: dict[str, Any]) -> None:
    for method, path, template in routes(airflow, run["id"]):
        answer = airflow.request(method, path, user="viewer")
        if template in STARTS:
            problem(answer, 403, "forbidden")
        else:
            assert answer.status_code == 200, (method, path, answer.text)


def test_buttons_follow_rights(airflow: AirflowServer, run: dict[str, Any]) -> None:
    viewer = airflow.get(f"{API}/{run['id']}", user="viewer").json()["data"]
    assert viewer["can"] == {"cancel": False, "retry": False, "correct": False, "needs_file": None, "download": True}
    user = airflow.get(f"{API}/{run['id']}", user="user").json()["data"]
    assert user["can"] == {"cancel": False, "retry": True, "correct": True, "needs_file": None, "download": True}
    importers = airflow.get(f"{API}/importers", user="viewer").json()["data"]
    assert {one["can"]["start"] for one in importers} == {False}


def test_a_user_may_start_and_is_named_by_their_token(airflow: AirflowServer) -> None:
    data = {"dry_run": "1", "user_name": "admin", "user": "admin"}
    answer = airflow.post(f"{API}/upload/products", "user", files={"file": ("a.csv", HEADER + GOOD)}, data=data)
    assert answer.status_code == 202, answer.text
    assert answer.json()["data"]["user_name"] == "user"
    assert airflow.post(f"{API}/{answer.json()['data']['id']}/cancel", "user").status_code == 200


def test_a_foreign_page_is_refused_whatever_its_credential(airflow: AirflowServer) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        for user in ("admin", None):
            problem(airflow.post(f"{API}/trigger/customers", user, headers=headers), 403, "foreign_origin")
    own = airflow.post(f"{API}/trigger/customers", json={"dry_run": True}, headers={"Origin": airflow.url})
    assert own.status_code == 202
    airflow.post(f"{API}/{own.json()['data']['id']}/cancel")
    assert airflow.get(API, headers={"Origin": "https://evil.example"}).status_code == 200


def test_the_cookie_of_the_ui_is_a_credential_too(airflow: AirflowServer) -> None:
    with httpx.Client(base_url=airflow.url, cookies={"_token": airflow.token("viewer")}) as browser:
        assert browser.get(API).status_code == 200
        problem(browser.post(f"{API}/trigger/customers"), 403, "forbidden")


def test_no_error_tells_of_the_server(airflow: AirflowServer) -> None:
    texts = [
        airflow.get(f"{API}/static/1/../../app.py").text,
        airflow.get(f"{API}/static/1/%2e%2e/api/app.py").text,
        airflow.get(f"{API}/{'9' * 40}").text,
        airflow.post(f"{API}/trigger/customers", json={"payload": "\x00"}).text,
        airflow.get(f"{API}/importers/{'%00' * 3}").text,
    ]
    for text in texts:
        assert "Traceback" not in text
        assert str(airflow.home) not in text
        assert "site-packages" not in text
        assert json.loads(text)["status"] in (404, 422)
