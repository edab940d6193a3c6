"""What the target suites arrange with: a shop's tables in each database, batches, and runs of one chunk."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import polars as pl
import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.runs.frames import ROW_NUMBER, SET_PREFIX, ChildBatch, RecordBatch, WriteResult
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.targets.generic import GenericTarget
from airflow_provider_ingest.targets.planning import TargetTables

METADATA = sa.MetaData()

CATEGORIES = sa.Table(
    "categories",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(50), unique=True, nullable=False),
    sa.CheckConstraint("name <> 'refused'", name="name_not_refused"),
)

PRODUCTS = sa.Table(
    "products",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("sku", sa.String(20), unique=True),
    sa.Column("name", sa.String(40), nullable=False),
    sa.Column("price", sa.Numeric(10, 2)),
    sa.Column("stock", sa.Integer, server_default="7"),
    sa.Column("barcode", sa.String(20), unique=True),
    sa.Column("category_id", sa.ForeignKey("categories.id")),
    sa.Column("changed_on", sa.Date),
    sa.CheckConstraint("price >= 0", name="price_not_negative"),
)

LOOSE = sa.Table(
    "loose",
    METADATA,
    sa.Column("store", sa.Integer),
    sa.Column("sku", sa.String(20)),
    sa.Column("name", sa.String(40)),
)

VARIANTS = sa.Table(
    "variants",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("product_id", sa.ForeignKey("products.id"), nullable=False),
    sa.Column("size", sa.String(10), nullable=False),
    sa.Column("stock", sa.Integer, server_default="4"),
    sa.CheckConstraint("stock >= 0", name="stock_not_negative"),
    sa.UniqueConstraint("product_id", "size", name="one_variant_per_size"),
)

PRICES = sa.Table(
    "prices",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("variant_id", sa.ForeignKey("variants.id"), nullable=False),
    sa.Column("currency", sa.String(3), nullable=False),
    sa.Column("amount", sa.Numeric(10, 2)),
)


def open_generic(url: str, config: IngestConfig) -> GenericTarget:
    """The generic target on a database that has one of its own."""
    driver = url.replace("postgresql://", "postgresql+psycopg://")
    return GenericTarget(sa.make_url(driver), TargetTables.of(config))


class Shop:
    """A database with the shop's tables, and a target on it."""

    def __init__(self, url: str, open_target: Any) -> None:
        self.url = url
        self._open_target = open_target
        self.engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool)
        METADATA.create_all(self.engine)

    def target(self, config: IngestConfig) -> Any:
        return self._open_target(self.url, config)

    def rows(self, table: sa.Table, *columns: str) -> list[tuple[Any, ...]]:
        with self.engine.connect() as connection:
            wanted = [table.c[name] for name in columns]
            return [tuple(row) for row in connection.execute(sa.select(*wanted).order_by(*wanted))]

    def add(self, table: sa.Table, *rows: dict[str, Any]) -> None:
        with self.engine.begin() as connection:
            connection.execute(table.insert(), list(rows))

    def count(self, table: sa.Table) -> int:
        with self.engine.connect() as connection:
            return int(connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0)


def into(table: sa.Table | str, *attributes: str) -> IngestConfig:
    """An importer into a table, each attribute from the field of its name."""
    config = IngestConfig.for_(table, conn_id="shop")
    for name in attributes:
        config = config.map(name, name)
    return config


def batch(
    rows: Sequence[dict[str, Any]],
    *,
    first: int = 1,
    schema: dict[str, Any] | None = None,
    conditional: dict[str, Sequence[bool]] | None = None,
    children: tuple[ChildBatch, ...] = (),
) -> RecordBatch:
    """A batch of records, row numbers counted from ``first``."""
    frame = pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)
    frame = frame.insert_column(0, pl.int_range(first, first + frame.height, eager=True).alias(ROW_NUMBER))
    conditional = conditional or {}
    frame = frame.with_columns(pl.Series(SET_PREFIX + name, list(set_in)) for name, set_in in conditional.items())
    return RecordBatch(records=frame, conditional=tuple(conditional), children=children)


def nested(name: str, rows: Sequence[dict[str, Any]], children: tuple[ChildBatch, ...] = ()) -> ChildBatch:
    """A nested collection; each row brings ``_row_number`` and ``_parent``."""
    return ChildBatch(name=name, records=pl.DataFrame(rows, infer_schema_length=None), children=children)


def outcome(*results: WriteResult) -> ChunkOutcome:
    """The outcome of a chunk whose batches ended so."""
    return ChunkOutcome(
        counts=Counts(
            created=sum(one.created for one in results),
            updated=sum(one.updated for one in results),
            skipped=sum(one.skipped for one in results),
            failed=sum(one.refused.height for one in results),
        )
    )


def write(
    target: Any,
    *batches: RecordBatch,
    run_key: str | None = None,
    index: int = 0,
    dry_run: bool = False,
    want_ends: bool = False,
    ahead: bool = False,
) -> WriteResult:
    """Work one chunk; the result of its last batch.

    :param ahead: prepare all batches before the first one is written, in another thread, as the engine may.
    """
    with target.open_chunk(run_key or str(uuid4()), index, dry_run=dry_run) as chunk:
        assert chunk.recorded is None
        if ahead:
            with ThreadPoolExecutor(1) as worker:
                batches = tuple(worker.map(chunk.prepare, batches))
        results = [chunk.write(one, want_ends=want_ends) for one in batches]
        chunk.commit(outcome(*results))
    return results[-1]


def counts(result: WriteResult) -> tuple[int, int, int, int]:
    """Created, updated, skipped, refused."""
    return result.created, result.updated, result.skipped, result.refused.height


def codes(result: WriteResult) -> list[tuple[int, str]]:
    """Row number and code of each refused row."""
    return result.refused.select(ROW_NUMBER, "code").rows()
