from __future__ import annotations

import json

import pytest

from airflow_provider_ingest.cli.output import error_lines, print_as
from airflow_provider_ingest.cli.progress import describe
from airflow_provider_ingest.runs.outcome import ErrorCount
from airflow_provider_ingest.service import ErrorSummary
from tests.unit.service.world import INVALID, World


def test_json_keeps_types_and_characters(capsys: pytest.CaptureFixture[str]) -> None:
    print_as("json", {"id": 7, "name": "März", "paused": False, "nothing": None}, [])
    text = capsys.readouterr().out
    assert json.loads(text) == {"id": 7, "name": "März", "paused": False, "nothing": None}
    assert "März" in text
    assert text.count("\n") == 1


def test_yaml_is_printed_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    print_as("yaml", {"b": 1, "a": [None]}, [])
    assert capsys.readouterr().out == "b: 1\na:\n- null\n"


@pytest.mark.parametrize("output", ["table", "plain"])
def test_tables_show_the_lines(capsys: pytest.CaptureFixture[str], output: str) -> None:
    print_as(output, {}, [{"slug": "products", "mappings": 8}])
    text = capsys.readouterr().out
    assert "slug" in text
    assert "products" in text


def test_brackets_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_as("table", {}, [{"value": "[red]x[/nothing]"}])
    assert "[red]x[/nothing]" in capsys.readouterr().out


def test_the_most_frequent_messages_come_first() -> None:
    summary = ErrorSummary(
        total_failed_rows=1234,
        general=(ErrorCount(message=INVALID, count=1230), ErrorCount(message="expected 3 fields", count=4)),
        validation=(
            ErrorCount(field="sku", message="is required", count=30),
            ErrorCount(field="price", message="is no number", count=1200),
        ),
    )
    assert error_lines(summary) == [
        "1,234 rows failed:",
        "       1,200  price: is no number",
        "          30  sku: is required",
        "           4  expected 3 fields",
    ]
    assert error_lines(summary, most=1)[-1] == "  and 2 more messages"
    assert error_lines(summary, most=2)[-1] == "  and 1 more message"
    assert error_lines(ErrorSummary(total_failed_rows=0, general=(), validation=())) == []


def test_a_run_is_described_in_words() -> None:
    world = World()
    assert describe(world.started()) == "pending"
    assert (
        describe(world.ended(failed=1, created=3, content="b"))
        == "completed_with_errors, 4 of 4 rows (100 %), 1 failed"
    )
