"""petl: its CSV reader, its row mapping with our rules, its ``todb``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import petl
import psycopg
from rules import COLUMNS, BadRowError, convert


def todb(dsn: str, path: Path) -> int:
    """Rows whose mapping raises are left out by petl; the list keeps them."""
    bad: list[tuple[tuple[str, ...], dict[str, str]]] = []

    def mapped(row: Any) -> tuple[object, ...]:
        try:
            return convert(row)
        except BadRowError as error:
            bad.append((tuple(row), error.errors))
            raise

    good = petl.rowmap(petl.fromcsv(path, encoding="utf-8"), mapped, COLUMNS, failonerror=False)
    with psycopg.connect(dsn) as connection:
        petl.appenddb(good, connection, "orders", commit=True)
    return len(bad)
