"""Puts tables and charts of this machine's results into docs/benchmarks.md: ``python -m tests.benchmarks.report``.

What stands between ``<!-- measured: name -->`` and ``<!-- end -->`` is written anew from the newest run with the most
rows; ``goals``, ``machine`` and ``history`` are names as well. What was not measured stays as it is.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from tests.benchmarks import whole_runs
from tests.benchmarks.goals import goals_table
from tests.benchmarks.orders_work import IMPORT, TWO, UPSERT
from tests.benchmarks.plots import draw
from tests.benchmarks.results import ROOT, largest, results_file, series

PAGE = ROOT / "docs" / "benchmarks.md"
PART = re.compile(r"(<!-- measured: (?P<name>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def conditions(entry: Mapping[str, Any]) -> str:
    """One line: sizes, day, commit, load."""
    settings, on = entry["settings"], entry["on"]
    rows = settings.get("rows", 0)
    told = [f"{rows:,} rows"] if isinstance(rows, int) and rows else []
    if "rounds" in settings:
        told.append(f"medians of {settings['rounds']} rounds" if settings["rounds"] > 1 else "one round")
    told += [f"{key} {value}" for key, value in settings.items() if key not in ("rows", "rounds")]
    told += [on["at"][:10], f"commit {on['commit']}", f"load at the end {on['load']}"]
    return f"*{', '.join(told)}.*"


def machine_line(kept: Mapping[str, Any]) -> str:
    """What it was measured on."""
    machine, on = kept["machine"], kept["entries"][-1]["on"]
    packages = ", ".join(f"{name} {version}" for name, version in on["packages"].items() if "ingest" not in name)
    return (
        f"{machine['cores']} cores of an {machine['cpu']}, {machine['memory_gb']} GB, {on['system']}, "
        f"Python {on['python']}, PostgreSQL {on['postgresql']}; {packages}."
    )


def history(kept: Mapping[str, Any]) -> str | None:
    """The ratios and the memory of the pipeline in the runs that were kept, newest first."""
    newest = largest(kept["entries"], "pipeline")
    if newest is None:
        return None
    ways = [IMPORT, TWO, UPSERT]
    lines = [f"| day | commit | {' | '.join(ways)} | peak MB of an import |", "|---" * (len(ways) + 3) + "|"]
    for entry in reversed([one for one in kept["entries"] if series(one) == series(newest)]):
        figures, on = entry["figures"], entry["on"]
        ratios = " | ".join(f"{figures[way]['ratio']:.2f} ×" if way in figures else "" for way in ways)
        lines.append(f"| {on['at'][:10]} | {on['commit']} | {ratios} | {figures[IMPORT]['megabytes']:.0f} |")
    return "\n".join(lines)


def part(name: str, kept: Mapping[str, Any]) -> str | None:
    """What belongs between the marks; none if it was not measured."""
    if name == "goals":
        return goals_table(kept["entries"])
    if name == "machine":
        return machine_line(kept)
    if name == "history":
        return history(kept)
    entry = largest(kept["entries"], name)
    if entry is None:
        return None
    return f"{table_of(entry)}\n\n{conditions(entry)}"


def table_of(entry: Mapping[str, Any]) -> str:
    """As the benchmark itself prints it; some have no rivals beside their figures."""
    name = entry["benchmark"].replace(" ", "_")
    tables = {"airflow": whole_runs.table, "many_chunks": whole_runs.chunks_table}
    table = tables.get(name) or import_module(f"tests.benchmarks.bench_{name}").table
    takes = len(inspect.signature(table).parameters)
    return str(table(*(entry["figures"], entry["rivals"])[:takes]))


def with_results(page: str, kept: Mapping[str, Any]) -> str:
    """The page with its measured parts written anew."""

    def written(found: re.Match[str]) -> str:
        text = part(found["name"], kept)
        return found[0] if text is None else f"{found[1]}{text}\n{found[3]}"

    return PART.sub(written, page)


def main() -> int:
    """Write page and charts."""
    path = results_file()
    if not path.exists():
        print(f"Nothing was measured on this kind of machine yet: there is no {path}.")
        return 1
    kept = json.loads(path.read_text())
    PAGE.write_text(with_results(PAGE.read_text(), kept))
    for written in (PAGE, *draw(kept["entries"])):
        print(written.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
