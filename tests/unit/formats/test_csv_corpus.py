"""The corpus of polluted files in ``tests/data/csv``: every row and every malformed record as expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_ingest.formats import plan_file, read_chunk, read_table
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER

CORPUS = Path(__file__).parents[2] / "data" / "csv"
NAMES = sorted(path.stem for path in CORPUS.glob("*.json"))


def expectation(name: str) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))
    return expected


def described(malformed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"row": one[ROW_NUMBER], "line": one[LINE_NUMBER], "reason": one["reason"], "data": json.loads(one["data"])}
        for one in malformed
    ]


def test_the_corpus_is_there() -> None:
    assert len(NAMES) > 70


@pytest.mark.parametrize("name", NAMES)
def test_a_polluted_file_gives_every_row(name: str) -> None:
    expected = expectation(name)
    table = read_table(CORPUS / f"{name}.csv", **expected["options"])
    assert list(table.columns) == expected["columns"]
    assert [list(row[2:]) for row in table.frame.rows()] == expected["rows"]
    assert described(table.malformed.to_dicts()) == expected["malformed"]


@pytest.mark.parametrize("name", NAMES)
def test_chunks_of_two_rows_give_the_same(name: str, tmp_path: Path) -> None:
    expected = expectation(name)
    path = CORPUS / f"{name}.csv"
    whole = read_table(path, **expected["options"])
    plan = plan_file(path, options=expected["options"], chunk_rows=2, scratch=tmp_path)
    batches = [batch for chunk in plan.chunks for batch in read_chunk(plan.reader, chunk, batch_rows=1)]
    assert [row for batch in batches for row in batch.frame.rows()] == whole.frame.rows()
    assert [row for batch in batches for row in batch.malformed.rows()] == whole.malformed.rows()
