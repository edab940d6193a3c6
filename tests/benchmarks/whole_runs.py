"""Tables of :mod:`tests.benchmarks.bench_airflow` from what was kept of it: runs by size, memory of every process."""

from __future__ import annotations

from tests.benchmarks.results import Figures

SERVICES = ("api_server", "scheduler", "dag-processor", "triggerer")
TASKS = ("stage", "plan", "chunk", "finish")
OWN = "Airflow's own: "
TRIVIAL = f"{OWN}trivial"


def sizes_of(figures: Figures) -> list[str]:
    """``1,000 rows`` and so on, as measured."""
    return [name for name, one in figures.items() if "seconds" in one]


def beyond_own(figures: Figures, own: Figures) -> dict[str, dict[str, float]]:
    """What goals are about: megabytes beyond those of Airflow without us, and times a run of a tenth of the rows."""
    found: dict[str, dict[str, float]] = {}
    for name, one in figures.items():
        size, _, process = name.partition(": ")
        before = own.get(f"{OWN}{process}", own.get(TRIVIAL))
        if process and before and one.get("megabytes"):
            found[name] = {"beyond": one["megabytes"] - before["megabytes"]}
        tenth = figures.get(f"{int(size.split(' ')[0].replace(',', '')) // 10:,} rows")
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
        one, rows = figures[size], int(size.split(" ")[0].replace(",", ""))
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
