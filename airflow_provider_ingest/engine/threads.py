"""How many cores a task takes: those of its own threads, which read, transform, encode and log beside each other."""

from __future__ import annotations

import os

POLARS_THREADS = "POLARS_MAX_THREADS"
"""The variable by which Polars is told how many threads to keep; it reads it once, when it is imported."""


def keep_to_own_threads() -> None:
    """Have Polars work in the thread that asks it, unless the variable is set or Polars is imported already.

    Its own threads gain nothing here: the steps of a batch follow each other, the batches overlap. Handing each step
    over to them takes an eighth of a chunk's CPU time.
    """
    os.environ.setdefault(POLARS_THREADS, "1")
