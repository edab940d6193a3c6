"""What importing costs: ``python -m tests.benchmarks.bench_imports [rounds]``.

Each measurement is a new process. Airflow's own names that a DAG file needs are imported before the clock starts, so
that only what is beyond them counts; the same file with plain DAGs of four tasks tells what Airflow itself takes.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import alternate, in_new_process, summary

IMPORTERS = 20
GOALS = {"import airflow_provider_ingest": 0.05, f"a DAG file with {IMPORTERS} importers": 0.5}

PREPARED = "from airflow.sdk import DAG, BaseOperator, Param, TriggerRule"
IMPORTERS_FILE = f"""
from airflow_provider_ingest import ingest_dag
from tests.benchmarks.orders_importer import orders_importer

for number in range({IMPORTERS}):
    globals()[f"dag_{{number}}"] = ingest_dag(f"orders_{{number}}", orders_importer())
"""
PLAIN_FILE = f"""
for number in range({IMPORTERS}):
    with DAG(f"plain_{{number}}", schedule=None) as dag:
        tasks = [BaseOperator(task_id=f"task_{{task}}") for task in range(4)]
        tasks[0] >> tasks[1] >> tasks[2] >> tasks[3]
    globals()[f"dag_{{number}}"] = dag
"""
TASK_FILE = """
from airflow_provider_ingest.operators import chunk, finish, plan, stage
from airflow_provider_ingest.storage import sql_store
"""
WAYS = {
    "import airflow_provider_ingest": ("", "import airflow_provider_ingest"),
    f"a DAG file with {IMPORTERS} importers": (PREPARED, IMPORTERS_FILE),
    f"a DAG file with {IMPORTERS} plain DAGs of four tasks": (PREPARED, PLAIN_FILE),
    "the modules of all tasks and the run store": (PREPARED, TASK_FILE),
    "Airflow's names that these need": ("", PREPARED),
}
TIMED = """
import json, sys, time
{before}
begun, spent, known = time.perf_counter(), time.process_time(), len(sys.modules)
{code}
print(json.dumps({{"seconds": time.perf_counter() - begun, "cpu": time.process_time() - spent,
                   "modules": len(sys.modules) - known, "rows": 1}}))
"""


def measure(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Medians of each way."""
    ways = {}
    for number, (name, (before, code)) in enumerate(WAYS.items()):
        file = folder / f"file_{number}.py"
        file.write_text(TIMED.format(before=before, code=code))
        ways[name] = partial(in_new_process, sys.executable, file)
    for work in ways.values():
        work()  # bytecode and the file system's cache
    return {name: summary(runs) for name, runs in alternate(ways, rounds).items()}


def table(figures: Figures) -> str:
    """As Markdown."""
    lines = ["| | ms | CPU ms | modules | goal |", "|---|---|---|---|---|"]
    for name, one in figures.items():
        goal = f"{1000 * GOALS[name]:.0f}" if name in GOALS else ""
        goal += " (missed)" if name in GOALS and one["seconds"] > GOALS[name] else ""
        lines.append(
            f"| {name} | {1000 * one['seconds']:.0f} | {1000 * one['cpu']:.0f} | {one['modules']:.0f} | {goal} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with TemporaryDirectory(prefix="bench-imports-") as folder:
        figures = measure(Path(folder), rounds)
    print(table(figures))
    print(f"kept in {record('imports', {'rounds': rounds}, figures)}")


if __name__ == "__main__":
    main()
