"""Everything that an importer can say, in real runs: what it says reaches the database, the API and the handlers."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.workshop.rows import FINE, ROWS, WRONG
from tests.e2e.workshop.workshop_tables import Workshop

API = "/api/v1/ingest"
WORKSHOP = Path(__file__).parent / "workshop"

STOCK_FILE = """store,sku,amount,changed_on
N,a,1,2026-01-05
N,b,2,2026-01-05
N,a,3,2026-01-04
S,a,4,2026-01-05
N,b,5,2026-01-06
N,c,6,2026-01-01
N,a,7,2026-01-09
"""
"""Seven rows in chunks of two; the key (N, a) is in three of them, (N, b) in two."""


@pytest.fixture(scope="module")
def workshop(airflow: AirflowServer, postgres_server: str) -> Iterator[sa.Engine]:
    """The workshop's importers, and its empty tables in PostgreSQL behind the connection ``workshop_db``."""
    engine = sa.create_engine(postgres_server.replace("postgresql://", "postgresql+psycopg://"))
    Workshop.metadata.drop_all(engine)
    Workshop.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO makers (code) VALUES ('M1')"))
    url = engine.url
    body = {
        "connection_id": "workshop_db",
        "conn_type": "postgres",
        "host": url.host or url.query.get("host"),
        "login": url.username,
        "password": url.password,
        "port": url.port,
        "schema": url.database,
    }
    airflow.request("DELETE", "/api/v2/connections/workshop_db")
    assert airflow.post("/api/v2/connections", json=body).status_code == 201
    files = [Path(shutil.copy(file, airflow.home / "dags")) for file in WORKSHOP.glob("workshop_*.py")]
    deadline = time.monotonic() + 300
    while airflow.get(f"{API}/importers/workshop").status_code != 200:
        assert time.monotonic() < deadline, airflow.log_tail()
        time.sleep(0.3)
    yield engine
    for file in files:  # no other test's Airflow is to miss the database
        file.unlink()
    engine.dispose()


def start(airflow: AirflowServer, slug: str, file: str) -> dict[str, Any]:
    answer = airflow.post(f"{API}/trigger/{slug}", json={"payload": file})
    assert answer.status_code == 202, answer.text
    run: dict[str, Any] = answer.json()["data"]
    return run


def ended(airflow: AirflowServer, run: dict[str, Any]) -> dict[str, Any]:
    airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    shown: dict[str, Any] = airflow.get(f"{API}/{run['id']}").json()["data"]
    return shown


@pytest.fixture(scope="module")
def runs(airflow: AirflowServer, workshop: sa.Engine) -> dict[str, dict[str, Any]]:
    """All runs of this module, started at once and waited for together."""
    (airflow.home / "workshop-diary.jsonl").unlink(missing_ok=True)
    files = airflow.home / "files"
    (files / "workshop.json").write_text(json.dumps(ROWS))
    (files / "stock.csv").write_text(STOCK_FILE)
    (files / "misspelt.csv").write_text(STOCK_FILE.replace("store", "stroe", 1))
    started = {"workshop": start(airflow, "workshop", "workshop.json")}
    for slug in ("stock_update", "stock_skip", "stock_fail", "stock_newer"):
        content = STOCK_FILE.replace("changed_on", "day") if slug == "stock_newer" else STOCK_FILE
        (files / f"{slug}.csv").write_text(content.replace("N,", f"N{slug[6]},").replace("S,", f"S{slug[6]},"))
        started[slug] = start(airflow, slug, f"{slug}.csv")
    started["stock_unique"] = start(airflow, "stock_unique", "misspelt.csv")
    return {slug: ended(airflow, run) for slug, run in started.items()}


def query(engine: sa.Engine, statement: str) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text(statement))]


def row_of(runs: dict[str, dict[str, Any]], number: int) -> dict[str, Any]:
    return next(row for row in runs["workshop"]["rows"] if row["row_number"] == number)


def active_mappings(trace: dict[str, Any]) -> set[tuple[str | None, str]]:
    return {(one["field"], one["attribute"]) for one in trace["mappings"] if one["active"]}


