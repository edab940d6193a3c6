"""Measurements that take turns, and what is made of them.

A measurement is a dictionary: ``seconds`` and ``rows``, and where they are known ``cpu`` (seconds of the process),
``server_cpu`` (of the database), ``megabytes`` (the peak) and whatever else was timed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

Measurement = Mapping[str, float]
Results = dict[str, list[Measurement]]


def sizes(rows: int = 1_000_000, rounds: int = 5) -> tuple[int, int]:
    """Rows and rounds as the command line names them, or else the environment, or else these."""
    given = sys.argv[1:3]
    asked_rows = given[0] if given else os.environ.get("INGEST_BENCH_ROWS", str(rows))
    asked_rounds = given[1] if len(given) > 1 else os.environ.get("INGEST_BENCH_ROUNDS", str(rounds))
    return int(asked_rows), int(asked_rounds)


def alternate(ways: Mapping[str, Callable[[], Measurement]], rounds: int) -> Results:
    """All ways in turn, ``rounds`` times, so that the machine's moods are shared."""
    results: Results = {way: [] for way in ways}
    for number in range(1, rounds + 1):
        for way, measure in ways.items():
            measured = measure()
            results[way].append(measured)
            print(f"  round {number}: {way}: {measured['seconds']:.2f} s", file=sys.stderr, flush=True)
    return results


def timed(work: Callable[[], object], rows: int, prepare: Callable[[], object] | None = None) -> Measurement:
    """Work of this process; preparing is not counted."""
    if prepare is not None:
        prepare()
    started, used = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used, "rows": rows}


def in_new_process(*command: object) -> Measurement:
    """What a program measured of itself, which it prints as JSON on its last line."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr[-4000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def summary(runs: list[Measurement]) -> dict[str, float]:
    """Medians; of memory the highest."""
    found = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    if "megabytes" in found:
        found["megabytes"] = max(run["megabytes"] for run in runs)
    return found


def times(runs: Iterable[Measurement], rivals: Iterable[Measurement], *keys: str) -> float:
    """How many times its rival's time a row takes: the ratio of the medians, for the sum of some keys.

    The median of the rounds' ratios was tried: one slow round of the rival moves it more.
    """
    ours, theirs = (statistics.median(_a_row(run, keys) for run in each) for each in (runs, rivals))
    return ours / theirs


def _a_row(run: Measurement, keys: tuple[str, ...]) -> float:
    return sum(run[key] for key in keys) / run["rows"]


def peak_megabytes() -> float:
    """Of this process, by the kernel's own high-water mark; ``ru_maxrss`` would have the parent's in it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
