"""The whole work on a CSV file into PostgreSQL, against COPY of its clean rows into the same typed, keyed table.

Each measurement is a process of its own, so that memory and imports count; rivals alternate within one run.
``python -m tests.benchmarks.bench_pipeline [rows] [rounds]`` prints a Markdown table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from tests.benchmarks.dataset import FOLDER, Dataset, make_dataset
from tests.benchmarks.goals import goal_of
from tests.benchmarks.orders_database import (
    OrdersDatabase,
    copy_clean,
    copy_clean_halves,
    merge_clean,
    orders_database,
)
from tests.benchmarks.orders_work import COLD, DRY_RUN, IMPORT, TWO, UPSERT
from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import Measurement, Results, alternate, in_new_process, sizes, summary, timed, times

COPY, MERGE = "COPY of the clean rows", "COPY and MERGE by hand, half of the rows there"
HALVES = "COPY of their two halves at a time"
RIVALS = {HALVES: COPY, IMPORT: COPY, DRY_RUN: COPY, COLD: COPY, TWO: COPY, UPSERT: MERGE}


def by_hand(load: Callable[[str, Dataset], None], dsn: str, data: Dataset) -> Measurement:
    """A rival, in this process: it needs no imports worth the name."""
    return timed(partial(load, dsn, data), data.rows)


def measure(database: OrdersDatabase, rows: int, rounds: int) -> Results:
    """All ways in turn, ``rounds`` times, each into an empty or half-filled table, the outcome compared."""
    data = make_dataset(FOLDER, rows)
    database.empty()
    copy_clean(database.dsn, data)
    wanted = database.fingerprint()

    def one(prepare: Callable[[], None], work: Callable[[], Measurement], *, writes: bool = True) -> Measurement:
        prepare()
        told = database.measured(work)
        if writes and database.fingerprint() != wanted:
            raise SystemExit(f"The table holds {database.fingerprint()}, expected {wanted}.")
        return told

    def ours(way: str) -> Callable[[], Measurement]:
        return partial(in_new_process, sys.executable, "-m", "tests.benchmarks.orders_work", way, database.dsn, rows)

    half = partial(database.half_fill, data)
    ways = {COPY: partial(one, database.empty, partial(by_hand, copy_clean, database.dsn, data))}
    ways[HALVES] = partial(one, database.empty, partial(by_hand, copy_clean_halves, database.dsn, data))
    for way in (IMPORT, DRY_RUN, COLD, TWO):
        ways[way] = partial(one, database.empty, ours(way), writes=way != DRY_RUN)
    ways[MERGE] = partial(one, half, partial(by_hand, merge_clean, database.dsn, data))
    ways[UPSERT] = partial(one, half, ours(UPSERT))
    return alternate(ways, rounds)


def figures_of(results: Results) -> tuple[Figures, Figures]:
    """Ours and theirs: medians, and ratios round by round, in wall time and in the CPU time of process and server."""
    ours = {
        way: {
            **summary(results[way]),
            "ratio": times(results[way], results[rival], "seconds"),
            "cpu_ratio": times(results[way], results[rival], "cpu", "server_cpu"),
        }
        for way, rival in RIVALS.items()
    }
    return ours, {way: summary(results[way]) for way in (COPY, MERGE)}


def table(ours: Figures, rivals: Figures) -> str:
    """As Markdown."""
    lines = [
        "| | seconds | × its rival | goal | CPU × | rows/s | CPU s of process + server | peak MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    everything = {COPY: rivals[COPY], **{w: ours[w] for w in ours if w != UPSERT}, MERGE: rivals[MERGE]}
    for way, one in {**everything, UPSERT: ours[UPSERT]}.items():
        goal = goal_of("pipeline", way)
        ratios = f"{one.get('ratio', 1):.2f} | {goal.told if goal else ''} | {one.get('cpu_ratio', 1):.2f}"
        memory = f"{one['megabytes']:,.0f}" if "megabytes" in one else ""
        lines.append(
            f"| {way} | {one['seconds']:.2f} | {ratios} | {one['rows'] / one['seconds']:,.0f} | "
            f"{one['cpu']:.2f} + {one['server_cpu']:.2f} | {memory} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    rows, rounds = sizes()
    with orders_database() as database:
        ours, rivals = figures_of(measure(database, rows, rounds))
    print(table(ours, rivals))
    print(f"kept in {record('pipeline', {'rows': rows, 'rounds': rounds}, ours, rivals)}")


if __name__ == "__main__":
    main()