@pytest.fixture
def diary(airflow: AirflowServer, runs: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What the event handler was told, in order."""
    return [json.loads(line) for line in (airflow.home / "workshop-diary.jsonl").read_text().splitlines()]


def test_the_run_counts_every_row(runs):
    progress = runs["workshop"]["progress"]
    assert runs["workshop"]["status"] == "completed_with_errors"
    assert (progress["total"], progress["created"], progress["failed"]) == (len(ROWS), len(FINE), len(WRONG))


def test_transformers_validators_and_conditions_make_the_records(runs, workshop):
    columns = (
        "title, slug, label, size, is_active, CAST(released AS text), stock, CAST(price AS text), contact, rating, "
        "CAST(seen_at AS text), city, initials, doubled, tracking, delivery, discount"
    )
    assert query(workshop, f"SELECT {columns} FROM articles ORDER BY sku") == [
        (
            *("Bench", "creme_brulee_2_kg", "Wald/A-1", "small", True, "2024-02-29", 0, "1234.56", "ada@example.com"),
            *(3, "2026-01-31 23:59:59", "Łódź", "AL", 42, "none", "post", 5),
        ),
        (
            *("Bench", None, "Heide/A-2", "small", True, "2024-02-29", 0, "1234.56", "ada@example.com"),
            *(3, "2026-01-31 23:59:59", "Łódź", "AL", 42, "DE-7", "bike", 15),
        ),
        (
            *("Bench", None, "Wald/A-3", "other", False, None, 13, "1234.56", ""),
            *(3, "2026-01-31 23:59:59", "Łódź", "", None, "none", "post", 5),
        ),
    ]


def test_relations_are_looked_up_and_missing_ones_made(runs, workshop):
    joined = "FROM articles JOIN brands ON brands.id = brand_id JOIN makers ON makers.id = maker_id ORDER BY sku"
    assert query(workshop, f"SELECT sku, brands.name, code {joined}") == [
        ("A-1", "Wald", "M1"),
        ("A-2", "Heide", "M1"),
        ("A-3", "Wald", "M1"),
    ]


def test_collections_are_written_two_levels_deep(runs, workshop):
    joined = "FROM articles a JOIN variants v ON article_id = a.id LEFT JOIN prices p ON variant_id = v.id"
    assert query(workshop, f"SELECT sku, color, finish, currency, amount {joined} ORDER BY 1, 2, 4") == [
        ("A-1", "raw", "plain", None, None),
        ("A-1", "red", "MATT", "EUR", 10),
        ("A-1", "red", "MATT", "USD", 12),
    ]


@pytest.mark.parametrize(
    ("number", "code", "field"),
    [(number, code, field) for number, (_, code, field) in enumerate(WRONG, start=len(FINE) + 1)],
    ids=[f"{code}-{field}" for _, code, field in WRONG],
)
def test_each_wrong_row_fails_alone_with_its_code_and_field(runs, number, code, field):
    row = row_of(runs, number)
    errors = row["errors"]
    assert (row["status"], errors["code"], list(errors["validation"] or ())) == (
        "failed",
        code,
        [field] if field else [],
    )


def test_what_the_database_refuses_is_told_without_sql_or_other_rows(runs):
    refused = [row_of(runs, number)["errors"] for number in range(len(ROWS) - 2, len(ROWS) + 1)]
    assert {errors["stage"] for errors in refused} == {"database"}
    assert [errors["message"] for errors in refused] == [
        'A record with the same slug exists already (slug is "creme_brulee_2_kg")',
        "The row does not satisfy the check price_is_sane",
        'No record in articles for replaces_id (replaces_id is "4711")',
    ]


def test_the_messages_of_validators_group_the_summary(airflow, runs):
    summary = airflow.get(f"{API}/{runs['workshop']['id']}/errors/summary").json()["data"]
    counts = {entry["message"]: entry["count"] for entry in summary["validation_summary"]}
    assert counts["sku: An SKU looks like A-1."] == 1
    assert counts["price: The price lies between 0 and 10,000."] == 1
    assert summary["total_failed_rows"] == len(WRONG)


def test_the_trace_tells_every_step_and_which_mappings_were_active(airflow, runs):
    trace = row_of(runs, 2)["trace"]
    assert trace["transformations"]["title"] == [
        {"step": "input", "value": "**Bench**"},
        {"step": "TrimTransformer", "value": "Bench"},
        {"step": "tidy", "value": "Bench"},
    ]
    assert {("code", "tracking"), ("courier", "delivery"), ("name", "title")} <= active_mappings(trace)
    assert not {("code", "tracking"), ("courier", "delivery")} & active_mappings(row_of(runs, 1)["trace"])
    told = airflow.run_cli("ingest", "explain", str(runs["workshop"]["id"]), "--row", "2").stdout
    assert all(word in told for word in ("TrimTransformer", "**Bench**", "DE-7", "courier"))
    assert "name → title" in told
    assert any(line.startswith("code → tracking when ") for line in told.splitlines())


def test_half_a_trace_is_recorded_where_half_is_asked_for(runs):
    steps, mappings = runs["stock_update"]["rows"][0]["trace"], runs["stock_skip"]["rows"][0]["trace"]
    assert steps["transformations"]["store"][-1]["step"] == "ConcatTransformer"
    assert not steps.get("mappings")
    assert {one["attribute"] for one in mappings["mappings"]} == {"store", "sku", "amount", "changed_on"}
    assert not mappings.get("transformations")


def test_handlers_are_told_of_everything_in_order(diary, runs):
    assert diary[0] == {
        "run": runs["workshop"]["id"],
        "status": "processing",
        "event": "before",
        "file": "workshop.json",
    }
    told = [entry for entry in diary if entry["event"] == "row"]
    assert [(entry["sku"], entry["title"], entry["price"]) for entry in told] == [
        (f"A-{number}", "Bench", "1234.56") for number in (1, 2, 3)
    ]
    errors = [(entry["row"], entry["code"]) for entry in diary if entry["event"] == "error"]
    assert sorted(errors) == [(number, code) for number, (_, code, _) in enumerate(WRONG, start=len(FINE) + 1)]
    stats = diary[-1].pop("stats")
    assert diary[-1] == {"run": runs["workshop"]["id"], "status": "completed_with_errors", "event": "after"}
    assert stats.pop("duration") > 0
    assert stats == {
        "total_rows": len(ROWS),
        "success_count": len(FINE),
        "failure_count": len(WRONG),
        "created_count": len(FINE),
        "updated_count": 0,
        "skipped_count": 0,
        "unprocessed_count": 0,
        "success_rate": round(100 * len(FINE) / len(ROWS), 2),
        "was_fully_successful": False,
    }


@pytest.mark.parametrize(
    ("slug", "amounts", "ends"),
    [
        ("stock_update", [7, 5, 6, 4], (4, 3, 0, 0)),
        ("stock_skip", [1, 2, 6, 4], (4, 0, 3, 0)),
        ("stock_fail", [1, 2, 6, 4], (4, 0, 0, 3)),
        ("stock_newer", [7, 5, 6, 4], (4, 2, 1, 0)),
    ],
)
def test_keys_that_cross_chunks_end_as_if_row_by_row(runs, workshop, slug, amounts, ends):
    run, letter = runs[slug], slug[6]
    stores = f"store IN ('N{letter}', 'S{letter}')"
    assert [n for (n,) in query(workshop, f"SELECT amount FROM stocks WHERE {stores} ORDER BY store, sku")] == amounts
    progress = run["progress"]
    assert tuple(progress[name] for name in ("created", "updated", "skipped", "failed")) == ends
    assert run["chunks"]["total"] > 3


def test_a_field_that_only_a_transformer_reads_ends_the_run_when_it_is_misspelt(runs, workshop):
    run = runs["stock_unique"]
    assert (run["status"], run["progress"]["processed"]) == ("failed", 0)
    assert 'The file lacks the field "store". Did you mean "stroe"?' in run["summary"]["error"]["message"]
