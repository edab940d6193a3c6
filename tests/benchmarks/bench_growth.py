"""Ten times the rows beside as they are: planning, the work in chunks of 1,000,000 rows, and COPY of the clean rows.

``python -m tests.benchmarks.bench_growth [rows] [rounds]``. Each measurement is a process of its own; the chunks are
worked one after the other, as one slot of a worker does.
"""

from __future__ import annotations

import sys
from functools import partial

from tests.benchmarks.bench_pipeline import COPY, by_hand
from tests.benchmarks.dataset import FOLDER, make_dataset
from tests.benchmarks.orders_database import OrdersDatabase, copy_clean, orders_database
from tests.benchmarks.orders_work import CHUNKS, PLAN
from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import Measurement, Results, alternate, in_new_process, sizes, summary, times

TIMES = 10
WAYS = (PLAN, CHUNKS, COPY)


def measure(database: OrdersDatabase, rows: int, rounds: int) -> Results:
    """Both sizes in turn."""

    def one(way: str, count: int) -> Measurement:
        database.empty()
        if way == COPY:
            return database.measured(partial(by_hand, copy_clean, database.dsn, make_dataset(FOLDER, count)))
        ours = partial(
            in_new_process, sys.executable, "-m", "tests.benchmarks.orders_work", way, database.dsn, str(count)
        )
        return database.measured(ours)

    for count in (rows, rows * TIMES):
        make_dataset(FOLDER, count)
    ways = {f"{way}, {count:,} rows": partial(one, way, count) for count in (rows, rows * TIMES) for way in WAYS}
    return alternate(ways, rounds)


def figures_of(results: Results, rows: int) -> tuple[Figures, Figures]:
    """The larger size, with its ratio to the smaller one, and that."""
    ours, smaller = {}, {}
    for way in WAYS:
        few, many = f"{way}, {rows:,} rows", f"{way}, {rows * TIMES:,} rows"
        smaller[few] = summary(results[few])
        ours[many] = {**summary(results[many]), "ratio": TIMES * times(results[many], results[few], "seconds")}
    return ours, smaller


def table(ours: Figures, smaller: Figures) -> str:
    """As Markdown."""
    lines = [f"| | seconds | rows/s | × a {TIMES}th of the rows | peak MB |", "|---|---|---|---|---|"]
    for name, one in {**smaller, **ours}.items():
        ratio = f"{one['ratio']:.1f}" if "ratio" in one else ""
        seconds, speed = f"{one['seconds']:.2f}", f"{one['rows'] / one['seconds']:,.0f}"
        memory = f"{one['megabytes']:.0f}" if "megabytes" in one else ""
        lines.append(f"| {name} | {seconds} | {speed} | {ratio} | {memory} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    rows, rounds = sizes(rounds=3)
    with orders_database() as database:
        ours, smaller = figures_of(measure(database, rows, rounds), rows)
    print(table(ours, smaller))
    print(f"kept in {record('growth', {'rows': rows, 'rounds': rounds}, ours, smaller)}")


if __name__ == "__main__":
    main()
