"""Custom sources: rows of a user's object become a file."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.custom import CustomHook


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def read(self):
        for row in self.rows:
            if isinstance(row, Exception):
                raise row
            yield row

    def get_schema(self):
        return {}

    def get_source_metadata(self):
        return {"source_type": "rows", "taken_at": date(2026, 1, 31)}


def test_every_row_is_one_line(fetch):
    rows = [
        {"n": 1, "price": Decimal("1.10"), "at": datetime(2026, 1, 31, 12, tzinfo=UTC), "day": date(2026, 1, 31)},
        {"id": UUID(int=7), "tags": ("a", "b"), "none": None, "big": 2**70},
    ]
    got = fetch(CustomHook(Rows(rows)))
    assert [json.loads(line) for line in got.content.splitlines()] == [
        {"n": 1, "price": "1.10", "at": "2026-01-31T12:00:00+00:00", "day": "2026-01-31"},
        {"id": str(UUID(int=7)), "tags": ["a", "b"], "none": None, "big": 2**70},
    ]
    assert got.facts == {"source": {"source_type": "rows", "taken_at": "2026-01-31"}}


def test_a_generator_that_raises_in_the_middle_fails_the_whole_file_and_says_where(fetch):
    with pytest.raises(SourceError, match="broke off after row 2: it raised RuntimeError") as caught:
        fetch(CustomHook(Rows([{"n": 1}, {"n": 2}, RuntimeError("secret value")])))
    assert "secret" not in str(caught.value)
    assert caught.value.retryable


@pytest.mark.parametrize("row", [7, ["a"], None])
def test_a_row_that_is_no_mapping_is_refused(fetch, row):
    with pytest.raises(SourceError, match="as row 1; a row is a mapping"):
        fetch(CustomHook(Rows([row])))


def test_a_value_without_a_json_form_is_named_by_its_type(fetch):
    with pytest.raises(SourceError, match=r"Row 1 .*type object"):
        fetch(CustomHook(Rows([{"n": object()}])))


def test_many_rows_leave_in_blocks(fetch):
    hook = CustomHook(Rows({"n": n, "text": "x" * 100} for n in range(50_000)))
    with hook.open() as stream:
        sizes = [len(block) for block in stream.blocks]
    assert len(sizes) > 3
    assert max(sizes) < 1_200_000
