"""What importers are made of whose runs can be held, broken and watched."""

from __future__ import annotations

import os
import time
from pathlib import Path

from shop_tables import Product

from airflow_provider_ingest import EventHandler, IngestConfig, SourceType
from airflow_provider_ingest.transformers import NumericTransformer
from airflow_provider_ingest.validators import RegexValidator, RequiredValidator

HOME = Path(os.environ["AIRFLOW_HOME"])


def wait_for_gate(value):
    """Rows named ``gate…`` wait until a file of this name is there, and write down in which process."""
    if str(value).startswith("gate"):
        (HOME / f"pid-{value}").write_text(str(os.getpid()))
        while not (HOME / str(value)).exists():
            time.sleep(0.1)
    return value


def product(source_type: SourceType, **options: str) -> IngestConfig:
    return (
        IngestConfig.for_(Product, conn_id="demo_db")
        .from_source(source_type, options)
        .map_and_validate("sku", "sku", RegexValidator(r"^[A-Z]-\d+$"))
        .map_and_transform("name", "name", [wait_for_gate])
        .map("category", "category")
        .map_transform_and_validate("price", "price", [NumericTransformer(2)], [RequiredValidator])
        .keyed_by("sku")
    )


class Diary(EventHandler):
    """Writes down what it is told."""

    def note(self, line: str) -> None:
        with (HOME / "diary.txt").open("a") as diary:
            diary.write(line + "\n")

    def before_import(self, run):
        self.note(f"{run.id} before {run.status}")
        if run.original_filename == "refused.csv":
            raise ValueError("not today")

    def on_error(self, run, row, error):
        self.note(f"{run.id} error {row['row_number']} {error.code}")

    def after_import(self, run, stats):
        self.note(f"{run.id} after {run.status} {stats.success_count} {stats.failure_count} {stats.unprocessed_count}")
