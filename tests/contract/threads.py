"""Calls of several threads at the same moment."""

from __future__ import annotations

import threading
from typing import Any


def at_once(calls: list[Any]) -> list[Any]:
    """The results of calls that start at the same moment in threads of their own."""
    gate, results = threading.Barrier(len(calls)), []

    def run(call: Any) -> None:
        gate.wait()
        results.append(call())

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == len(calls)
    return results
