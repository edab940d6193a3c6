"""Custom sources: rows of a user's object become a file."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.custom import CustomHook
from airflow_provider_ingest.importers.source import SourceSpec, SourceType


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


def test_a_missing_number_is_null_and_an_infinite_one_is_not(fetch):
    got = fetch(CustomHook(Rows([{"n": float("nan"), "m": None}, {"n": float("-inf"), "m": 1}])))
    assert got.content == b'{"n":null,"m":null}\n{"n":"-inf","m":1}\n'


def test_so_it_is_beside_a_number_of_more_than_64_bits(fetch):
    row = {"big": 2**70, "n": float("nan"), "m": float("inf"), "inner": [float("nan"), {"k": float("-inf")}]}
    got = fetch(CustomHook(Rows([row])))
    assert json.loads(got.content) == {"big": 2**70, "n": None, "m": "inf", "inner": [None, {"k": "-inf"}]}
    assert b"NaN" not in got.content


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


def test_the_metadata_are_kept_on_the_run(staged_run):
    run = staged_run(SourceSpec(type=SourceType.CUSTOM, custom=Rows([{"n": 1}])))
    run.stage()
    assert run.store.get_run(run.id).file["source"] == {"source_type": "rows", "taken_at": "2026-01-31"}
    assert run.content == b'{"n":1}\n'


def test_a_run_keeps_the_rows_that_it_staged_first(stays_pinned):
    rows = Rows([{"n": 1}])
    stays_pinned(SourceSpec(type=SourceType.CUSTOM, custom=rows), lambda: rows.rows.append({"n": 2}))


def test_the_connection_test_asks_for_the_metadata_and_reads_nothing():
    assert CustomHook(Rows([RuntimeError()])).test_connection() == (True, "rows can be read.")
    broken = Rows([])
    broken.get_source_metadata = lambda: 1 / 0
    is_good, why = CustomHook(broken).test_connection()
    assert not is_good
    assert "it raised ZeroDivisionError" in why
