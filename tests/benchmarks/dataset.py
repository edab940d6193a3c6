"""The benchmarks' data: orders of a shop, 12 columns, 2 % of the rows wrong in several ways, equal for equal seeds."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # who only wants to know where the files are pays for no imports
    import polars as pl

FOLDER = Path(os.environ.get("INGEST_BENCH_DATA") or Path(tempfile.gettempdir()) / "ingest-bench")
"""Where the files stay for the next time."""
COUNTRIES = ["Germany", "France", "Spain", "Poland", "Italy"]
CODES = ["DE", "FR", "ES", "PL", "IT"]
CATEGORIES = ["Books", "Electronics", "Garden", "Toys"]

TABLE = """
CREATE TABLE {name} (
    order_id integer PRIMARY KEY,
    sku varchar(12) NOT NULL,
    name varchar(80) NOT NULL,
    email varchar(120) NOT NULL,
    category varchar(20) NOT NULL,
    price numeric(10, 2) NOT NULL,
    quantity integer NOT NULL,
    is_active boolean NOT NULL,
    ordered_on date NOT NULL,
    country varchar(2) NOT NULL,
    rating double precision,
    note text
)
"""
COLUMNS = (
    "order_id",
    "sku",
    "name",
    "email",
    "category",
    "price",
    "quantity",
    "is_active",
    "ordered_on",
    "country",
    "rating",
    "note",
)
HEADER = (
    "order",
    "sku",
    "name",
    "email",
    "category",
    "price",
    "quantity",
    "active",
    "date",
    "country",
    "rating",
    "note",
)
BLOCK = 250_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Two files: ``raw`` as people send it, ``clean`` as COPY takes it (the good rows only, typed)."""

    raw: Path
    clean: Path
    rows: int
    bad: int


def make_dataset(folder: Path, rows: int, seed: int = 7) -> Dataset:
    """Write the files unless they are there; memory stays flat."""
    raw, clean = folder / f"orders-{rows}.csv", folder / f"orders-{rows}-clean.csv"
    counted = folder / f"orders-{rows}.bad"
    if not counted.exists():
        folder.mkdir(parents=True, exist_ok=True)
        bad = 0
        with raw.open("wb") as raw_file, clean.open("wb") as clean_file:
            for start in range(0, rows, BLOCK):
                messy, good, wrong = _block(start, min(BLOCK, rows - start), seed)
                messy.write_csv(raw_file, include_header=start == 0)
                good.write_csv(clean_file, include_header=False)
                bad += wrong
        counted.write_text(str(bad))
    return Dataset(raw=raw, clean=clean, rows=rows, bad=int(counted.read_text()))


def _block(start: int, size: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    import numpy as np
    import polars as pl

    rng = np.random.default_rng([seed, start])
    number = np.arange(start + 1, start + size + 1)
    price = rng.integers(100, 999_900, size)
    country = rng.integers(0, 5, size)
    day = np.datetime64("2020-01-01") + rng.integers(0, 2000, size)
    frame = pl.DataFrame(
        {
            "number": number,
            "price": price,
            "quantity": rng.integers(1, 500, size),
            "category": np.array(CATEGORIES)[rng.integers(0, 4, size)],
            "country": np.array(COUNTRIES)[country],
            "code": np.array(CODES)[country],
            "active": rng.integers(0, 2, size).astype(bool),
            "day": day.astype("datetime64[D]"),
            "rating": rng.integers(10, 51, size) / 10,
            "wrong": np.where(rng.random(size) < 0.02, rng.integers(1, 6, size), 0),
        }
    )
    text, wrong, digits = pl.col("number").cast(pl.String), pl.col("wrong"), pl.col("price").cast(pl.String)
    amount = digits.str.slice(0, digits.str.len_chars() - 2) + "." + digits.str.slice(-2)
    sku = "AB-" + text.str.zfill(8)
    name = "Article no. " + text
    email = "customer" + text + "@example.com"
    note = pl.when(pl.col("number") % 7 == 0).then(pl.lit('said "fine", later')).otherwise(pl.lit("ok"))
    messy = frame.select(
        text.alias("order"),
        pl.when(wrong == 1).then(pl.lit("broken")).otherwise(sku).alias("sku"),
        ("  " + name + " ").alias("name"),
        pl.when(wrong == 2).then(pl.lit("no address")).otherwise(email).alias("email"),
        pl.when(wrong == 3).then(pl.lit("Cars")).otherwise(pl.col("category")).alias("category"),
        pl.when(wrong == 4).then(pl.lit("cheap")).otherwise(amount).alias("price"),
        pl.col("quantity").cast(pl.String),
        pl.when("active").then(pl.lit("yes")).otherwise(pl.lit("no")).alias("active"),
        pl.when(wrong == 5).then(pl.lit("31.02.2023")).otherwise(pl.col("day").dt.strftime("%d.%m.%Y")).alias("date"),
        "country",
        pl.col("rating").cast(pl.String),
        note.alias("note"),
    )
    good = frame.filter(wrong == 0).select(
        "number",
        sku.alias("sku"),
        name.alias("name"),
        email.alias("email"),
        "category",
        amount.alias("price"),
        "quantity",
        pl.when("active").then(pl.lit("t")).otherwise(pl.lit("f")).alias("active"),
        pl.col("day").dt.strftime("%Y-%m-%d"),
        "code",
        "rating",
        note.alias("note"),
    )
    return messy, good, frame.filter(wrong != 0).height
