"""What the figures are to be, and whether they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.orders_work import CHUNKS, IMPORT, TWO, UPSERT
from tests.benchmarks.results import largest
from tests.benchmarks.whole_runs import beyond_own


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A limit for one figure.

    :param measure: ``ratio`` (times its rival), ``ours`` (of a rival: times this engine) and so on.
    :param is_least: the figure is to be at least this, not at most.
    """

    says: str
    benchmark: str
    figure: str
    measure: str
    limit: float
    unit: str = "×"
    is_least: bool = False

    @property
    def told(self) -> str:
        """``≤ 1.15 ×``."""
        return f"{'≥' if self.is_least else '≤'} {self.limit:g} {self.unit}"

    def is_kept(self, value: float) -> bool:
        """Whether a figure that is shown with two digits keeps the goal."""
        shown = round(value, 2)
        return shown >= self.limit if self.is_least else shown <= self.limit


def _peer(says: str, figure: str, limit: float) -> Goal:
    return Goal(says=says, benchmark="peers", figure=figure, measure="ours", limit=limit, is_least=True)


def _memory(says: str, benchmark: str, figure: str) -> Goal:
    return Goal(says=says, benchmark=benchmark, figure=figure, measure="megabytes", limit=400, unit="MB")


def _beyond(says: str, process: str) -> Goal:
    figure = f"10,000,000 rows: {process}"
    return Goal(says=says, benchmark="airflow", figure=figure, measure="beyond", limit=150, unit="MB")


ONE_COPY, PART_MERGE = "COPY of the clean rows", "COPY and MERGE by hand"
GOALS = (
    Goal(
        says=f"CSV into PostgreSQL in one process, beside {ONE_COPY}",
        benchmark="pipeline", figure=IMPORT, measure="ratio", limit=1.15,
    ),
    Goal(
        says=f"two chunks at a time on two cores, beside {ONE_COPY}",
        benchmark="pipeline", figure=TWO, measure="ratio", limit=1.0,
    ),
    Goal(
        says=f"upsert, half of the rows there, beside {PART_MERGE}",
        benchmark="pipeline", figure=UPSERT, measure="ratio", limit=1.2,
    ),
    _peer("a loop over the csv module, executemany, beside this engine", "csv loop, executemany", 4),
    _peer("a loop over the csv module, COPY row by row, beside this engine", "csv loop, COPY row by row", 4),
    _peer("dlt, rows, COPY, beside this engine", "dlt, rows, COPY", 15),
    _peer("dlt, rows, INSERT, beside this engine", "dlt, rows, INSERT", 15),
    _peer("dlt, Arrow of this engine's transform, ADBC, beside this engine", "dlt, Arrow of this engine, ADBC", 1.5),
    _peer("django-import-export in bulk, beside this engine", "django-import-export, bulk", 19),
    Goal(
        says="the work of 10,000,000 rows, beside that of 1,000,000",
        benchmark="growth", figure=f"{CHUNKS}, 10,000,000 rows", measure="ratio", limit=10.5,
    ),
    _memory("memory of a chunk of 1,000,000 rows", "pipeline", IMPORT),
    _memory("memory of ten such chunks in one process", "growth", f"{CHUNKS}, 10,000,000 rows"),
    Goal(
        says="PostgreSQL target alone: upsert, half there, beside COPY and MERGE",
        benchmark="targets", figure="PostgreSQL: upsert, half there", measure="ratio", limit=1.2,
    ),
    Goal(
        says="SQLite target alone, beside `.import`",
        benchmark="targets", figure="SQLite: insert", measure="ratio", limit=1.5,
    ),
    Goal(
        says="`log_rows=\"all\"`, beside no row log",
        benchmark="row_logs", figure="all rows", measure="ratio", limit=2,
    ),
    Goal(
        says="1,000,000 failed rows, all logged, beside a run without a log",
        benchmark="row_logs", figure="every row fails, all logged", measure="ratio", limit=2,
    ),
    Goal(
        says="whole Airflow: 1,000 rows from POST to terminal status",
        benchmark="airflow", figure="1,000 rows", measure="seconds", limit=6, unit="s",
    ),
    Goal(
        says="whole Airflow: a run of 10,000,000 rows, beside one of 1,000,000",
        benchmark="airflow", figure="10,000,000 rows", measure="growth", limit=10.5,
    ),
    _beyond("whole Airflow, 10,000,000 rows: memory of the planner beyond Airflow's own", "plan"),
    _beyond("whole Airflow, 10,000,000 rows: memory of finish beyond Airflow's own", "finish"),
    _beyond("whole Airflow, 10,000,000 rows: memory of the API server beyond Airflow's own", "api_server"),
    Goal(
        says="a thousand chunks: highest age of the scheduler's heartbeat",
        benchmark="many_chunks", figure="age of the scheduler's heartbeat", measure="highest", limit=30, unit="s",
    ),
    Goal(
        says="`import airflow_provider_ingest`",
        benchmark="imports", figure="import airflow_provider_ingest", measure="seconds", limit=0.05, unit="s",
    ),
    Goal(
        says="a DAG file with 20 importers, beyond Airflow's import",
        benchmark="imports", figure="a DAG file with 20 importers", measure="seconds", limit=0.5, unit="s",
    ),
)  # fmt: skip


def goal_of(benchmark: str, figure: str, measure: str = "ratio") -> Goal | None:
    """The goal of one figure, if it has one."""
    wanted = (benchmark, figure, measure)
    return next((one for one in GOALS if (one.benchmark, one.figure, one.measure) == wanted), None)


def _found(entry: Mapping[str, Any], goal: Goal) -> float | None:
    ours, rivals = entry["figures"], entry["rivals"]
    derived = beyond_own(ours, rivals) if goal.benchmark == "airflow" else {}
    found = [one.get(goal.figure, {}).get(goal.measure) for one in (ours, rivals, derived)]
    return next((value for value in found if value is not None), None)


def goals_table(entries: Iterable[Mapping[str, Any]]) -> str:
    """Goals beside figures, as Markdown."""
    kept = list(entries)
    lines = ["| | goal | measured | |", "|---|---|---|---|"]
    for goal in GOALS:
        entry = largest(kept, goal.benchmark)
        value = _found(entry, goal) if entry else None
        if value is None:
            lines.append(f"| {goal.says} | {goal.told} | not measured | |")
            continue
        shown = f"{value:,.0f}" if goal.unit == "MB" else f"{value:.3f}" if value < 0.5 else f"{value:.2f}"
        lines.append(
            f"| {goal.says} | {goal.told} | {shown} {goal.unit} | {'kept' if goal.is_kept(value) else '**missed**'} |"
        )
    return "\n".join(lines)
