"""Behind a base path and under a prefix of one's own: every path still answers, every link still leads there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import GOOD, HEADER, problem
from tests.e2e.second_server import second_api_server

PREFIX = "/imports/v1"


@pytest.fixture(scope="module")
def behind(airflow: AirflowServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AirflowServer]:
    home = tmp_path_factory.mktemp("behind")
    with second_api_server(airflow, home, base_path="/airflow", AIRFLOW__INGEST__URL_PREFIX=PREFIX) as server:
        yield server


def test_every_path_answers_with_and_without_a_slash(behind: AirflowServer) -> None:
    for path in ("", "/importers", "/importers/products"):
        for slash in ("", "/"):
            assert behind.get(PREFIX + path + slash).status_code == 200, path + slash
    problem(behind.get(PREFIX, user=None), 401, "not_authenticated")


def test_links_and_the_document_lead_back_there(behind: AirflowServer) -> None:
    links = behind.get(PREFIX, params={"per_page": 1}).json()["links"]
    assert links["first"] == f"/airflow{PREFIX}/?page=1&per_page=1"
    document = behind.get(f"{PREFIX}/openapi.json").json()
    assert document["servers"] == [{"url": f"/airflow{PREFIX}"}]


def test_uploads_work_there_and_foreign_pages_do_not(behind: AirflowServer) -> None:
    files = {"file": ("a.csv", HEADER + GOOD)}
    own = behind.url.removesuffix("/airflow")
    answer = behind.post(f"{PREFIX}/upload/products", files=files, headers={"Origin": own})
    assert answer.status_code == 202, answer.text
    assert behind.post(f"{PREFIX}/{answer.json()['data']['id']}/cancel").status_code == 200
    foreign = behind.post(f"{PREFIX}/upload/products", files=files, headers={"Origin": "https://evil.example"})
    problem(foreign, 403, "foreign_origin")


def test_the_pages_are_named_and_served_there(behind: AirflowServer) -> None:
    plugins = behind.get("/api/v2/plugins").json()["plugins"]
    (ours,) = [plugin for plugin in plugins if plugin["name"] == "ingest"]
    bundles = {page["bundle_url"] for page in ours["react_apps"]}
    (bundle,) = bundles
    assert bundle.startswith(f"/airflow{PREFIX}/static/")
    module = behind.get(bundle.removeprefix("/airflow"))
    assert module.headers["content-type"].startswith("text/javascript")
    assert "immutable" in module.headers["cache-control"]
