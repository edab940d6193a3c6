"""All benchmarks, one after the other: ``python -m tests.benchmarks.everything [--quick] [name ...]``.

Each is a process of its own with the sizes below; one that fails does not keep the others from running. What was
measured is kept by :mod:`tests.benchmarks.results`. At the end stands what got worse, and how long each took.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.benchmarks import compare
from tests.benchmarks.results import ROOT

QUICK_RESULTS = ROOT / "build" / "benchmarks"
"""What small sizes say is for a look in between: it is not committed."""
QUICK_PERCENT = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A module ``bench_<name>`` and its arguments, for a whole measurement and for a quick one.

    :param quick: none if it takes minutes at any size.
    """

    name: str
    whole: tuple[str, ...] = ()
    quick: tuple[str, ...] | None = None


BENCHMARKS = (
    Benchmark(name="pipeline", whole=("1000000", "5"), quick=("100000", "3")),
    Benchmark(name="peers", whole=("1000000", "5"), quick=("50000", "1")),
    Benchmark(name="growth", whole=("1000000", "3"), quick=("50000", "1")),
    Benchmark(name="targets", whole=("1000000", "5"), quick=("100000", "3")),
    Benchmark(name="row_logs", whole=("1000000", "3"), quick=("100000", "1")),
    Benchmark(name="engine", whole=("1000000", "5"), quick=("100000", "3")),
    Benchmark(name="csv", whole=("1000000", "5"), quick=("100000", "3")),
    Benchmark(name="formats", whole=("1000000", "5"), quick=("20000", "1")),
    Benchmark(name="keys", whole=("1000000", "5"), quick=("100000", "3")),
    Benchmark(name="imports", whole=("5",), quick=("3",)),
    Benchmark(name="failed_rows", whole=("1000000",), quick=("20000",)),
    Benchmark(name="prune", whole=("10000000",)),
    Benchmark(name="capacity", quick=()),
    Benchmark(name="api"),
    Benchmark(name="airflow", whole=("1000,100000,1000000,10000000", "5")),
    Benchmark(name="many_chunks", whole=("1000",)),
)


def main(arguments: list[str]) -> int:
    """Run them; the exit code is 1 if one failed, or if a figure got worse."""
    is_quick, names = "--quick" in arguments, [name for name in arguments if name != "--quick"]
    unknown = set(names) - {one.name for one in BENCHMARKS}
    if unknown:
        print(f"There is no {', '.join(sorted(unknown))}; there are {', '.join(one.name for one in BENCHMARKS)}.")
        return 2
    if is_quick:
        os.environ.setdefault("INGEST_BENCH_RESULTS", str(QUICK_RESULTS))
    took: dict[str, str] = {}
    for one in BENCHMARKS:
        sizes = one.quick if is_quick else one.whole
        if sizes is None or (names and one.name not in names):
            continue
        print(f"\n== {one.name} {' '.join(sizes)}", flush=True)
        started = time.monotonic()
        command = [sys.executable, "-m", f"tests.benchmarks.bench_{one.name}", *sizes]
        failed = subprocess.run(command, cwd=ROOT).returncode
        took[one.name] = f"{time.monotonic() - started:6.0f} s" + (f"  failed with {failed}" if failed else "")
    print("", *(f"{name:12} {told}" for name, told in took.items()), "", sep="\n")
    is_worse = compare.main([str(QUICK_PERCENT)] if is_quick else [])
    return 1 if is_worse or any("failed" in told for told in took.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
