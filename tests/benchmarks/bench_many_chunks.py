"""A run of 1,000 chunks through a whole Airflow.

    python -m tests.benchmarks.bench_many_chunks [chunks] [NAME=VALUE ...]

Twenty rows a chunk, so that nearly all that is measured is what a chunk costs Airflow and us beside its rows. The
scheduler falls behind where its loops grow long or its heartbeat old: both are told, beside those of an idle
Airflow. ``NAME=VALUE`` are environment variables of Airflow, to measure what a setting changes.
"""

from __future__ import annotations

import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.benchmarks.airflow_at_work import AirflowAtWork, airflow_at_work
from tests.benchmarks.bench_airflow import WholeRun, whole_run
from tests.benchmarks.dataset import FOLDER, make_dataset
from tests.benchmarks.results import record

ROWS = 20
TIMINGS = (
    "scheduler.scheduler_loop_duration",
    "scheduler.critical_section_duration",
    "scheduler.executor_heartbeat_duration",
)


class Timings:
    """Receives Airflow's StatsD timings and asks for the scheduler's heartbeat while the block runs."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.5)
        self.found: dict[str, list[float]] = defaultdict(list)

    @property
    def settings(self) -> dict[str, str]:
        """What sends Airflow's timings here."""
        return {
            "AIRFLOW__METRICS__STATSD_ON": "True",
            "AIRFLOW__METRICS__STATSD_PORT": str(self.socket.getsockname()[1]),
            "AIRFLOW__METRICS__METRICS_ALLOW_LIST": "scheduler",
        }

    def watch(self, work: AirflowAtWork) -> Self:
        """Watch this one."""
        self.work = work
        return self

    def __enter__(self) -> Self:
        self.found.clear()
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._receive, self._ask)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def table(self) -> str:
        """Median, 95th percentile and highest of each, in seconds."""
        lines = ["| seconds | median | 95 % | highest |", "|---|---|---|---|"]
        for name, values in sorted(self.found.items()):
            ordered = sorted(values)
            median, high = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
            lines.append(f"| {name} ({len(ordered)} ×) | {median:.2f} | {high:.2f} | {ordered[-1]:.2f} |")
        return "\n".join(lines)

    def _receive(self) -> None:
        while not self._stopped.is_set():
            try:
                lines = self.socket.recv(1 << 16).decode().splitlines()
            except TimeoutError:
                continue
            for line in lines:
                name, _, value = line.partition(":")
                for wanted in TIMINGS:
                    if wanted in name and value.endswith("|ms"):
                        self.found[wanted].append(float(value.removesuffix("|ms")) / 1000)

    def _ask(self) -> None:
        while not self._stopped.wait(2):
            begun = time.perf_counter()
            health = self.work.airflow.get("/api/v2/monitor/health").json()
            self.found["answer of the API server"].append(time.perf_counter() - begun)
            beat = datetime.fromisoformat(health["scheduler"]["latest_scheduler_heartbeat"])
            self.found["age of the scheduler's heartbeat"].append((datetime.now(UTC) - beat).total_seconds())


def told(run: WholeRun) -> str:
    """What a chunk cost."""
    mapped = [task for task in run.tasks if task.task == "chunk"]
    took = [(task.ended - task.started).total_seconds() for task in mapped]
    from_first = (max(t.ended for t in mapped) - min(t.started for t in mapped)).total_seconds()
    plan = next(task for task in run.tasks if task.task == "plan")
    finish = next(task for task in run.tasks if task.task == "finish")
    gap = (min(t.started for t in mapped) - plan.ended).total_seconds()
    last = (finish.started - max(t.ended for t in mapped)).total_seconds()
    count = run.chunks
    return (
        f"{count:,} chunks: {run.seconds:.1f} s from POST to terminal status, {run.seconds / count:.3f} s a chunk; "
        f"CPU a chunk: Airflow with its tasks {run.airflow_cpu / count:.2f} s, "
        f"PostgreSQL {run.database_cpu / count:.3f} s.\n"
        f"From plan to the first chunk {gap:.1f} s, all chunks {from_first:.1f} s, "
        f"from the last one to finish {last:.1f} s, "
        f"finish {(finish.ended - finish.started).total_seconds():.1f} s. A task of a chunk takes "
        f"{statistics.median(took):.2f} s (highest {max(took):.2f} s).\n"
        f"Peak MB: {', '.join(f'{name} {peak:.0f}' for name, peak in run.peaks.items())}."
    )


def figures_of(run: WholeRun, busy: Timings) -> dict[str, dict[str, float]]:
    """What is kept: a chunk's price, and how the scheduler was beside them."""
    price = {
        "seconds": run.seconds,
        "cpu": run.airflow_cpu / run.chunks,
        "server_cpu": run.database_cpu / run.chunks,
    }
    timings = {name: {"median": statistics.median(each), "highest": max(each)} for name, each in busy.found.items()}
    return {"a run": price, **timings, **{name: {"megabytes": peak} for name, peak in run.peaks.items()}}


def main() -> None:
    """Measure, print and keep."""
    settings = dict(text.split("=", 1) for text in sys.argv[1:] if "=" in text)
    plain = [text for text in sys.argv[1:] if "=" not in text]
    data = make_dataset(FOLDER, ROWS * (int(plain[0]) if plain else 1_000))
    timings = Timings()
    with (
        tempfile.TemporaryDirectory(prefix="bench-chunks-") as folder,
        airflow_at_work(Path(folder), chunk_sizes=(ROWS,), settings={**timings.settings, **settings}) as work,
    ):
        work.run_trivial_dag()
        with timings.watch(work):
            time.sleep(30)
        print("Idle:", timings.table(), sep="\n\n", flush=True)
        with timings.watch(work):
            run = whole_run(work, data, f"orders_{ROWS}")
        print("", told(run), f"{os.cpu_count()} cores.", timings.table(), sep="\n\n")
        print(f"\nkept in {record('many_chunks', {'chunks': run.chunks, **settings}, figures_of(run, timings))}")


if __name__ == "__main__":
    main()
