"""Keys of relations are asked for once, and remembered as long as a batch may need them."""

from __future__ import annotations

import pytest

from airflow_provider_ingest.engine import lookups
from airflow_provider_ingest.runs.progress import Counts
from tests.unit.engine.chunk_world import KINDS, importer, made_world
from tests.unit.engine.worlds import batch


def test_a_batch_finds_its_keys_though_those_behind_it_make_the_chunk_forget(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "MOST_REMEMBERED", 2)
    world = made_world(sqlite_url)
    with world.engine.begin() as connection:
        connection.execute(KINDS.insert(), [{"id": 100 + one, "name": f"kind {one}"} for one in range(90)])
    parts = [
        batch(
            {"code": [f"c{n}" for n in some], "price": ["1"] * 3, "kind": [f"kind {n}" for n in some]},
            first=some[0] + 1,
        )
        for some in (range(first, first + 3) for first in range(0, 90, 3))
    ]
    assert world.work(importer().relate("kind", "kind_id", KINDS, key="name"), *parts).counts == Counts(created=90)
    assert [row[2] for row in world.rows()] == [100 + one for one in range(90)]
