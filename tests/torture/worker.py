"""A process that works the chunks of a run, as a worker of Airflow would, and kills itself where it is told to.

``python -m tests.torture.worker FOLDER TARGET_URL RUN_ID POINT``: the folder holds the file, the plan and the store.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import create_engine

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.engine.work import work_chunk
from airflow_provider_ingest.formats import read_chunk
from airflow_provider_ingest.runs.summary import event_of
from airflow_provider_ingest.storage.sql_store import SqlStore
from airflow_provider_ingest.targets import open_target
from airflow_provider_ingest.transformers import NumericTransformer, TrimTransformer
from airflow_provider_ingest.validators import RangeValidator

POINTS = ("before", "opened", "written", "before commit", "after commit", "after report")
BATCH_ROWS = 100


def importer() -> IngestConfig:
    """Inserts, so that a row worked twice would be there twice."""
    return (
        IngestConfig.for_("stock", conn_id="shop")
        .from_source(SourceType.UPLOAD)
        .map_and_transform("sku", "sku", TrimTransformer)
        .map_transform_and_validate("amount", "amount", NumericTransformer(0), RangeValidator(min=0))
    )


def open_store(folder: Path) -> SqlStore:
    """The run store of a folder."""
    return SqlStore.on_engine(create_engine(f"sqlite:///{folder / 'airflow.db'}"))


class Fuse:
    """Kills this process when its point is reached."""

    def __init__(self, point: str) -> None:
        self.point = point

    def reached(self, point: str) -> None:
        if point == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


class Transaction:
    """A chunk's transaction with a fuse in it."""

    def __init__(self, inner: Any, fuse: Fuse) -> None:
        self._inner, self._fuse = inner, fuse

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, batch: Any, **options: Any) -> Any:
        result = self._inner.write(batch, **options)
        self._fuse.reached("written")
        return result

    def commit(self, outcome: Any) -> None:
        self._fuse.reached("before commit")
        self._inner.commit(outcome)
        self._fuse.reached("after commit")


class Target:
    """A target with a fuse in it."""

    def __init__(self, inner: Any, fuse: Fuse) -> None:
        self._inner, self._fuse = inner, fuse

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @contextmanager
    def open_chunk(self, *given: Any, **options: Any) -> Iterator[Transaction]:
        with self._inner.open_chunk(*given, **options) as transaction:
            self._fuse.reached("opened")
            yield Transaction(transaction, self._fuse)


def main(folder: Path, url: str, run_id: int, point: str) -> None:
    """Work what is not done."""
    fuse = Fuse(point)
    store, config = open_store(folder), importer()
    reader = orjson.loads((folder / "reader.json").read_bytes())
    run = store.get_run(run_id)
    target = Target(open_target(url, config), fuse)
    fuse.reached("before")
    for chunk in store.chunks(run_id):
        if chunk.outcome is None:
            batches = read_chunk(reader, chunk, batch_rows=BATCH_ROWS)
            work_chunk(
                config=config,
                run=event_of(run),
                run_key=run.key,
                chunk=chunk,
                batches=batches,
                store=store,
                target=target,
            )
            fuse.reached("after report")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
