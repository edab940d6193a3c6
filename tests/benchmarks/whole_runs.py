"""Tables of whole runs through Airflow from what was kept of them: by size, memory of every process, many chunks."""

from __future__ import annotations

from tests.benchmarks.results import Figures

SERVICES = ("api_server", "scheduler", "dag-processor", "triggerer")
TASKS = ("stage", "plan", "chunk", "finish")
OWN = "Airflow's own: "
TRIVIAL = f"{OWN}trivial"


def sizes_of(figures: Figures) -> list[str]:
    """``1,000 rows`` and so on, as measured."""
    return sorted((name for name, one in figures.items() if "seconds" in one), key=_rows)


def _rows(size: str) -> int:
    return int(size.split(" ")[0].replace(",", ""))


def beyond_own(figures: Figures, own: Figures) -> dict[str, dict[str, float]]:
    """What goals are about: megabytes beyond those of Airflow without us, and times a run of a tenth of the rows."""
    found: dict[str, dict[str, float]] = {}
    for name, one in figures.items():
        size, _, process = name.partition(": ")
        before = own.get(f"{OWN}{process}", own.get(TRIVIAL))
        if process and before and one.get("megabytes"):
            found[name] = {"beyond": one["megabytes"] - before["megabytes"]}
        tenth = figures.get(f"{_rows(size) // 10:,} rows")
        if not process and tenth:
            found[name] = {"growth": one["seconds"] / tenth["seconds"]}
    return found


def table(figures: Figures, own: Figures) -> str:
    """As Markdown: one of times, one of memory."""
    lines = [
        "| rows | chunks | seconds | rows/s | CPU s of Airflow, tasks included | CPU s of PostgreSQL |",
        "|---|---|---|---|---|---|",
    ]
    sizes = sizes_of(figures)
    for size in sizes:
        one, rows = figures[size], _rows(size)
        lines.append(
            f"| {rows:,} | {one['chunks']:.0f} | {one['seconds']:.1f} | {rows / one['seconds']:,.0f} | "
            f"{one['cpu']:.1f} | {one['server_cpu']:.1f} |"
        )
    lines += ["", "Highest megabytes of a process, beyond those of Airflow without us (a task that does nothing):", ""]
    lines += ["| | Airflow's own |" + "".join(f" {size} |" for size in sizes), "|---|---|" + "---|" * len(sizes)]
    more = beyond_own(figures, own)
    for process in (*SERVICES, *TASKS):
        before = own.get(f"{OWN}{process}", own.get(TRIVIAL, {})).get("megabytes", 0)
        cells = [more.get(f"{size}: {process}", {}).get("beyond") for size in sizes]
        told = "".join(" |" if one is None else f" +{max(one, 0):.0f} |" for one in cells)
        lines.append(f"| {process} | {before:.0f} |{told}")
    return "\n".join(lines)


def chunks_table(figures: Figures) -> str:
    """Of :mod:`tests.benchmarks.bench_many_chunks`: what a run took, and how the scheduler was beside it."""
    run = figures["a run"]
    lines = [
        f"{run['seconds']:.0f} s from POST to terminal status. CPU seconds for a chunk: Airflow with its tasks "
        f"{run['cpu']:.2f}, PostgreSQL {run['server_cpu']:.3f}.",
        "",
        "| seconds | median | highest |",
        "|---|---|---|",
    ]
    lines += [
        f"| {name} | {one['median']:.2f} | {one['highest']:.2f} |" for name, one in figures.items() if "median" in one
    ]
    peaks = [f"{name} {one['megabytes']:.0f}" for name, one in figures.items() if "megabytes" in one]
    return "\n".join([*lines, "", f"Highest megabytes: {', '.join(peaks)}."])
