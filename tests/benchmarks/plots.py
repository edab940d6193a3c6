"""The charts of docs/benchmarks.md, from the file of results: ``python -m tests.benchmarks.plots``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.bar_chart import Bar, bar_chart
from tests.benchmarks.bench_formats import OURS, READERS
from tests.benchmarks.bench_pipeline import HALVES
from tests.benchmarks.bench_targets import RIVALS as LOADERS
from tests.benchmarks.goals import goal_of
from tests.benchmarks.orders_work import CHUNKS, COLD, IMPORT, TWO, UPSERT
from tests.benchmarks.results import ROOT, largest, read_entries, results_file
from tests.benchmarks.whole_runs import sizes_of

FOLDER = ROOT / "docs" / "benchmarks"
COPY = "COPY of the clean rows"
SHORTER = {
    COLD: "import, new process with its imports",
    TWO: "import, two chunks at a time",
    UPSERT: "upsert, half there, × COPY + MERGE",
}
THIS = ("ours", "this engine")
READER_NAMES = {OURS: "plan and read", "our_plan": "plan alone"}
Entry = Mapping[str, Any]


def _limit(benchmark: str, figure: str, measure: str = "ratio") -> float | None:
    goal = goal_of(benchmark, figure, measure)
    return goal.limit if goal else None


def peers(entry: Entry) -> str:
    """What the same rows take elsewhere."""
    copy = 1 / entry["figures"][IMPORT]["ratio"]
    bars = [
        Bar(label=f"{COPY}, no checks", value=copy, shown=f"{copy:.2f}", kind="bare"),
        Bar(label="this engine", value=1, shown="1.00", kind="ours"),
    ]
    for name, one in entry["rivals"].items():
        if name != COPY:
            value, goal = one["ours"], _limit("peers", name, "ours")
            bars.append(Bar(label=name, value=value, shown=f"{value:.1f}", kind="other", goal=goal))
    told = "wall time for a row, × this engine; CSV → validated, transformed, errors kept → typed, keyed table"
    legend = [("bare", "the limit"), THIS, ("other", "others"), ("goal", "they should take at least that")]
    return bar_chart("The same work by other tools", told, sorted(bars, key=lambda bar: bar.value), legend)


def pipeline(entry: Entry) -> str:
    """How far from the limit."""
    bars = [Bar(label=COPY, value=1, shown="1.00", kind="bare")]
    for name, one in entry["figures"].items():
        value, label = one["ratio"], SHORTER.get(name, name)
        kind = "bare" if name == HALVES else "ours"
        bars.append(Bar(label=label, value=value, shown=f"{value:.2f}", kind=kind, goal=_limit("pipeline", name)))
    told = "wall time, × a COPY of rows that are clean already into the same typed, keyed table of PostgreSQL"
    return bar_chart("This engine beside COPY", told, bars, [("bare", "COPY"), THIS, ("goal", "goal: at most")])


def targets(entry: Entry) -> str:
    """Writing alone."""
    bars = []
    for name, one in entry["figures"].items():
        loader = LOADERS[name].partition(": ")[2].removeprefix("COPY and ").removesuffix(" of equal rows")
        value, goal = one["ratio"], _limit("targets", name)
        bars.append(Bar(label=f"{name} (× {loader})", value=value, shown=f"{value:.2f}", kind="ours", goal=goal))
    told = "wall time of writing ready rows, × the database's own loader into the same table"
    return bar_chart("Targets alone", told, bars, [THIS, ("goal", "goal: at most")])


def formats(entry: Entry) -> str:
    """Reading alone."""
    bars = []
    for name, (_, *others) in READERS.items():
        for reader in (OURS, *others):
            one = entry["figures"][name] if reader == OURS else entry["rivals"][f"{name}: {reader}"]
            speed, told = one["rows"] / one["seconds"] / 1e6, READER_NAMES.get(reader, reader.replace("_", " "))
            kind = "ours" if reader in READER_NAMES else "other"
            bars.append(Bar(label=f"{name}: {told}", value=speed, shown=f"{speed:.2f} M", kind=kind))
    told = "million rows per second of wall time; 12 columns; the library alone holds what it parses and does nothing"
    return bar_chart("Reading files", told, bars, [THIS, ("other", "a library alone")])


def whole_runs(entry: Entry) -> str:
    """From POST to terminal status."""
    bars = []
    for size in sizes_of(entry["figures"]):
        value, goal = entry["figures"][size]["seconds"], _limit("airflow", size, "seconds")
        bars.append(Bar(label=size, value=value, shown=f"{value:.1f} s", kind="ours", goal=goal))
    told = "seconds from the upload's POST to the terminal status: LocalExecutor, PostgreSQL, all on one machine"
    return bar_chart("Whole runs through Airflow", told, bars, [THIS, ("goal", "goal: at most")])


def memory(entry: Entry) -> str:
    """What stays flat."""
    bars = []
    for kind, figures in (("other", entry["rivals"]), ("ours", entry["figures"])):
        for name, one in figures.items():
            if "megabytes" not in one:  # COPY stands there for its time
                continue
            value, goal = one["megabytes"], _limit("growth", name, "megabytes")
            label = name.replace(CHUNKS, "import")
            bars.append(Bar(label=label, value=value, shown=f"{value:.0f} MB", kind=kind, goal=goal))
    told = "highest memory of a process with all its imports, megabytes; chunks of 1,000,000 rows, one after the other"
    legend = [("other", "a tenth of the rows"), ("ours", "all rows"), ("goal", "goal: at most")]
    return bar_chart("Memory at ten times the rows", told, sorted(bars, key=lambda bar: bar.label), legend)


CHARTS: dict[str, tuple[str, Callable[[Entry], str]]] = {
    "peers": ("peers", peers),
    "pipeline": ("pipeline", pipeline),
    "targets": ("targets", targets),
    "formats": ("formats", formats),
    "memory": ("growth", memory),
    "whole-runs": ("airflow", whole_runs),
}
"""By file: the benchmark, and how it is drawn."""


def draw(entries: Iterable[Entry]) -> list[Path]:
    """Write the charts of what was measured; their files."""
    kept, paths = list(entries), []
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (benchmark, chart) in CHARTS.items():
        entry = largest(kept, benchmark)
        if entry is not None:
            path = FOLDER / f"{name}.svg"
            path.write_text(chart(entry))
            paths.append(path)
    return paths


def main() -> None:
    """Draw what this machine measured."""
    for path in draw(read_entries(results_file())):
        print(path)


if __name__ == "__main__":
    main()
