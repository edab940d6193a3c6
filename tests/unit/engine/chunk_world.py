"""A database, a store with one run, and chunks to work in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from airflow_provider_ingest import IngestConfig, IngestRun, SourceType
from airflow_provider_ingest.engine.work import work_chunk
from airflow_provider_ingest.importers.target import TargetSpec
from airflow_provider_ingest.runs.frames import RowBatch
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.records import ChunkPlan, NewRun
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.targets import open_target
from airflow_provider_ingest.testing.memory_store import MemoryStore

METADATA = sa.MetaData()
THINGS = sa.Table(
    "things",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("code", sa.String(5), unique=True),
    sa.Column("price", sa.Numeric(10, 2)),
    sa.Column("kind_id", sa.ForeignKey("kinds.id")),
)
KINDS = sa.Table(
    "kinds", METADATA, sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String, unique=True)
)
PARTS = sa.Table(
    "parts",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("thing_id", sa.ForeignKey("things.id"), nullable=False),
    sa.Column("kind_id", sa.ForeignKey("kinds.id")),
    sa.Column("name", sa.String),
)


def importer() -> IngestConfig:
    return IngestConfig.for_(THINGS, "shop").from_source(SourceType.UPLOAD).map("code", "code").map("price", "price")


@dataclass
class World:
    """A database, a store with one run, and chunks to work."""

    url: str
    engine: sa.Engine
    store: MemoryStore
    run: IngestRun
    key: str

    def work(self, config: IngestConfig, *batches: RowBatch, index: int = 0, **options: Any) -> ChunkOutcome:
        rows = sum(one.rows for one in batches)
        return work_chunk(
            config=replace(config, target=TargetSpec(model=THINGS, conn_id="shop")),
            run=self.run,
            run_key=self.key,
            chunk=ChunkPlan(index=index, first_row=1, rows=rows, location={}),
            batches=iter(batches),
            store=self.store,
            target=open_target(sa.make_url(self.url), config),
            **options,
        )

    def rows(self, table: sa.Table = THINGS) -> list[Any]:
        with self.engine.connect() as connection:
            return [row[1:] for row in connection.execute(sa.select(table).order_by(table.c.id))]

    def logged(self) -> list[tuple[int, str, str | None]]:
        page = self.store.rows(self.run.id, page=1, per_page=100)
        return [(row.row_number, row.status, (row.errors or {}).get("code")) for row in page.items]


def made_world(url: str, *, dry_run: bool = False) -> World:
    engine = sa.create_engine(url)
    METADATA.create_all(engine)
    with engine.begin() as connection:
        connection.execute(KINDS.insert(), [{"id": 5, "name": "tool"}])
    store = MemoryStore()
    key = str(uuid4())
    new = NewRun(key=key, importer="things", dag_id="ingest_things", dag_run_id="r", is_dry_run=dry_run)
    record = store.create_run(new)
    store.change_status(record.id, RunStatus.PROCESSING)
    store.record_plan(record.id, [ChunkPlan(index=index, first_row=1, rows=3, location={}) for index in range(2)])
    run = IngestRun(
        id=record.id, importer="things", status="processing", is_dry_run=dry_run, dag_id="ingest_things", dag_run_id="r"
    )
    return World(url=url, engine=engine, store=store, run=run, key=key)
