"""A loop over the csv module, as a good engineer writes it: batches, one transaction, psycopg 3."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import psycopg
from rules import COLUMNS, BadRowError, convert

BATCH = 10_000
INSERT = f"INSERT INTO orders ({', '.join(COLUMNS)}) VALUES ({', '.join(['%s'] * len(COLUMNS))})"
COPY = f"COPY orders ({', '.join(COLUMNS)}) FROM STDIN"

Bad = list[tuple[int, list[str], dict[str, str]]]


def records(path: Path, bad: Bad) -> Iterator[tuple[object, ...]]:
    """The good rows; the bad ones are put on the list, with their line and what is wrong."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        next(reader)
        for row in reader:
            try:
                yield convert(row)
            except BadRowError as error:
                bad.append((reader.line_num, row, error.errors))


def executemany(dsn: str, path: Path) -> int:
    """With INSERT statements."""
    bad = Bad()
    with psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        rows = records(path, bad)
        while batch := list(islice(rows, BATCH)):
            cursor.executemany(INSERT, batch)
    return len(bad)


def copy(dsn: str, path: Path) -> int:
    """With COPY, a row at a time: the best that a loop can do."""
    bad = Bad()
    with psycopg.connect(dsn) as connection, connection.cursor().copy(COPY) as target:
        for record in records(path, bad):
            target.write_row(record)
    return len(bad)
