"""The process that searches patterns which may blow up: reads a JSON task, writes one mark per value.

Python's ``re`` cannot be stopped from another thread, but in a process's main thread it lets a signal through; so
each value gets a timer of CPU seconds. Run by its path, without this package: it imports the standard library alone.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from typing import Any

FOUND, MISSED, TOO_LONG, UNCHECKED = "1", "0", "T", "U"


class _TooLong(Exception):
    """The timer of a value ran out."""


def _raise(signum: int, frame: Any) -> None:
    raise _TooLong


def marks(task: dict[str, Any]) -> str:
    """The marks of the task's values, in their order."""
    pattern = re.compile(task["pattern"], task["flags"])
    signal.signal(signal.SIGVTALRM, _raise)
    end = time.process_time() + task["batch_seconds"]
    found = []
    for value in task["values"]:
        left = end - time.process_time()
        found.append(_mark(pattern, value, min(task["value_seconds"], left)) if left > 0 else UNCHECKED)
    return "".join(found)


def _mark(pattern: re.Pattern[str], value: str, seconds: float) -> str:
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            return FOUND if pattern.search(value) else MISSED
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except (_TooLong, MemoryError):
        return TOO_LONG


if __name__ == "__main__":
    sys.stdout.write(marks(json.load(sys.stdin)))
