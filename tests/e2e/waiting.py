"""Waiting for a running Airflow: long enough for a busy machine, and not for components that are gone."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 300.0
"""Seconds that a test waits before it fails."""

ILL = 90.0
"""Seconds without a heartbeat after which nothing is waited for: a busy component misses a few, not all."""


def wait_until(
    what: Callable[[], object],
    timeout: float = PATIENCE,
    *,
    name: str = "",
    is_well: Callable[[], bool] = lambda: True,
    evidence: Callable[[], str] = lambda: "",
) -> None:
    """Wait until ``what`` is true.

    :param is_well: asked now and then; once it has said no for :data:`ILL` seconds the wait ends.
    :param evidence: what to show if it was in vain.
    """
    begun = last_well = asked = time.monotonic()
    while not what():
        now = time.monotonic()
        if now - asked > 5:
            asked = now
            last_well = now if is_well() else last_well
        if now - begun > timeout or asked - last_well > ILL:
            raise AssertionError(f"Waited {now - begun:.0f} seconds in vain for {name or what}\n{evidence()}")
        time.sleep(0.3)
