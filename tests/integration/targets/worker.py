"""A process that works one chunk and stops for a signal where it is told to: ``worker.py URL RUN_KEY POINT [INDEX]``.

It prints the point's name when it is there, and waits until it is killed.
"""

from __future__ import annotations

import sys
import time

from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.targets import open_target
from tests.contract.target_fixtures import PRODUCTS, batch, into

ROWS = 500


def config() -> IngestConfig:
    return into(PRODUCTS, "sku", "name")


def rows(number: int) -> list[dict[str, str]]:
    return [{"sku": f"S{number}-{n}", "name": "x"} for n in range(ROWS)]


def main(url: str, run_key: str, point: str) -> None:
    def reached(name: str) -> None:
        if name == point:
            print(name, flush=True)
            time.sleep(600)

    target = open_target(url, config())
    target.shape()
    reached("before")
    with target.open_chunk(run_key, 0, dry_run=False) as chunk:
        if chunk.recorded is not None:
            print("recorded", flush=True)
            return
        reached("opened")
        for number in range(3):
            result = chunk.write(batch(rows(number), first=number * ROWS + 1))
            assert result.created == ROWS
            reached(f"wrote {number}")
        reached("before commit")
        chunk.commit(ChunkOutcome(counts=Counts(created=3 * ROWS)))
    reached("after commit")
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
