"""Importers whose runs can be held, broken and watched by the tests of a run's life."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from gates import Diary, product
from shop_tables import Customer

from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag
from airflow_provider_ingest.validators import RegexValidator


class Numbers:
    """A source of rows without a file."""

    def read(self):
        yield from ({"email": f"n{n}@example.com", "name": f"N {n}", "country": "DE"} for n in range(25))

    def get_schema(self):
        return {"email": {"type": "string", "required": True}}

    def get_source_metadata(self):
        return {"source_type": "numbers", "version": 3}


gated = ingest_dag(
    "gated",
    product(SourceType.FILESYSTEM, disk="demo_files").chunk_size(1).with_event_handler(Diary()),
    max_active_tis_per_dagrun=1,
)

hurried = ingest_dag("hurried", product(SourceType.FILESYSTEM, disk="demo_files"), dagrun_timeout=timedelta(seconds=20))

impatient = ingest_dag(
    "impatient",
    product(SourceType.FILESYSTEM, disk="demo_files"),
    retries=0,
    default_args={"execution_timeout": timedelta(seconds=15)},
)

fixable = ingest_dag("fixable", product(SourceType.UPLOAD).with_event_handler(Diary()))

discreet = ingest_dag("discreet", product(SourceType.UPLOAD).sensitive("name"))


def own_address(name):
    return f"{name}-{uuid4().hex}@example.com"


keyless = ingest_dag(
    "keyless",
    IngestConfig.for_(Customer, conn_id="demo_db")
    .from_source(SourceType.UPLOAD)
    .map_and_transform("name", "email", [own_address])
    .map("name", "full_name")
    .map_and_validate("country", "country", RegexValidator(r"^[A-Z]{2}$")),
)

strict = ingest_dag(
    "strict",
    product(SourceType.FILESYSTEM, disk="demo_files").chunk_size(2).reject_above(rows=1).refuse_duplicates(),
)

numbers = ingest_dag(
    "numbers",
    IngestConfig.for_(Customer, conn_id="demo_db")
    .from_source(Numbers())
    .map("email", "email")
    .map("name", "full_name")
    .map("country", "country")
    .keyed_by("email"),
)
