"""The same work by other tools: ``python -m tests.benchmarks.bench_peers [rows] [rounds] [peer ...]``.

Each peer reads, transforms and checks the CSV file of :mod:`tests.benchmarks.dataset`, loads the good rows into the
same typed, keyed table of PostgreSQL and collects the bad ones. Whether the table then holds the same is checked after
every run. Each measurement is a new process, warmed by a file of 2,000 rows; imports are told apart. Slow peers work a
tenth or a fifth of the rows, and times are compared per row. The peers live in an environment of their own:
``scripts/peers-environment``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.benchmarks.bench_pipeline import COPY, by_hand
from tests.benchmarks.dataset import FOLDER, Dataset, make_dataset
from tests.benchmarks.goals import goal_of
from tests.benchmarks.orders_database import OrdersDatabase, copy_clean, orders_database
from tests.benchmarks.orders_work import IMPORT, WARM_UP_ROWS
from tests.benchmarks.results import ROOT, Figures, record
from tests.benchmarks.rounds import Measurement, Results, alternate, in_new_process, sizes, summary, times

PEERS_VENV = ROOT / (os.environ.get("INGEST_PEERS_VENV") or ".venv-peers")
RUN = Path(__file__).parent / "peers" / "run.py"
LEAST_ROWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A tool in one of its modes.

    :param module: in ``tests/benchmarks/peers``.
    :param way: a function of it.
    :param share: of the rows that it works, since it would take too long over all.
    """

    name: str
    module: str
    way: str
    share: float = 1.0

    def rows(self, rows: int) -> int:
        """How many rows it works when the others work so many."""
        return min(rows, max(round(rows * self.share), LEAST_ROWS))


PEERS = (
    Peer(name="csv loop, COPY row by row", module="csv_loop", way="copy"),
    Peer(name="csv loop, executemany", module="csv_loop", way="executemany", share=0.2),
    Peer(name="dlt, Arrow of this engine, ADBC", module="dlt_orders", way="engine_adbc"),
    Peer(name="dlt, Arrow of hand-written Polars, ADBC", module="dlt_orders", way="polars_adbc"),
    Peer(name="dlt, Arrow of hand-written Polars, COPY", module="dlt_orders", way="polars_csv"),
    Peer(name="dlt, rows, COPY", module="dlt_orders", way="rows_csv", share=0.1),
    Peer(name="dlt, rows, INSERT", module="dlt_orders", way="rows_insert", share=0.1),
    Peer(name="pandas, to_sql with COPY", module="pandas_orders", way="to_sql_copy", share=0.2),
    Peer(name="pandas, to_sql", module="pandas_orders", way="to_sql", share=0.2),
    Peer(name="petl, todb", module="petl_orders", way="todb", share=0.2),
    Peer(name="frictionless, row stream, executemany", module="frictionless_orders", way="row_stream", share=0.1),
    Peer(name="django-import-export, bulk", module="django_orders", way="bulk", share=0.1),
)


def checked(
    database: OrdersDatabase, work: Callable[[], Measurement], data: Dataset, wanted: tuple[object, ...]
) -> Measurement:
    """One measurement into the empty table, the outcome compared with what COPY of the good rows gives."""
    database.empty()
    told = {**database.measured(work), "rows": data.rows}
    if (database.fingerprint(), told.pop("bad", data.bad)) != (wanted, data.bad):
        raise SystemExit(
            f"The table holds {database.fingerprint()}, expected {wanted}, and {data.bad} bad rows: {told}"
        )
    return told


def measure(database: OrdersDatabase, rows: int, rounds: int, peers: list[Peer]) -> Results:
    """COPY, this engine and the peers in turn, ``rounds`` times."""
    small = make_dataset(FOLDER, WARM_UP_ROWS)
    files = {size: make_dataset(FOLDER, size) for size in {rows, *(peer.rows(rows) for peer in peers)}}
    wanted = {}
    for size, data in files.items():
        database.empty()
        copy_clean(database.dsn, data)
        wanted[size] = database.fingerprint()

    def one(work: Callable[[], Measurement], size: int) -> Callable[[], Measurement]:
        return partial(checked, database, work, files[size], wanted[size])

    ours = partial(in_new_process, sys.executable, "-m", "tests.benchmarks.orders_work", IMPORT, database.dsn, rows)
    ways = {COPY: one(partial(by_hand, copy_clean, database.dsn, files[rows]), rows), IMPORT: one(ours, rows)}
    for peer in peers:
        file = files[peer.rows(rows)].raw
        work = partial(
            in_new_process, PEERS_VENV / "bin" / "python", RUN, peer.module, peer.way, database.dsn, small.raw, file
        )
        ways[peer.name] = one(work, peer.rows(rows))
    return alternate(ways, rounds)


def figures_of(results: Results) -> tuple[Figures, Figures]:
    """Ours and theirs: ``ratio`` is to COPY, ``ours`` to this engine, per row; CPU is that of process and server."""
    both = {}
    for name, runs in results.items():
        found = {**summary(runs), "ratio": times(runs, results[COPY], "seconds")}
        if name not in (COPY, IMPORT):
            found["ours"] = times(runs, results[IMPORT], "seconds")
            found["cpu_ours"] = times(runs, results[IMPORT], "cpu", "server_cpu")
        both[name] = found
    return {IMPORT: both.pop(IMPORT)}, both


def table(ours: Figures, rivals: Figures) -> str:
    """As Markdown, the quickest first."""
    lines = [
        "| | rows | rows/s | × COPY | × this engine | goal | CPU × this engine | peak MB | imports, s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted({**rivals, **ours}.items(), key=lambda item: item[1]["ratio"]):
        goal = goal_of("peers", name, "ours")
        cells = [
            "this engine" if name == IMPORT else name,
            f"{one['rows']:,.0f}",
            f"{one['rows'] / one['seconds']:,.0f}",
            f"{one['ratio']:.2f}",
            f"{one['ours']:.1f}" if "ours" in one else "",
            goal.told if goal else "",
            f"{one['cpu_ours']:.1f}" if "cpu_ours" in one else "",
            f"{one['megabytes']:,.0f}" if "megabytes" in one else "",
            f"{one['imports']:.1f}" if "imports" in one else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    rows, rounds = sizes()
    asked = sys.argv[3:]
    peers = [peer for peer in PEERS if not asked or any(word in (peer.module, peer.way) for word in asked)]
    if not (PEERS_VENV / "bin" / "python").exists():
        raise SystemExit(f"There is no {PEERS_VENV}: scripts/peers-environment makes it.")
    with orders_database() as database:
        ours, rivals = figures_of(measure(database, rows, rounds, peers))
    print(table(ours, rivals))
    if not asked:  # a part of the peers would look like a whole run
        print(f"kept in {record('peers', {'rows': rows, 'rounds': rounds}, ours, rivals)}")


if __name__ == "__main__":
    main()
