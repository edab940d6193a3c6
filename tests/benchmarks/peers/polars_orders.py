"""The rules as Polars expressions, for the peers that take Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
from rules import CATEGORIES, COLUMNS, COUNTRIES, FLAGS

BATCH = 100_000

NUMBER = pl.col("order").cast(pl.Int32, strict=False)
PRICE = pl.col("price").cast(pl.Decimal(10, 2), strict=False)
QUANTITY = pl.col("quantity").cast(pl.Int32, strict=False)
NAME = pl.col("name").str.strip_chars()
ACTIVE = pl.col("active").replace_strict(FLAGS, default=None, return_dtype=pl.Boolean)
DAY = pl.col("date").str.to_date("%d.%m.%Y", strict=False)
RULES = {
    "order": NUMBER.is_not_null(),
    "sku": pl.col("sku").str.contains(r"^AB-\d{8}$"),
    "name": NAME != "",
    "email": pl.col("email").str.contains(r"^[^@\s]+@[^@\s]+\.[^@\s.]+$"),
    "category": pl.col("category").is_in(list(CATEGORIES)),
    "price": PRICE.cast(pl.Float64).is_between(0.01, 10_000),
    "quantity": QUANTITY.is_between(1, 1000),
    "active": ACTIVE.is_not_null(),
    "date": DAY.is_not_null(),
}
RECORD = (
    NUMBER, pl.col("sku"), NAME, pl.col("email"), pl.col("category"), PRICE, QUANTITY, ACTIVE, DAY,
    pl.col("country").replace(COUNTRIES), pl.col("rating").cast(pl.Float64), pl.col("note").fill_null("none"),
)  # fmt: skip


def good_rows(path: Path, bad: list[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Frames of the good rows; those of the bad ones, with what is wrong, are put on the list."""
    for frame in pl.scan_csv(path, infer_schema=False).collect_batches(chunk_size=BATCH, maintain_order=True):
        rules = [rule.fill_null(False).alias(f"{name} holds") for name, rule in RULES.items()]
        named = [one.alias(name) for name, one in zip(COLUMNS, RECORD, strict=True)]
        checked = frame.with_columns(rules)
        all_hold = pl.all_horizontal(pl.col("^.* holds$"))
        bad.append(checked.filter(~all_hold))
        yield checked.filter(all_hold).select(named)
