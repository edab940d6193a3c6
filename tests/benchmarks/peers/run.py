"""One peer in a process of its own: ``python run.py <module> <way> <dsn> <file to warm up with> <file>``.

Prints JSON: seconds that its imports took, seconds and CPU seconds of the work after a small file, peak memory,
bad rows.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path


def peak_megabytes() -> float:
    """The kernel's own high-water mark; ``ru_maxrss`` would have the parent's in it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main(module: str, way: str, dsn: str, small: str, file: str) -> None:
    """Import, warm up, empty the table, work."""
    started = time.perf_counter()
    load = getattr(import_module(module), way)
    import psycopg

    imports = time.perf_counter() - started
    load(dsn, Path(small))
    with psycopg.connect(dsn) as connection:
        connection.execute("TRUNCATE orders")
    started, used = time.perf_counter(), time.process_time()
    bad = load(dsn, Path(file))
    seconds, cpu = time.perf_counter() - started, time.process_time() - used
    told = {"imports": imports, "seconds": seconds, "cpu": cpu, "megabytes": peak_megabytes(), "bad": bad}
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
