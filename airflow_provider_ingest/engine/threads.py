"""What the threads of a task take from its machine: some read, transform and log while one feeds the database."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

POLARS_THREADS = "POLARS_MAX_THREADS"
"""The variable by which Polars is told how many threads to keep; it reads it once, when it is imported."""

POLARS_MEMORY = "_RJEM_MALLOC_CONF"
"""The variable by which the allocator of Polars, jemalloc, is told how to keep memory; read as early as the other."""

ONE_ARENA = "narenas:1"
"""One pool for all threads: what one of them gave back serves the next, where each would keep some for itself."""

BEHIND = 10
"""How much nicer a thread behind the one that feeds the database is: a tenth of its share where both want a core."""


def keep_to_own_threads() -> None:
    """Have Polars work in the thread that asks it, unless the variable is set or Polars is imported already.

    Its own threads gain nothing here: the steps of a batch follow each other, the batches overlap. Handing each step
    over to them took up to an eighth of a chunk's CPU time. The threads of a task share what memory Polars keeps.
    """
    os.environ.setdefault(POLARS_THREADS, "1")
    os.environ.setdefault(POLARS_MEMORY, ONE_ARENA)


def stay_behind() -> None:
    """Let the thread that calls this yield to the one that feeds the database, on Linux, where threads have priorities.

    The database is what a chunk waits for. With its sender it needs one core, and must not queue for it behind work on
    batches that are not due yet.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):  # a sandbox that forbids it costs speed, not the chunk
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + BEHIND)


class Thread(ThreadPoolExecutor):
    """One thread. Used as a context, it is waited for at the end, unless an error ends the block.

    What it does then may never end: when the ``execution_timeout`` of a chunk is over, it may stand in a user's Python.
    """

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(wait=kind is None, cancel_futures=kind is not None)


def beside(name: str) -> Thread:
    """A thread for what the chunk waits for as it waits for the database."""
    return Thread(1, name)


def behind(name: str) -> Thread:
    """A thread for what the database does not wait for."""
    return Thread(1, name, stay_behind)


@contextmanager
def without_old_garbage() -> Iterator[None]:
    """Have the garbage collector leave alone what was there before: it outlives the chunk.

    Looking through it, which the collector may take a mind to at any batch, holds up all threads for a tenth of a
    second, and longer in a process with all of Airflow in it.
    """
    if gc.get_freeze_count():  # somebody else's, who would not have it thawed
        yield
        return
    gc.collect(1)  # what is garbage and young does not grow old with the rest
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
