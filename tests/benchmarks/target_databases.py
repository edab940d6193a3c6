"""The databases that :mod:`tests.benchmarks.bench_targets` writes to, and what a careful person does there by hand."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import psycopg
import sqlalchemy as sa

COLUMNS = (
    "sku varchar(40) PRIMARY KEY, name varchar(200) NOT NULL, price numeric(12,2), quantity integer, "
    "is_active boolean, listed_on date, changed_at timestamp, email varchar(200), weight double precision, "
    "category text, note text, ean bigint"
)
NAMES = [column.strip().split(" ")[0] for column in COLUMNS.replace("(12,2)", "").split(", ")]
BLOCK = 1 << 20


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


def csv_file(folder: Path, frame: pl.DataFrame) -> Path:
    """The rows for databases that know no ``true``."""
    path = folder / "rows.csv"
    frame.with_columns(pl.col(pl.Boolean).cast(pl.Int8)).write_csv(path, include_header=False)
    return path


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
            for start in range(0, len(text), BLOCK):
                copy.write(view[start : start + BLOCK])

    def merge(self, text: bytes) -> None:
        """COPY into a temporary table, and one MERGE."""
        sets = ", ".join(f"{name} = s.{name}" for name in NAMES[1:])
        with self.connection.transaction():
            self.connection.execute("CREATE TEMP TABLE staged (LIKE products) ON COMMIT DROP")
            self.copy("staged", text)
            self.connection.execute(
                f"MERGE INTO products p USING staged s ON p.sku = s.sku WHEN MATCHED THEN UPDATE SET {sets} "
                f"WHEN NOT MATCHED THEN INSERT VALUES ({', '.join('s.' + name for name in NAMES)})"
            )


class Sqlite:
    """A table in a file of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bench.db"
        self.url = f"sqlite:///{self.path}"

    def reset(self) -> None:
        for one in self.path.parent.glob("bench.db*"):
            one.unlink()
        engine = sa.create_engine(self.url)
        with engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE TABLE products ({COLUMNS})")
        engine.dispose()

    def import_file(self, csv: Path) -> None:
        """The shell's own command."""
        subprocess.run(["sqlite3", str(self.path), ".mode csv", f".import {csv} products"], check=True)


class MariaDb:
    """A table in a MariaDB server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.with_files = f"{url}?local_infile=1"
        self.engine = sa.create_engine(url, connect_args={"local_infile": True})

    def reset(self) -> None:
        with self.engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE IF EXISTS products")
            connection.exec_driver_sql(f"CREATE TABLE products ({COLUMNS})")

    def load_data(self, csv: Path) -> None:
        """The statement that reads a file of the client."""
        with self.engine.begin() as connection:
            connection.exec_driver_sql(
                f"LOAD DATA LOCAL INFILE '{csv}' INTO TABLE products CHARACTER SET utf8mb4 "
                "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\n'"
            )
