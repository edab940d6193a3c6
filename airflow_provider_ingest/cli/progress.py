"""Waiting for a run: a live bar on a terminal, plain lines elsewhere; always on stderr, so that stdout stays clean."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from airflow_provider_ingest.runs.progress import in_rows
from airflow_provider_ingest.runs.records import RunRecord

POLL_SECONDS = 0.5
LINE_SECONDS = 5.0
"""How often a plain line is written while nothing but the counts change."""


def wait_for(look: Callable[[], RunRecord]) -> RunRecord:
    """Look at a run until it has ended, and show how far it is."""
    with _bar() if sys.stderr.isatty() else _Lines() as display:
        while True:
            run = look()
            display.show(run)
            if run.status.is_terminal:
                return run
            time.sleep(POLL_SECONDS)


class _Lines(AbstractContextManager["_Lines"]):
    """One line whenever the status changes, and every few seconds while rows move."""

    def __init__(self) -> None:
        self._shown: tuple[Any, ...] = ()
        self._at = 0.0

    def __exit__(self, *exception: Any) -> None:
        """Nothing to clean up."""

    def show(self, run: RunRecord) -> None:
        """Write a line if there is news."""
        progress = run.progress
        state, counts = (run.status, run.total > 0), (progress.counts.processed, progress.counts.failed)
        news = (state, counts)
        is_due = time.monotonic() - self._at >= LINE_SECONDS
        if news == self._shown or (self._shown and self._shown[0] == state and not is_due):
            return
        self._shown, self._at = news, time.monotonic()
        print(f"Run {run.id}: {describe(run)}", file=sys.stderr, flush=True)


def describe(run: RunRecord) -> str:
    """Status and counts in words."""
    if not run.total:
        return str(run.status)
    done = run.progress.counts.processed
    share = 100 * done // run.total
    return f"{run.status}, {done:,} of {in_rows(run.total)} ({share} %), {run.counts.failed:,} failed"


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Speed(ProgressColumn):
        """Rows per second."""

        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f} rows/s" if speed else "", style="progress.data.speed")

    class Bar(Progress):
        """A run as a bar: without an end until it is planned."""

        def show(self, run: RunRecord) -> None:
            """Move the bar."""
            if not self.tasks:
                self.add_task("", total=None)
            text = f"Run {run.id} {run.status}" + (f", {run.counts.failed:,} failed" if run.counts.failed else "")
            self.update(self.tasks[0].id, description=text, completed=run.counts.processed, total=run.total or None)

    return Bar(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        Speed(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
