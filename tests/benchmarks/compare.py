"""What got worse: ``python -m tests.benchmarks.compare [percent]``, ten unless told; ends with 1 if anything did.

The newest run of each benchmark is compared with the one before of the same sizes, on this kind of machine: the ratios
to the rival in the same run, CPU seconds where there is no rival, and the memory. Wall seconds are not compared, since
they tell of the machine's other work.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.results import read_entries, results_file, series

PERCENT = 10.0
LEAST_CPU = 0.5
"""Less CPU time than that says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worse:
    """A figure that got worse by more than was allowed."""

    benchmark: str
    figure: str
    measure: str
    before: float
    after: float

    def __str__(self) -> str:
        percent = 100 * (self.after / self.before - 1)
        values = f"{self.before:,.2f} → {self.after:,.2f}"
        return f"{self.benchmark}: {self.figure}: {self.measure} {values} ({percent:+.0f} %)"


def worse_figures(entries: Iterable[Mapping[str, Any]], percent: float = PERCENT) -> list[Worse]:
    """Of each benchmark and size the newest against the one before."""
    runs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entry in entries:
        runs.setdefault(series(entry), []).append(entry)
    found = []
    for (benchmark, _), same in runs.items():
        for before, after in [same[-2:]] if len(same) > 1 else []:
            for figure, measured in after["figures"].items():
                earlier = before["figures"].get(figure, {})
                for measure in ("ratio" if "ratio" in measured else "cpu", "megabytes"):
                    old, new = earlier.get(measure), measured.get(measure)
                    is_told = old and new and (measure != "cpu" or old > LEAST_CPU)
                    if is_told and new > old * (1 + percent / 100):
                        found.append(Worse(benchmark=benchmark, figure=figure, measure=measure, before=old, after=new))
    return found


def main(arguments: list[str]) -> int:
    """Print what got worse; the exit code."""
    percent = float(arguments[0]) if arguments else PERCENT
    path = results_file()
    if not path.exists():
        print(f"Nothing was measured on this kind of machine yet: there is no {path}.")
        return 0
    worse = worse_figures(read_entries(path), percent)
    for one in worse:
        print(one)
    print(f"{len(worse)} figures are more than {percent:g} % worse than in the run before ({path.name}).")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
