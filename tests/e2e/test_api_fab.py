"""Rights under FAB's auth manager: its roles just work, and DAG permissions are importer permissions."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.fab_server import USERS, fab_server
from tests.e2e.rest import API, GOOD, HEADER, problem

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


# -- the status tables -------------------------------------------------------------------------------------------------

RUNS_TABLE, ROWS_TABLE = "/pluginsv2/ingest-runs/list/", "/pluginsv2/ingest-rows/list/"


def table(airflow: AirflowServer, path: str, user: str | None) -> httpx.Response:
    """A status table as a browser gets it, with the cookie of Airflow's UI."""
    cookies = {"_token": airflow.token(user)} if user else {}
    return httpx.get(airflow.url + path, cookies=cookies, timeout=120)


def test_the_tables_lead_nobody_to_a_second_login(fab: Fab) -> None:
    airflow, _ = fab
    for path in (RUNS_TABLE, ROWS_TABLE):
        answer = table(airflow, path, None)
        assert answer.status_code == 302
        assert answer.headers["location"].startswith(f"{airflow.url}/api/v2/auth/login?next=")
        refused = table(airflow, path, "viewer")
        assert refused.status_code == 403, "they have no right to them by default"
        assert "'airflow ingest fab-permissions --role ROLE'" in refused.text, "Op is shown the entry"
        answer = table(airflow, path, "admin")
        assert answer.status_code == 200
        assert "set-cookie" not in answer.headers, "it would end the session of FAB's own pages"


def test_the_permission_is_given_to_roles_by_a_command(fab: Fab) -> None:
    airflow, runs = fab
    assert "knows of it within 0 seconds" in airflow.run_cli("ingest", "fab-permissions").stderr
    given = json.loads(airflow.run_cli("ingest", "fab-permissions", "--role", "products_only", "-o", "json").stdout)
    assert {line["permission"] for line in given} == {"can_read on Plugins", "can_read on Ingest Tables"}
    assert (
        "There is no role 'nobody'"
        in airflow.run_cli("ingest", "fab-permissions", "--role", "nobody", check=False).stderr
    )
    for user in ("viewer", "user", "admin"):
        page = table(airflow, RUNS_TABLE, user).text
        assert all(f"{slug}.csv" in page for slug in runs), user
    assert airflow.get("/api/v2/plugins", "viewer").status_code == 200


def test_the_tables_show_what_may_be_read_and_change_nothing(fab: Fab) -> None:
    airflow, runs = fab
    page = table(airflow, RUNS_TABLE, "products_only").text
    assert "products.csv" in page
    assert "customers.csv" not in page
    assert "gone.csv" not in page
    filtered = table(airflow, f"{ROWS_TABLE}?_flt_0_run_id={runs['customers']}", "products_only").text
    assert "The given data was invalid." not in filtered
    rows = table(airflow, ROWS_TABLE, "products_only").text
    assert "The given data was invalid." in rows
    assert "{&#39;sku&#39;: &#39;" in rows, "the names of fields stand beside the run, and are shown with each row"
    for action in ("add", "show/1", "edit/1", "delete/1", "action/delete/1"):
        assert table(airflow, f"/pluginsv2/ingest-runs/{action}", "admin").status_code == 404
