"""Where PyArrow takes its memory from."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

KEPT_MILLISECONDS = 100
"""How long memory that was given back is kept for the next batch, which comes sooner than that."""


@lru_cache(maxsize=1)
def arrow_pool() -> pa.MemoryPool:
    """The pool for what lives as long as a batch: jemalloc where PyArrow has it.

    PyArrow's own choice, mimalloc, asks for huge pages and gives parts of them back as soon as a batch is let go. Where
    several threads work, half of the reader's time then goes into the kernel's page faults.
    """
    try:
        pool = pa.jemalloc_memory_pool()
        pa.jemalloc_set_decay_ms(KEPT_MILLISECONDS)
        return pool
    except NotImplementedError:  # not built in on every platform
        return pa.default_memory_pool()
