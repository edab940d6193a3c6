"""The cluster demo: a file imported by two Celery workers, one of them killed if asked, and a ledger that adds up."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from cluster import CHECKOUT, CONCURRENCY, USER, Cluster, ServerFailed
from cluster_services import Component
from demo_client import Client
from demo_products import Expected, write_products
from rich.console import Console
from rich.markup import escape

HOME = CHECKOUT / ".cluster"
CHUNKS = 8
REPORT_SECONDS = 0.5
"""How long what a task has said last may take to be written down."""
console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Run the demo; 0 only if the ledger adds up and is what the file's generator expects."""
    parser = argparse.ArgumentParser(prog="scripts/cluster-demo", description="Import a file by two Celery workers.")
    parser.add_argument("--rows", type=int, default=60_000, help="rows in the file (default 60000, at most 99999)")
    parser.add_argument("--workers", type=int, default=2, help=f"workers of {CONCURRENCY} tasks each (default 2)")
    parser.add_argument("--kill", action="store_true", help="kill the first worker when some chunks are done")
    parser.add_argument("--home", type=Path, default=HOME, help="where all of it lies")
    arguments = parser.parse_args()
    if not CHUNKS <= arguments.rows <= 99_999 or arguments.workers < 1 + arguments.kill:
        parser.error(f"--rows must be from {CHUNKS} to 99999; who kills a worker needs another one")
    try:
        return _demo(arguments)
    except (ServerFailed, httpx.HTTPError) as problem:
        console.print(f"[red]{escape(str(problem))}[/]\nLogs: {arguments.home}")
        return 1
    except KeyboardInterrupt:
        return 130


def _demo(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    chunk_rows = -(-arguments.rows // CHUNKS)
    with (
        console.status("Starting PostgreSQL, Redis, S3, Airflow and its workers…"),
        Cluster(arguments.home, workers=arguments.workers, chunk_rows=chunk_rows) as cluster,
    ):
        file = arguments.home / "products.csv"
        expected = write_products(file, arguments.rows)
        client = Client(cluster.url, USER, cluster.password)
        client.wait_for_importer("products")
        console.print(f"CeleryExecutor with {arguments.workers} workers is up after {_since(started)}")
        uploaded = time.monotonic()
        run = _follow(client, client.upload("products", file)["id"], cluster, kill=arguments.kill)
        console.print(f"Upload to result {_since(uploaded)}: {run['status']}, {run['summary']}")
        problems = differences(run, client.failed_row_numbers(run["id"]), cluster.products(), expected)
        tries = cluster.tries()
        if arguments.kill:
            console.print(f"{tries} chunks were begun again")
            problems += [] if tries else ["the kill hit no chunk at its work"]
        for problem in problems:
            console.print(f"[red]{escape(problem)}[/]")
        if not problems:
            console.print("[green]The ledger adds up, and is what the file's generator expects: every row once.[/]")
    console.print(f"Everything {_since(started)}")
    return 1 if problems else 0


def _since(moment: float) -> str:
    return f"{time.monotonic() - moment:.0f} s"


def _follow(client: Client, run_id: int, cluster: Cluster, *, kill: bool) -> dict[str, Any]:
    """Watch the run until it ends; kill the first worker once some chunks are done and others are worked."""
    done = -1
    run: dict[str, Any] = {}
    for run in client.follow(run_id):
        chunks = run["chunks"]
        if chunks["done"] != done:
            done = chunks["done"]
            console.print(f"Run {run_id} {run['status']}: {done} of {chunks['total']} chunks")
        victim = cluster.workers[0]
        if kill and done >= 1 and cluster.chunks_at_work(victim):
            kill = not _killed(victim, cluster)
        for worker in cluster.workers[1:]:
            worker.check()
    return run


def _killed(victim: Component, cluster: Cluster) -> bool:
    """Kill a worker at its work; whether it still was: a chunk may end between the look and the blow."""
    victim.freeze()
    time.sleep(REPORT_SECONDS)
    chunks_at_work = cluster.chunks_at_work(victim)
    if not chunks_at_work:
        victim.thaw()
        return False
    victim.kill()
    console.print(f"[yellow]Killed {victim.name} with {chunks_at_work} chunks at their work[/]")
    return True


def differences(run: dict[str, Any], failed: list[int], products: int, expected: Expected) -> list[str]:
    """Where the result is not what it has to be."""
    wanted = {
        "total": expected.total,
        "created": expected.created,
        "updated": expected.updated,
        "skipped": 0,
        "failed": len(expected.failed),
        "unprocessed": 0,
    }
    found = {name: run["summary"][name] for name in wanted}
    problems = [
        f"{name}: {found[name]:,} instead of {wanted[name]:,}" for name in wanted if found[name] != wanted[name]
    ]
    if failed != sorted(expected.failed):
        problems.append("other rows failed than expected")
    if products != expected.created:
        problems.append(f"the table holds {products:,} products instead of {expected.created:,}")
    if run["status"] != "completed_with_errors":
        problems.append(f"the run is {run['status']}: {run['summary']['error']}")
    return problems


if __name__ == "__main__":
    sys.exit(main())
