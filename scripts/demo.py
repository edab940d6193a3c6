"""The demo: Airflow from nothing, a file of products uploaded through REST, and a ledger that has to add up."""

from __future__ import annotations

import argparse
import fcntl
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from demo_client import Client
from demo_products import Expected, write_products
from demo_server import CHECKOUT, USER, DemoServer, ServerFailed
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

HOME = CHECKOUT / ".demo"
console = Console()


def main() -> int:
    """Run the demo; 0 only if the ledger adds up and is what the file's generator expects."""
    arguments = _arguments()
    HOME.mkdir(exist_ok=True)
    for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # whoever ends the demo ends its Airflow
        signal.signal(end, signal.default_int_handler)
    with (HOME / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.print("The demo is running in this checkout already.")
            return 1
        try:
            return _demo(arguments)
        except (ServerFailed, httpx.HTTPError) as problem:
            console.print(f"[red]{escape(str(problem))}[/]\nAirflow's log: {HOME / 'airflow.log'}", highlight=False)
            return 1
        except KeyboardInterrupt:
            return 130


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/demo", description="Import a file of products into a new Airflow.")
    parser.add_argument("--rows", type=int, default=60_000, help="rows in the file (default 60000, at most 99999)")
    parser.add_argument("--keep", action="store_true", help="keep Airflow running until Ctrl-C")
    arguments = parser.parse_args()
    if not 1 <= arguments.rows <= 99_999:
        parser.error("--rows must be from 1 to 99999")
    return arguments


def _demo(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    file = HOME / "products.csv"
    expected = write_products(file, arguments.rows)
    size = file.stat().st_size / 1e6
    console.print(f"Wrote {expected.total:,} products ({size:.1f} MB), {len(expected.failed):,} of them with mistakes")
    with DemoServer(HOME, chunk_rows=-(-arguments.rows // 3)) as server:
        with console.status("Starting Airflow (API server, scheduler, DAG processor, SQLite)…"):
            server.start()
        client = Client(server.url, USER, server.password)
        with console.status("Waiting for the importer in dags/products.py…"):
            client.wait_for_importer("products")
        console.print(f"Airflow is up after {time.monotonic() - started:.0f} s")
        uploaded = time.monotonic()
        run = _follow(client, client.upload("products", file)["id"])
        seconds = time.monotonic() - uploaded
        _print_summary(run, client.errors(run["id"]))
        _print_rows(client.show(run["id"], rows=8)["rows"])
        problems = _differences(run, client.failed_row_numbers(run["id"]), _products(server.shop), expected)
        for problem in problems:
            console.print(f"[red]{problem}[/]")
        total = time.monotonic() - started
        console.print(f"\nUpload to result {seconds:.1f} s, everything {total:.0f} s.", highlight=False)
        if not problems:
            console.print("[green]The ledger adds up, and is what the file's generator expects.[/]")
        _print_where(server, client, keep=arguments.keep)
        if arguments.keep:
            server.wait_for_end()
    return 1 if problems else 0


def _follow(client: Client, run_id: int) -> dict[str, Any]:
    """Show a run's progress until it ends."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("rows"), TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task(f"Run {run_id}", total=None)
        run: dict[str, Any] = {}
        for run in client.follow(run_id):
            counts = run["progress"]
            total = counts["total"] or None
            progress.update(
                bar, description=f"Run {run_id} {run['status']}", total=total, completed=counts["processed"]
            )
    return run


def _print_summary(run: dict[str, Any], errors: dict[str, Any]) -> None:
    counts = Table("total", "created", "updated", "skipped", "failed", "unprocessed", title=f"Run {run['id']}")
    counts.add_row(*(f"{run['summary'][column.header]:,}" for column in counts.columns))
    console.print(counts)
    if run["summary"]["error"]:
        console.print(f"[red]{escape(run['summary']['error']['message'])}[/]")
    reasons = Table("rows", "reason", title="Why rows failed")
    for group in [*errors["validation_summary"], *errors["error_summary"]]:
        reasons.add_row(f"{group['count']:,}", escape(group["message"]))
    console.print(reasons)


def _print_rows(rows: list[dict[str, Any]]) -> None:
    table = Table("row", "line", "sku", "what is wrong", title="The first failed rows")
    for row in rows:
        validation = row["errors"]["validation"]
        texts = [f"{field}: {text}" for field, messages in validation.items() for text in messages]
        sku = row["data"].get("sku")
        why = "\n".join(texts) or row["errors"]["message"]
        table.add_row(str(row["row_number"]), str(row["line_number"]), escape(str(sku)), escape(why))
    console.print(table)


def _differences(run: dict[str, Any], failed: list[int], products: int, expected: Expected) -> list[str]:
    """Where the result is not what it has to be."""
    summary = run["summary"]
    parts = ("created", "updated", "skipped", "failed", "unprocessed")
    found = {name: summary[name] for name in ("total", *parts)}
    wanted = {
        "total": expected.total,
        "created": expected.created,
        "updated": expected.updated,
        "skipped": 0,
        "failed": len(expected.failed),
        "unprocessed": 0,
    }
    problems = [f"{name}: {found[name]:,} instead of {wanted[name]:,}" for name in found if found[name] != wanted[name]]
    if sum(found[name] for name in parts) != found["total"]:
        problems.append(f"the parts do not add up to the total: {found}")
    if failed != sorted(expected.failed):
        wrong = sorted(set(failed) ^ set(expected.failed))
        problems.append(f"other rows failed than expected; the first is row {wrong[0] if wrong else failed[0]}")
    if products != expected.created:
        problems.append(f"the table holds {products:,} products instead of {expected.created:,}")
    if run["status"] != "completed_with_errors":
        problems.append(f"the run is {run['status']}")
    return problems


def _products(database: Path) -> int:
    connection = sqlite3.connect(database)
    try:
        return int(connection.execute("SELECT count(*) FROM products").fetchone()[0])
    finally:
        connection.close()


def _print_where(server: DemoServer, client: Client, *, keep: bool) -> None:
    if keep:
        console.print(f"\nAirflow stays up: [link]{server.url}[/] (user {USER}, password {server.password})")
        console.print(f'curl -H "Authorization: Bearer {client.token}" {server.url}/api/v1/ingest/', soft_wrap=True)
        console.print("Ctrl-C stops it.")
    else:
        where = f"{server.url} (user {USER}, password {server.password})"
        console.print(f"To look around in the pages: make up, then {where}", soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
