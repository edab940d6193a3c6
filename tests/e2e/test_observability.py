"""What a run tells to a StatsD server and to the logs of its tasks, in a real Airflow."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import BAD, GOOD, HEADER, upload

TAGS = ",importer=products,dry_run=true"
SECRET = "Quite-Unmistakable"


@pytest.fixture(scope="module")
def statsd(airflow: AirflowServer) -> Iterator[socket.socket]:
    """Where the tests' Airflow sends its metrics."""
    with socket.socket(type=socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", int(airflow.environment["AIRFLOW__METRICS__STATSD_PORT"])))
        listener.settimeout(0.2)
        yield listener


@pytest.fixture(scope="module")
def told(airflow: AirflowServer, statsd: socket.socket) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """A dry run of three rows of which two fail, and the metrics that came: ``{name: (value, kind)}``."""
    rows = HEADER + GOOD + BAD.replace("=Saw", SECRET) + BAD.replace("nonsense", SECRET)
    run = upload(airflow, rows, data={"dry_run": "1"})
    airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    return airflow.get(f"/api/v1/ingest/{run['id']}").json()["data"], metrics(statsd, "ingest.run_seconds")


def metrics(statsd: socket.socket, last: str, seconds: float = 20) -> dict[str, tuple[str, str]]:
    """The metrics about dry runs of products, up to the one with this name."""
    found: dict[str, tuple[str, str]] = {}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not any(name.startswith(last) for name in found):
        try:
            packet = statsd.recv(65536).decode()
        except TimeoutError:
            continue
        for line in packet.splitlines():
            name, _, rest = line.removeprefix("airflow.").rpartition(":")
            if TAGS in name:
                value, _, kind = rest.partition("|")
                found[name] = (value, kind)
    return found


def test_a_run_sends_its_rows_and_times_tagged_by_importer(told) -> None:
    run, sent = told
    assert run["progress"] | {"successful": 1, "failed": 2, "processed": 3} == run["progress"]
    assert sent[f"ingest.rows{TAGS}"] == ("3", "c")
    assert sent[f"ingest.failed_rows{TAGS}"] == ("2", "c")
    for name in (f"ingest.chunk_seconds{TAGS}", f"ingest.run_seconds{TAGS},status=completed_with_errors"):
        value, kind = sent[name]
        assert kind == "ms"
        assert float(value) >= 0
    milliseconds = float(sent[f"ingest.run_seconds{TAGS},status=completed_with_errors"][0])
    assert milliseconds / 1000 == pytest.approx(run["summary"]["duration_seconds"], abs=5)


def test_the_lines_of_the_tasks_carry_the_ids_and_no_row_values(airflow: AirflowServer, told) -> None:
    run, _ = told
    for task, map_index, ids in (
        ("stage", -1, {}),
        ("plan", -1, {}),
        ("chunk", 0, {"chunk": 0}),
        ("finish", -1, {}),
    ):
        path = f"/api/v2/dags/{run['dag_id']}/dagRuns/{run['dag_run_id']}/taskInstances/{task}/logs/1"
        answer = airflow.get(path, params={"map_index": map_index}, headers={"Accept": "application/json"})
        lines = answer.json()["content"]
        ours = [line for line in lines if line.get("ingest_run") == run["id"] and line.get("importer") == "products"]
        assert ours, (task, lines)
        assert any(ids.items() <= line.items() for line in ours), (task, ours)
        assert SECRET not in json.dumps(lines)
