"""What the demo expects of its file is what the demo's importer makes of it, in one chunk and in several."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from airflow_provider_ingest.engine.plan import compile_plan
from airflow_provider_ingest.engine.work import work_chunk
from airflow_provider_ingest.formats import plan_file
from airflow_provider_ingest.operators.contested import batches_of, needs_order, set_contested_apart
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import NewRun
from airflow_provider_ingest.runs.summary import event_of
from airflow_provider_ingest.storage.files import Staging
from airflow_provider_ingest.targets import open_target
from airflow_provider_ingest.testing.memory_store import MemoryStore

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("chunks", [1, 3])
def test_the_ledger_of_the_demo_is_what_its_generator_counted(
    chunks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "dags"))
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from demo_products import write_products
    from products import config
    from shop_tables import Shop

    file, rows = tmp_path / "products.csv", 9_000
    expected = write_products(file, rows)
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    engine = create_engine(url)
    Shop.metadata.create_all(engine)
    target, store, staging = open_target(url, config), MemoryStore(), Staging(str(tmp_path / "staging"))
    run = store.create_run(NewRun(key="key", importer="products", dag_id="ingest_products", dag_run_id="one"))
    plan = plan_file(file, options={}, chunk_rows=rows // chunks, scratch=tmp_path)
    planned = plan.chunks
    if needs_order(config, planned):
        compiled = compile_plan(config, target.shape())
        planned = set_contested_apart(config, compiled, plan, staging, staging.temp(run.key, "keys"))
    store.record_plan(run.id, planned)
    for chunk in planned:
        batches = batches_of(plan.reader, chunk, staging)
        work_chunk(
            config=config, run=event_of(run), run_key=run.key, chunk=chunk, batches=batches, store=store, target=target
        )
    failed = {
        row.row_number: frozenset(row.errors["validation"] if row.errors else ())
        for batch in store.failed_rows(run.id)
        for row in batch
    }
    assert failed == expected.failed
    assert store.get_run(run.id).counts == Counts(
        created=expected.created, updated=expected.updated, failed=len(expected.failed)
    )
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM products")).scalar() == expected.created
    engine.dispose()
    for name in ("demo_products", "products", "shop_tables"):
        sys.modules.pop(name, None)
