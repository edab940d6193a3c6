"""The expected schema: columns of the file, and raw values of the rows."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from airflow_provider_ingest import IngestConfig
from airflow_provider_ingest.exceptions import SchemaMismatch
from airflow_provider_ingest.runs.frames import Kind
from airflow_provider_ingest.transformers import ConcatTransformer, ScalarTransformer
from airflow_provider_ingest.validators import RangeValidator, RequiredValidator, ScalarValidator
from tests.unit.engine.worlds import batch, failures, importer, integer, plan, process, table


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("integer", ["1", " -7 ", "+3", "9" * 30], ["1.5", "1e5", "x", "٣"]),
        ("numeric", ["1", "1.5", "-.5", "1e5"], ["12,50", "NaN", "1_000"]),
        ("boolean", ["true", "No", "1", "f"], ["2", "maybe"]),
        ("date", ["2024-02-29"], ["2023-02-29", "31.12.2024"]),
        ("datetime", ["2024-02-29", "2024-02-29T10:00:00Z"], ["2024-02-29 25:00", "now"]),
        ("string", ["", "x", "1"], []),
    ],
)
def test_a_raw_value_of_the_wrong_type_fails_its_row(kind: str, good: list[str], bad: list[str]) -> None:
    config = importer().expect_schema({"a": {"type": kind}}).map("a", "a")
    done = process(config, table("a"), {"a": [*good, *bad]})
    assert failures(done) == [(len(good) + place, "type", "a") for place in range(1, len(bad) + 1)]


def test_the_message_says_what_was_expected_and_the_detail_what_came() -> None:
    done = process(importer().expect_schema({"a": {"type": "integer"}}).map("a", "a"), table("a"), {"a": ["12a"]})
    assert done.failures.select("stage", "message", "detail").rows() == [
        ("schema", "Expected an integer.", 'got "12a"')
    ]


def test_empty_cells_fail_only_where_nothing_empty_is_accepted() -> None:
    config = importer().expect_schema({"a": {"type": "integer", "nullable": False}, "b": {"type": "integer"}})
    done = process(config.map("a", "a").map("b", "b"), table("a", "b"), {"a": ["1", " ", None], "b": ["", None, " "]})
    assert failures(done) == [(2, "required", "a"), (3, "required", "a")]


def test_a_value_that_the_schema_refused_is_not_looked_at_again() -> None:
    config = importer().expect_schema({"a": {"type": "integer"}}).map_and_validate("a", "a", RangeValidator(0, 5))
    assert failures(process(config, table(integer("a")), {"a": ["x", "7"]})) == [(1, "type", "a"), (2, "range", "a")]


def test_the_types_of_the_file_count() -> None:
    config = importer().expect_schema({"a": {"type": "string"}, "b": {"type": "date"}}).map("a", "a").map("b", "b")
    given = batch({"a": ["[1]"], "b": ["2024-01-01"]}, kinds={"a": Kind.JSON, "b": Kind.DATE})
    assert failures(process(config, table("a", "b"), given)) == [(1, "type", "a")]


def check(config: IngestConfig, columns: list[str], *, is_sparse: bool = False) -> Any:
    return plan(config, table("a", "b")).check_columns(columns, is_sparse=is_sparse)


def test_missing_columns_are_named_with_those_that_look_like_them() -> None:
    config = importer().map("customer name", "a").map(["price", "amount"], "b")
    with pytest.raises(SchemaMismatch) as raised:
        check(config, ["Customer_Name", "prize", "qty"])
    message = str(raised.value)
    assert '"customer name" (did you mean "Customer_Name"?), ' in message
    assert '"price" (or "amount"; did you mean "prize"?). ' in message
    assert 'It has "Customer_Name", "prize", "qty".' in message


def test_fields_that_only_steps_read_are_missed_too() -> None:
    class Margin(ScalarTransformer):
        uses_row = True
        reads = ("cost",)

        def transform_value(self, value: Any, row: Any) -> Any:
            return float(value) - float(row["cost"])

    class BelowLimit(ScalarValidator):
        uses_row = True
        reads = ("limit",)

        def check_value(self, value: Any, row: Any) -> bool:
            return float(value) < float(row["limit"])

    config = importer().map_transform_and_validate("price", "a", Margin, BelowLimit)
    with pytest.raises(SchemaMismatch) as raised:
        check(config, ["price", "costs", "limits"])
    message = str(raised.value)
    assert '"cost" (did you mean "costs"?)' in message
    assert '"limit" (did you mean "limits"?)' in message


def test_an_alias_of_a_required_field_is_enough() -> None:
    config = importer().expect_schema({"sku": {"required": True}}).map(["sku", "article"], "a")
    assert check(config, ["article"]) == ()


def test_a_field_that_the_schema_does_not_require_may_be_absent() -> None:
    config = importer().expect_schema({"note": {"type": "string"}}).map("x", "a").map("note", "b")
    assert check(config, ["x"]) == ()


def test_a_required_field_must_be_there_even_if_nothing_maps_it() -> None:
    with pytest.raises(SchemaMismatch, match='lacks the field "id"'):
        check(importer().expect_schema({"id": {"required": True}}).map("x", "a"), ["x"])


def test_fields_that_steps_and_expressions_read_must_be_there() -> None:
    config = (
        importer().map_and_transform(None, "a", ConcatTransformer(["x", "y"])).map_when("x", "b", pl.col("z") == "1")
    )
    with pytest.raises(SchemaMismatch, match=r'2 fields that the importer reads: "y".* "z"'):
        check(config, ["x"])


def test_missing_fields_are_told_in_one_sentence_with_what_was_meant_by_each() -> None:
    config = importer().map("nmae", "a").map(["sku", "article"], "b")
    with pytest.raises(SchemaMismatch) as told:
        check(config, ["name", "price"])
    assert str(told.value) == (
        'The file lacks 2 fields that the importer reads: "nmae" (did you mean "name"?), "sku" (or "article"). '
        'It has "name", "price".'
    )


def test_in_json_a_field_that_no_row_has_is_null_and_a_warning() -> None:
    config = importer().map("x", "a").map("nmae", "b")
    assert check(config, ["x", "name"], is_sparse=True) == ('No row has the field "nmae". Did you mean "name"?',)


def test_json_that_has_none_of_the_fields_fails_all_the_same() -> None:
    with pytest.raises(SchemaMismatch):
        check(importer().map("x", "a").map("y", "b"), ["z"], is_sparse=True)


def test_a_required_value_in_an_absent_json_field_fails_each_row() -> None:
    done = process(
        importer().map("x", "a").map_and_validate("y", "b", RequiredValidator), table("a", "b"), {"x": ["1"]}
    )
    assert failures(done) == [(1, "required", "y")]


class Numbers:
    def __init__(self, schema: Any) -> None:
        self.schema = schema

    def read(self) -> Any:
        yield {"n": 1}

    def get_schema(self) -> Any:
        return self.schema

    def get_source_metadata(self) -> Any:
        return {"source_type": "numbers"}


def test_the_schema_of_a_source_object_is_expected_too() -> None:
    config = importer().from_source(Numbers({"n": {"type": "integer", "required": True}})).map("n", "a")
    assert failures(process(config, table("a", "b"), {"n": ["x"]})) == [(1, "type", "n")]


def test_a_wrong_schema_of_a_source_object_ends_the_run() -> None:
    with pytest.raises(SchemaMismatch, match='"int" is no type'):
        plan(importer().from_source(Numbers({"n": {"type": "int"}})).map("n", "a"), table("a"))
