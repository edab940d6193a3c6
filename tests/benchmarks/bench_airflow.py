"""Whole runs through Airflow as it is shipped: an upload by REST until the run's status is final.

    python -m tests.benchmarks.bench_airflow [rows,rows,...] [rounds] [NAME=VALUE ...]

LocalExecutor with Airflow's default configuration, PostgreSQL for metadata and target, all on this machine. Sizes
alternate within a round; ``10000000`` among the rows also tells ten million beside one. ``NAME=VALUE`` are
environment variables of Airflow, to measure what a setting changes. Peaks are the kernel's (VmHWM), beside the same
processes before any import; tasks are compared with a task that does nothing.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.benchmarks.airflow_at_work import AirflowAtWork, TaskTimes, airflow_at_work
from tests.benchmarks.dataset import FOLDER, Dataset, make_dataset
from tests.benchmarks.process_memory import PeakMemory
from tests.benchmarks.results import record

GOAL_SECONDS, GOAL_MB, GOAL_RATIO = 6.0, 150.0, 10.5
SERVICES = ("api_server", "scheduler", "dag-processor", "triggerer")
TASKS = ("stage", "plan", "chunk", "finish")


@dataclass(frozen=True, kw_only=True)
class WholeRun:
    """One run.

    :param seconds: from POST to terminal status.
    :param airflow_cpu: CPU seconds of all of Airflow's processes, tasks included.
    :param database_cpu: CPU seconds of PostgreSQL.
    :param peaks: highest megabytes by service and by task.
    """

    seconds: float
    airflow_cpu: float
    database_cpu: float
    chunks: int
    tasks: list[TaskTimes]
    begun: datetime
    peaks: dict[str, float]


def peaks_of(memory: PeakMemory, tasks: list[TaskTimes]) -> dict[str, float]:
    """Highest megabytes of each service, and of the processes of each kind of task."""
    by_task = {name: [task.key for task in tasks if task.task == name] for name in dict.fromkeys(t.task for t in tasks)}
    return {name: memory.of(name) for name in SERVICES} | {name: memory.of(*keys) for name, keys in by_task.items()}


def whole_run(work: AirflowAtWork, data: Dataset, slug: str = "orders") -> WholeRun:
    """Import the file into the empty table, and check that every row came out as it must."""
    work.empty_target()
    airflow, database = work.cpu()
    with PeakMemory(work.session) as memory:
        run, seconds = work.upload(slug, data.raw)
        work.airflow.wait_for_dag_run(run["dag_id"], run["dag_run_id"])
    check(run, data)
    tasks = work.task_times(run["dag_id"], run["dag_run_id"])
    airflow_after, database_after = work.cpu()
    return WholeRun(
        seconds=seconds,
        airflow_cpu=airflow_after - airflow,
        database_cpu=database_after - database,
        chunks=run["chunks"]["total"],
        tasks=tasks,
        begun=datetime.fromisoformat(run["started_at"]),
        peaks=peaks_of(memory, tasks),
    )


def check(run: dict[str, Any], data: Dataset) -> None:
    """Raise unless good rows were created and bad ones failed."""
    found = run["progress"]["created"], run["progress"]["failed"]
    if found != (data.rows - data.bad, data.bad):
        raise SystemExit(f"The run is wrong: {run['status']}, {run['progress']}, {run['summary']}")


def steps(run: WholeRun) -> str:
    """Where the seconds went: waiting for the scheduler and working, task by task (all chunks as one)."""
    told, before = [], run.begun
    for name in TASKS:
        mine = [task for task in run.tasks if task.task == name]
        if mine:
            started, ended = min(task.started for task in mine), max(task.ended for task in mine)
            waited, worked = (started - before).total_seconds(), (ended - started).total_seconds()
            told.append(f"{waited:.1f} + {name} {worked:.1f}")
            before = ended
    return ", ".join(told)


def times_table(runs: dict[int, list[WholeRun]]) -> str:
    """Medians by size."""
    lines = [
        "| rows | chunks | seconds | rows/s | CPU s of Airflow | CPU s of PostgreSQL | waiting + working, seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for rows, each in runs.items():
        seconds = statistics.median(run.seconds for run in each)
        cpu = statistics.median(run.airflow_cpu for run in each)
        database = statistics.median(run.database_cpu for run in each)
        middle = sorted(each, key=lambda run: run.seconds)[len(each) // 2]
        lines.append(
            f"| {rows:,} | {each[0].chunks} | {seconds:.1f} | {rows / seconds:,.0f} | {cpu:.1f} | {database:.1f} "
            f"| {steps(middle)} |"
        )
    return "\n".join(lines)


def memory_table(base: dict[str, float], runs: dict[int, list[WholeRun]]) -> str:
    """Peaks by size beyond those without an import; a task beside one that does nothing."""
    lines = ["| MB | Airflow's own |" + "".join(f" {rows:,} rows |" for rows in runs), "|---|---|" + "---|" * len(runs)]
    for name in (*SERVICES, *TASKS):
        own = base.get(name, base["trivial"])
        more = [max(run.peaks.get(name, 0) for run in each) - own for each in runs.values()]
        missed = " (above the goal)" if name != "chunk" and max(more) > GOAL_MB else ""
        lines.append(f"| {name}{missed} | {own:.0f} |" + "".join(f" +{max(each, 0):.0f} |" for each in more))
    return "\n".join(lines)


def figures_of(runs: dict[int, list[WholeRun]]) -> dict[str, dict[str, float]]:
    """Medians by size, and the highest memory of each kind of process."""
    found: dict[str, dict[str, float]] = {}
    for rows, each in runs.items():
        found[f"{rows:,} rows"] = {
            "seconds": statistics.median(run.seconds for run in each),
            "cpu": statistics.median(run.airflow_cpu for run in each),
            "server_cpu": statistics.median(run.database_cpu for run in each),
            "chunks": each[0].chunks,
        }
        for name in (*SERVICES, *TASKS):
            found[f"{rows:,} rows: {name}"] = {"megabytes": max(run.peaks.get(name, 0) for run in each)}
    return found


def main() -> None:
    """Measure, print and keep."""
    given = sys.argv[1:]
    settings = dict(text.split("=", 1) for text in given if "=" in text)
    plain = [text for text in given if "=" not in text]
    sizes = [int(text) for text in plain[0].split(",")] if plain else [1_000, 100_000, 1_000_000]
    rounds = int(plain[1]) if len(plain) > 1 else 5
    files = {rows: make_dataset(FOLDER, rows) for rows in sizes}
    runs: dict[int, list[WholeRun]] = {rows: [] for rows in sizes}
    with (
        tempfile.TemporaryDirectory(prefix="bench-airflow-") as folder,
        airflow_at_work(Path(folder), settings=settings) as work,
    ):
        work.run_trivial_dag()
        with PeakMemory(work.session) as memory:
            trivial = work.run_trivial_dag()
        base = peaks_of(memory, trivial)
        for _ in range(rounds):
            for rows, data in files.items():
                runs[rows].append(whole_run(work, data))
                print(f"{rows:,} rows: {runs[rows][-1].seconds:.1f} s", file=sys.stderr, flush=True)
    print(times_table(runs), memory_table(base, runs), sep="\n\n")
    own = {f"Airflow's own: {name}": {"megabytes": megabytes} for name, megabytes in base.items()}
    kept = record("airflow", {"rows": sizes, "rounds": rounds, **settings}, figures_of(runs), own)
    print(f"\nkept in {kept}")
    medians = {rows: statistics.median(run.seconds for run in each) for rows, each in runs.items()}
    if 1_000 in medians and medians[1_000] >= GOAL_SECONDS:
        print(f"\n1,000 rows: above {GOAL_SECONDS} s")
    if {1_000_000, 10_000_000} <= set(medians):
        ratio = medians[10_000_000] / medians[1_000_000]
        print(f"\n10 M rows beside 1 M: {ratio:.1f} x" + ("" if ratio <= GOAL_RATIO else f", above {GOAL_RATIO} x"))


if __name__ == "__main__":
    main()
