"""The capacity model of docs/explanation/capacity.md, against a simulation and against what was measured.

    python -m tests.benchmarks.bench_capacity

The formula says what limits a cluster. The simulation works each chunk through dispatch, start and work on shared
cores, in steps of 10 ms, and knows nothing of the formula.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, replace

STEP = 0.01


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Prices of one kind of import, in CPU seconds, and the cores that pay them.

    The prices are those of docs/benchmarks.md and docs/explanation/capacity.md; measure your own.

    :param dispatch: of scheduler, API server and metadata database for a task.
    :param start: of a worker for a task: process, imports, connections.
    :param work: of a worker for a million rows.
    :param write: of the target database for a million rows.
    :param together: everything runs on the cores of the workers, as in the benchmarks.
    """

    slots: int
    worker_cores: float
    target_cores: float = 4
    control_cores: float = 2
    dispatch: float = 0.2
    start: float = 0.9
    work: float = 1.3
    write: float = 1.1
    together: bool = False


@dataclass
class Chunk:
    """What a chunk still needs."""

    dispatch: float
    start: float
    work: float
    write: float


def simulate(cluster: Cluster, chunks: int, rows: int, spread: float = 0.3) -> float:
    """Seconds until all chunks are worked.

    :param spread: by how much a chunk's prices differ from the others'; with none all slots would march in step.
    """
    millions = rows / 1e6
    one = (cluster.dispatch, cluster.start, cluster.work * millions, cluster.write * millions)
    chance = random.Random(1)
    waiting = deque(Chunk(*(price * chance.uniform(1 - spread, 1 + spread) for price in one)) for _ in range(chunks))
    slots: list[Chunk] = []
    seconds = 0.0
    while waiting or slots:
        while waiting and len(slots) < cluster.slots:
            slots.append(waiting.popleft())
        control = [chunk for chunk in slots if chunk.dispatch > 0]
        starting = [chunk for chunk in slots if chunk.dispatch <= 0 < chunk.start]
        working = [chunk for chunk in slots if chunk.dispatch <= 0 and chunk.start <= 0]
        sending = [chunk for chunk in working if chunk.write > 0]
        computing = [chunk for chunk in working if chunk.work > 0]
        shares = (
            (control, "dispatch", cluster.control_cores),
            (starting, "start", cluster.worker_cores),
            (computing, "work", cluster.worker_cores),
            (sending, "write", cluster.target_cores),
        )
        on_workers = len(starting) + len(computing) + (len(sending) + len(control) if cluster.together else 0)
        for group, name, cores in shares:
            is_here = cluster.together or name in ("start", "work")
            share = min(
                1.0, (cluster.worker_cores if is_here else cores) / max(on_workers if is_here else len(group), 1)
            )
            for chunk in group:
                setattr(chunk, name, getattr(chunk, name) - share * STEP)
        slots = [chunk for chunk in slots if chunk.start > 0 or chunk.work > 0 or chunk.write > 0]
        seconds += STEP
    return seconds


def limits(cluster: Cluster, rows: int) -> dict[str, float]:
    """Rows per second that each part allows with chunks of so many rows; the smallest is the cluster's."""
    millions = rows / 1e6
    longest = max(cluster.work, cluster.write) * millions
    return {
        "slots": cluster.slots * rows / (cluster.dispatch + cluster.start + longest),
        "worker cores": cluster.worker_cores * rows / (cluster.start + cluster.work * millions),
        "target database": cluster.target_cores * 1e6 / cluster.write,
        "control plane": cluster.control_cores * rows / cluster.dispatch,
    }


def main() -> None:
    here = Cluster(slots=1, worker_cores=2, together=True, dispatch=0)
    print("against what was measured on two cores (docs/benchmarks.md), seconds:")
    for what, cluster, chunks, rows, measured in (
        ("1 M rows, one chunk, new process", here, 1, 1_000_000, 2.23),
        ("1 M rows, one chunk, started before", replace(here, start=0), 1, 1_000_000, 1.53),
        ("1 M rows, two chunks at a time, started", replace(here, start=0, slots=2), 2, 500_000, 1.62),
        (
            "100 empty chunks on 4 slots (fitted)",
            Cluster(slots=4, worker_cores=2, together=True, start=0.14, work=0, write=0),
            100,
            1,
            17.0,
        ),
        ("953 chunks of 21 rows, 16 at a time", replace(here, slots=16, dispatch=0.2), 953, 21, 533.0),
        ("10 M rows, 20 chunks, 16 at a time", replace(here, slots=16, dispatch=0.2), 20, 500_000, 47.8),
    ):
        said = simulate(cluster, chunks, rows, spread=0)
        print(f"  {what:39} measured {measured:6.2f}  simulated {said:6.2f}  ratio {said / measured:4.2f}")
    print("formula against simulation, rows/s, chunks of 500,000 rows, target of 4 cores, 1,000 chunks:")
    for slots in (1, 2, 4, 8, 16, 32, 64):
        cluster = Cluster(slots=slots, worker_cores=slots)
        by_part = limits(cluster, 500_000)
        part = min(by_part, key=lambda name: by_part[name])
        said = 1_000 * 500_000 / simulate(cluster, 1_000, 500_000)
        print(f"  {slots:3} slots  {by_part[part]:12,.0f} ({part})  simulated {said:12,.0f}")
    print("what a billion rows takes, chunks of 500,000 rows:")
    for slots, cores in ((1, 1), (2, 2), (4, 4), (8, 8), (16, 16)):
        cluster = Cluster(slots=slots, worker_cores=slots, target_cores=cores)
        print(
            f"  {slots:3} slots, {cores:2} cores of the target: {simulate(cluster, 2_000, 500_000) / 3600:5.2f} hours"
        )


if __name__ == "__main__":
    main()
