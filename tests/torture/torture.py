"""One tortured run: planned once, worked by processes that are killed until one comes through."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import orjson
import sqlalchemy as sa

from airflow_provider_ingest.formats import plan_file
from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.runs.records import NewRun
from airflow_provider_ingest.runs.status import RunStatus
from tests.torture.worker import POINTS, open_store

ROOT = Path(__file__).parents[2]
ROWS, CHUNK_ROWS = 2000, 500
TIMED = "at a random moment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Torture:
    """What was done to a run and what came of it."""

    kills: dict[str, int]
    twins: int
    problems: tuple[str, ...]


def torture(folder: Path, url: str, kills: int, random_seed: int) -> Torture:
    """Work one run under so many kills and say what is wrong with it in the end; nothing should be."""
    rng = random.Random(random_seed)
    bad = set(rng.sample(range(ROWS), ROWS // 50))
    run_id = _plan(folder, url, bad)
    done: dict[str, int] = {}
    twins = 0
    for _ in range(kills):
        if all(chunk.outcome for chunk in open_store(folder).chunks(run_id)):
            run_id = _plan(folder, url, bad)
        point = rng.choice([*POINTS, TIMED, TIMED])
        workers = [_start(folder, url, run_id, point)]
        if rng.random() < 0.2:
            workers.append(_start(folder, url, run_id, ""))
            twins += 1
        if point == TIMED:
            time.sleep(rng.uniform(0.3, 2.5))
            workers[0].kill()
        for worker in workers:
            worker.wait(120)
        if workers[0].returncode == -9:
            done[point] = done.get(point, 0) + 1
    _start(folder, url, run_id, "").wait(120)
    return Torture(kills=done, twins=twins, problems=tuple(_problems(folder, url, run_id, bad)))


def _start(folder: Path, url: str, run_id: int, point: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.torture.worker", str(folder), url, str(run_id), point]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)


def _plan(folder: Path, url: str, bad: set[int]) -> int:
    """A fresh run over a fresh table."""
    file = folder / "stock.csv"
    with file.open("w", newline="") as opened:
        rows = ((f"S-{n}", "many" if n in bad else str(n)) for n in range(ROWS))
        csv.writer(opened).writerows([("sku", "amount"), *rows])
    target, tables = sa.create_engine(_driver(url)), sa.create_engine(f"sqlite:///{folder / 'airflow.db'}")
    with target.begin() as shop:
        shop.execute(sa.text("DROP TABLE IF EXISTS stock"))
        shop.execute(sa.text("CREATE TABLE stock (sku VARCHAR(20) NOT NULL, amount INTEGER NOT NULL)"))
    metadata.create_all(tables)
    plan = plan_file(file, options={}, chunk_rows=CHUNK_ROWS, scratch=folder)
    (folder / "reader.json").write_bytes(orjson.dumps(dict(plan.reader)))
    store, key = open_store(folder), str(uuid4())
    run = store.create_run(NewRun(key=key, importer="stock", dag_id="ingest_stock", dag_run_id=key))
    store.change_status(run.id, RunStatus.PROCESSING)
    store.record_plan(run.id, plan.chunks)
    target.dispose()
    tables.dispose()
    return run.id


def _problems(folder: Path, url: str, run_id: int, bad: set[int]) -> list[str]:
    """Rows lost or doubled, failed rows not logged or logged twice, a ledger that does not add up."""
    problems = []
    engine, store = sa.create_engine(_driver(url)), open_store(folder)
    with engine.connect() as shop:
        found = sorted(shop.execute(sa.text("SELECT amount FROM stock")).scalars())
    engine.dispose()
    if found != [n for n in range(ROWS) if n not in bad]:
        problems.append(f"{len(found)} rows in the table, {len(set(found))} different, {ROWS - len(bad)} expected")
    logged = [row.row_number for batch in store.failed_rows(run_id) for row in batch]
    if logged != [n + 1 for n in sorted(bad)]:
        problems.append(f"{len(logged)} failed rows logged, {len(bad)} expected")
    run = store.get_run(run_id)
    if (run.total, run.counts.created, run.counts.failed) != (ROWS, ROWS - len(bad), len(bad)):
        problems.append(f"the ledger says {run.counts} of {run.total}")
    return problems


def _driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)
