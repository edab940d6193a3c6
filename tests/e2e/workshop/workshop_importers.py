"""Importers that say everything an importer can say, for the tests of the row engine in real runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
from workshop_tables import Article, Brand, Maker, Price, Stock, Variant

from airflow_provider_ingest import DuplicateStrategy, EventHandler, IngestConfig, SourceType, ingest_dag
from airflow_provider_ingest.transformers import (
    BooleanTransformer,
    ConcatTransformer,
    DateTransformer,
    DefaultValueTransformer,
    MapTransformer,
    NumericTransformer,
    ScalarTransformer,
    SlugTransformer,
    Transformer,
    TrimTransformer,
)
from airflow_provider_ingest.validators import (
    DateValidator,
    EmailValidator,
    InArrayValidator,
    RangeValidator,
    RegexValidator,
    RequiredValidator,
    ScalarValidator,
    Validator,
)

DIARY = Path(os.environ["AIRFLOW_HOME"]) / "workshop-diary.jsonl"


class Initials(ScalarTransformer):
    """Sees one value."""

    def transform_value(self, value, row):
        if value == "?":
            raise ValueError("Nobody is called that.")
        return "".join(word[0] for word in (value or "").split())


class NotTheBrand(ScalarValidator):
    """Sees the row."""

    code, message, uses_row = "same_as_brand", "The title only repeats the brand.", True

    def check_value(self, value, row):
        return value != row["brand"]


class Doubled(Transformer):
    """Sees the column."""

    def transform(self, values, rows):
        return values.cast(pl.Int64, strict=False) * 2


class BelowHundred(Validator):
    """Sees the column."""

    code, message = "below_hundred", "The double must be below 100."

    def passes(self, values, rows):
        return values < 100


class DiscountForClubs:
    """A conditional mapping as an object."""

    source_field = "discount"
    attribute = "discount"
    transformer = NumericTransformer(0)
    validator = RangeValidator(max=50)

    def should_apply(self, row):
        return row["channel"] == "club"


class Diary(EventHandler):
    """Writes down everything it is told."""

    def note(self, run, event, **more):
        with DIARY.open("a") as diary:
            diary.write(json.dumps({"run": run.id, "status": str(run.status), "event": event, **more}) + "\n")

    def before_import(self, run):
        self.note(run, "before", file=run.original_filename)

    def on_row_processed(self, run, row, record):
        self.note(run, "row", sku=row["sku"], title=record["title"], price=str(record["price"]))

    def on_error(self, run, row, error):
        self.note(run, "error", row=row["row_number"], code=error.code)

    def after_import(self, run, stats):
        self.note(run, "after", stats=stats.to_dict())


def tidy(value):
    return value and " ".join(value.split())


def shout(value):
    return value.upper() if value else value


def prices(price):
    return (
        price.for_(Price)
        .map_and_validate("currency", "currency", InArrayValidator(["EUR", "USD"]))
        .map_transform_and_validate("amount", "amount", NumericTransformer(2), RangeValidator(min=0))
        .keyed_by("currency")
    )


def variants(variant):
    return (
        variant.for_(Variant)
        .map_and_validate("color", "color", RequiredValidator)
        .map_when("finish", "finish", lambda element: element["color"] != "raw", [TrimTransformer, shout])
        .keyed_by("color")
        .nest("prices", prices)
    )


rich = (
    IngestConfig.for_(Article, conn_id="workshop_db")
    .from_source(SourceType.JSON, disk="demo_files")
    .expect_schema(
        {
            "sku": {"type": "string", "required": True, "nullable": False},
            "boxes": {"type": "integer"},
            "weight": {"type": "numeric"},
            "fragile": {"type": "boolean"},
            "made_on": {"type": "date"},
            "seen_at": {"type": "datetime"},
        }
    )
    .map_and_validate("sku", "sku", RegexValidator(r"^[A-Z]-\d+$", "An SKU looks like A-1."))
    .map_transform_and_validate(["title", "name"], "title", [TrimTransformer("*"), tidy], [NotTheBrand])
    .map_and_transform("slug", "slug", SlugTransformer("_"))
    .map_and_transform(None, "label", ConcatTransformer(["brand", "sku"], "/"))
    .map_and_transform("size", "size", MapTransformer({"S": "small", "L": "large"}, default="other"))
    .map_and_transform("active", "is_active", BooleanTransformer(["ja"], ["nein"], default=0))
    .map_and_transform("released", "released", DateTransformer("%d.%m.%Y", "%Y-%m-%d", on_invalid="fail"))
    .map_and_transform("stock", "stock", [DefaultValueTransformer(0, ["n/a", ""]), NumericTransformer(0)])
    .map_transform_and_validate(
        "price",
        "price",
        [NumericTransformer(2, decimal_separator=",", thousands_separator=".")],
        [RequiredValidator, RangeValidator(0, 10000, "The price lies between 0 and 10,000.")],
    )
    .map_and_validate("contact", "contact", EmailValidator)
    .map_and_validate("rating", "rating", InArrayValidator([1, 2, 3], strict=True))
    .map_and_validate("checked_on", "checked_on", DateValidator("%Y-%m-%d"))
    .map("seen_at", "seen_at")
    .map("address.city", "city")
    .map_and_transform("author", "initials", [Initials, shout])
    .map_transform_and_validate("number", "doubled", Doubled, BelowHundred)
    .relate("brand", "brand_id", Brand, key="name", create_missing=True)
    .relate("maker", "maker_id", Maker, key="code")
    .map("replaces", "replaces_id")
    .map_when("code", "tracking", lambda row: row["status"] == "sent", TrimTransformer, RequiredValidator)
    .map_when("courier", "delivery", pl.col("channel") == "club")
    .map_when("express", "delivery", lambda row: row["status"] == "express")
    .map_when("discount", "discount", DiscountForClubs())
    .nest("data.variants", variants)
    .keyed_by("sku")
    .log_rows("all")
    .with_tracing()
    .with_event_handler(Diary())
)

workshop = ingest_dag("workshop", rich)


def stocks(*names):
    """Stocks by store and SKU in chunks of two rows."""
    config = IngestConfig.for_(Stock, conn_id="workshop_db").from_source(SourceType.FILESYSTEM, disk="demo_files")
    for name in names:
        config = config.map(name, name)
    return config.map_and_transform(None, "store", ConcatTransformer(["store"])).chunk_size(2)


def by_key(strategy, **more):
    return stocks("sku", "amount", "changed_on").keyed_by("store", "sku", on_duplicate=strategy, **more)


update = ingest_dag("stock_update", by_key(DuplicateStrategy.UPDATE).trace_transformations().log_rows("all"))
skip = ingest_dag("stock_skip", by_key(DuplicateStrategy.SKIP).trace_mappings().log_rows("all"))
fail = ingest_dag("stock_fail", by_key(DuplicateStrategy.FAIL))
newer = ingest_dag(
    "stock_newer",
    stocks("sku", "amount")
    .map("day", "changed_on")
    .keyed_by("store", "sku", on_duplicate=DuplicateStrategy.UPDATE_IF_NEWER, newer=("day", "changed_on")),
)
unique = ingest_dag("stock_unique", by_key(DuplicateStrategy.UPDATE).assume_unique_keys())
