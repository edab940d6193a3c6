"""pandas: the rules on whole columns, in parts of the file, then ``to_sql``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import sqlalchemy as sa
from rules import CATEGORIES, COUNTRIES, FLAGS

PART = 100_000


def checked(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The records of the good rows, and the bad rows with what holds for them."""
    number, quantity = (pd.to_numeric(frame[name], errors="coerce") for name in ("order", "quantity"))
    price = pd.to_numeric(frame["price"], errors="coerce").round(2)
    name, active = frame["name"].str.strip(), frame["active"].map(FLAGS)
    day = pd.to_datetime(frame["date"], format="%d.%m.%Y", errors="coerce")
    holds = pd.DataFrame(
        {
            "order": number.notna(),
            "sku": frame["sku"].str.fullmatch(r"AB-\d{8}").fillna(False),
            "name": name.fillna("") != "",
            "email": frame["email"].str.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+").fillna(False),
            "category": frame["category"].isin(CATEGORIES),
            "price": price.between(0.01, 10_000),
            "quantity": quantity.between(1, 1000),
            "active": active.notna(),
            "date": day.notna(),
        }
    ).astype(bool)
    records = pd.DataFrame(
        {
            "order_id": number,
            "sku": frame["sku"],
            "name": name,
            "email": frame["email"],
            "category": frame["category"],
            "price": price,
            "quantity": quantity,
            "is_active": active,
            "ordered_on": day,
            "country": frame["country"].map(COUNTRIES).fillna(frame["country"]),
            "rating": pd.to_numeric(frame["rating"]),
            "note": frame["note"].fillna("none"),
        }
    )
    good = holds.all(axis=1)
    kept = records[good].astype({"order_id": "int64", "quantity": "int64", "is_active": "bool"})
    return kept.assign(ordered_on=kept["ordered_on"].dt.date), frame[~good].join(holds, rsuffix=" holds")


def load(dsn: str, path: Path, method: Any) -> int:
    """The parts of the file in turn, in one transaction."""
    bad = []
    engine = sa.create_engine(dsn.replace("postgresql://", "postgresql+psycopg://", 1))
    with engine.begin() as connection:
        for frame in pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""], chunksize=PART):
            records, wrong = checked(frame)
            records.to_sql("orders", connection, if_exists="append", index=False, method=method)
            bad.append(wrong)
    engine.dispose()
    return sum(len(wrong) for wrong in bad)


def copy_rows(table: Any, connection: Any, names: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """The method with COPY from the documentation of ``to_sql``."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    with (
        connection.connection.cursor() as cursor,
        cursor.copy(f"COPY {table.name} ({', '.join(names)}) FROM STDIN WITH CSV") as target,
    ):
        target.write(text.getvalue())


def to_sql(dsn: str, path: Path) -> int:
    """``to_sql`` as it is: executemany."""
    return load(dsn, path, None)


def to_sql_copy(dsn: str, path: Path) -> int:
    """``to_sql`` with COPY."""
    return load(dsn, path, copy_rows)
