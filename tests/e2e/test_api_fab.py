"""Rights under FAB's auth manager: its roles just work, and DAG permissions are importer permissions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.fab_server import USERS, fab_server
from tests.e2e.test_api import API, GOOD, HEADER, problem

Fab = tuple[AirflowServer, dict[str, int]]


@pytest.fixture(scope="module")
def fab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fab]:
    with fab_server(tmp_path_factory.mktemp("fab")) as started:
        yield started


READS = ("/{run}", "/{run}/errors/summary", "/{run}/chunks", "/importers/{slug}", "/importers/{slug}/template")
ROWS = ("/{run}/failed-rows/download",)
STARTS = ("/{run}/retry", "/{run}/cancel", "/upload/{slug}", "/importers/{slug}/preview")

MATRIX = {
    # user: (products: reads, rows, starts), (customers: reads, rows, starts)
    "admin": ((200, 200, True), (200, 200, True)),
    "user": ((200, 200, True), (200, 200, True)),
    "viewer": ((200, 200, False), (200, 200, False)),
    "no_logs": ((200, 403, False), (200, 403, False)),
    "products_only": ((200, 200, True), (404, 404, None)),
    "public": ((404, 404, None), (404, 404, None)),
}
"""``True``: may start; ``False``: is told that they may not; ``None``: there is nothing for them."""


def test_nobody_gets_anything(fab: Fab) -> None:
    airflow, runs = fab
    for path in ("", *READS, *ROWS):
        problem(
            airflow.get(API + path.format(run=runs["products"], slug="products"), user=None), 401, "not_authenticated"
        )
    for path in STARTS:
        problem(
            airflow.post(API + path.format(run=runs["products"], slug="products"), user=None), 401, "not_authenticated"
        )


@pytest.mark.parametrize("user", list(MATRIX))
def test_each_role_gets_what_its_dag_permissions_say(fab: Fab, user: str) -> None:
    airflow, runs = fab
    assert user in USERS
    for slug, (reads, rows, starts) in zip(("products", "customers"), MATRIX[user], strict=True):
        names = {"run": runs[slug], "slug": slug}
        for path in READS:
            assert airflow.get(API + path.format(**names), user).status_code == reads, (user, slug, path)
        for path in ROWS:
            assert airflow.get(API + path.format(**names), user).status_code == rows, (user, slug, path)
        for path in STARTS:
            status = airflow.post(API + path.format(**names), user).status_code
            expected = {True: (202, 400, 409, 415, 422), False: (403,), None: (404,)}[starts]
            assert status in expected, (user, slug, path, status)


def test_lists_hold_what_may_be_read(fab: Fab) -> None:
    airflow, _ = fab

    def seen(user: str) -> set[str]:
        runs = airflow.get(API, user, params={"per_page": 100}).json()["data"]
        return {run["importer"] for run in runs}

    assert seen("admin") == {"products", "customers", "gone"}
    assert seen("products_only") == {"products"}
    assert seen("public") == set()
    assert airflow.get(API, "products_only", params={"importer": "customers"}).json()["data"] == []
    importers = airflow.get(f"{API}/importers", "products_only").json()["data"]
    assert [importer["slug"] for importer in importers] == ["products"]


def test_rows_need_the_right_to_logs_in_every_representation(fab: Fab) -> None:
    airflow, runs = fab
    assert "rows" not in airflow.get(f"{API}/{runs['products']}", "no_logs").json()["data"]
    assert airflow.get(f"{API}/{runs['products']}", "viewer").json()["data"]["rows"]


def test_the_integer_id_of_the_user_is_kept(fab: Fab) -> None:
    airflow, _ = fab
    answer = airflow.post(f"{API}/upload/products", "products_only", files={"file": ("a.csv", HEADER + GOOD)})
    assert answer.status_code == 202, answer.text
    run = answer.json()["data"]
    assert run["user_name"] == "products_only"
    assert isinstance(run["user_id"], int)
    assert airflow.post(f"{API}/{run['id']}/cancel", "products_only").status_code == 200
