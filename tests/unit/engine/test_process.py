"""What becomes of rows: order of the steps, failures together, conditions, types of the file."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from airflow_provider_ingest.exceptions import RunFailed, TargetError
from airflow_provider_ingest.importers.table import ColumnKind
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, Kind
from airflow_provider_ingest.transformers import ConcatTransformer, NumericTransformer, TrimTransformer
from airflow_provider_ingest.transformers.base import ScalarTransformer, Transformer
from airflow_provider_ingest.validators import EmailValidator, InArrayValidator, RangeValidator, RequiredValidator
from tests.unit.engine.worlds import batch, column, failures, importer, integer, money, plan, process, records, table


def test_validators_see_the_transformed_value() -> None:
    config = importer().map_transform_and_validate("price", "price", [NumericTransformer(0)], [RangeValidator(0, 10)])
    assert failures(process(config, table(money("price")), {"price": ["10.4", "10.5"]})) == [(2, "range", "price")]


def test_all_failures_of_a_row_are_reported_together_and_no_other_row_suffers() -> None:
    config = (
        importer()
        .map_and_validate("email", "email", [RequiredValidator, EmailValidator])
        .map_and_validate("price", "price", [RangeValidator(0, 10), InArrayValidator(["1", "2"])])
        .map("qty", "qty")
    )
    shape = table("email", money("price"), integer("qty"))
    done = process(
        config, shape, {"email": ["a@x.org", "", "b@x.org"], "price": ["1", "11", "2"], "qty": ["1", "x", ""]}
    )
    assert failures(done) == [
        (2, "required", "email"),
        (2, "range", "price"),
        (2, "in_array", "price"),
        (2, "type", "qty"),
    ]
    assert [record[ROW_NUMBER] for record in records(done)] == [1, 3]


def test_a_value_that_a_transformer_refused_is_not_validated() -> None:
    config = importer().map_transform_and_validate("price", "price", [NumericTransformer(2)], [RangeValidator(0, 1)])
    assert failures(process(config, table(money("price")), {"price": ["x"]})) == [(1, "numeric", "price")]


def test_the_first_alias_that_the_file_has_is_taken() -> None:
    config = importer().map_and_validate(["sku", "article"], "sku", RequiredValidator)
    done = process(config, table("sku"), {"article": ["A", ""]})
    assert records(done) == [{ROW_NUMBER: 1, "sku": "A"}]
    assert failures(done) == [(2, "required", "article")]


def test_a_value_may_be_built_from_the_row_alone() -> None:
    config = importer().map_and_transform(None, "name", ConcatTransformer(["first", "last"]))
    assert (
        records(process(config, table("name"), {"first": ["Ada"], "last": ["Lovelace"]}))[0]["name"] == "Ada Lovelace"
    )


def test_malformed_records_fail_beside_the_good_rows() -> None:
    broken = {ROW_NUMBER: 2, LINE_NUMBER: 3, "reason": "expected 1 field, found 2", "raw": "a,b", "data": None}
    given = batch({"a": ["x"]}, malformed=[broken])
    done = process(importer().map("a", "a"), table("a"), given)
    assert failures(done) == [(2, "malformed_row", None)]
    assert done.failures["message"].to_list() == ["expected 1 field, found 2"]


def test_a_null_key_fails_its_row() -> None:
    done = process(importer().map("a", "a").keyed_by("a"), table(integer("a")), {"a": ["", "1"]})
    assert failures(done) == [(1, "not_null", "a")]


# -- conditions


def test_where_the_condition_is_false_the_attribute_is_not_set_and_nothing_is_checked() -> None:
    config = importer().map_when("code", "code", lambda row: row["state"] == "sent", TrimTransformer, RequiredValidator)
    done = process(config, table("code"), {"code": [" x ", "", ""], "state": ["sent", "open", "sent"]})
    assert records(done) == [
        {ROW_NUMBER: 1, "code": "x", "_set:code": True},
        {ROW_NUMBER: 2, "code": None, "_set:code": False},
    ]
    assert done.records.conditional == ("code",)
    assert failures(done) == [(3, "required", "code")]


def test_a_not_null_column_may_stay_unset_where_the_condition_is_false() -> None:
    config = importer().map_when("code", "code", pl.col("state") == "sent")
    done = process(config, table(column("code", nullable=False)), {"code": ["x", None], "state": ["sent", "open"]})
    assert failures(done) == []


def test_conditions_that_exclude_each_other_may_fill_one_attribute() -> None:
    config = (
        importer()
        .map_when("net", "price", pl.col("kind") == "net", NumericTransformer(2))
        .map_when("gross", "price", pl.col("kind") == "gross")
    )
    done = process(
        config, table(money("price")), {"net": ["1", "2", "3"], "gross": ["7", "8", "9"], "kind": ["net", "gross", "?"]}
    )
    assert [(str(row["price"]), row["_set:price"]) for row in records(done)] == [
        ("1.00", True),
        ("8.00", True),
        ("None", False),
    ]


def test_conditions_that_are_both_true_fail_the_row_and_say_so() -> None:
    config = importer().map_when("a", "x", lambda row: True).map_when("b", "x", pl.col("b") != "")
    done = process(config, table("x"), {"a": ["1", "2"], "b": ["", "3"]})
    assert failures(done) == [(2, "conflicting_mappings", "x")]
    assert records(done)[0]["x"] == "1"


def test_a_condition_that_raises_fails_its_row_alone() -> None:
    config = importer().map_when("a", "a", lambda row: int(row["a"]) > 1)
    done = process(config, table("a"), {"a": ["2", "x", "1"]})
    assert failures(done) == [(2, "condition_error", "a")]
    assert "ValueError" in done.failures["message"][0]
    assert "x" not in done.failures["message"][0].split()


def test_an_expression_that_cannot_be_computed_ends_the_run_without_showing_values() -> None:
    config = importer().map_when("a", "a", pl.col("a").cast(pl.Int64) > 1)
    with pytest.raises(RunFailed, match="strict=False") as raised:
        process(config, table("a"), {"a": ["secret"]})
    assert "secret" not in str(raised.value)


def test_an_expression_that_is_no_mask_ends_the_run() -> None:
    with pytest.raises(RunFailed, match="one Boolean per row"):
        process(importer().map_when("a", "a", pl.col("a")), table("a"), {"a": ["x", "y"]})


# -- types of the file


class Double(ScalarTransformer):
    def transform_value(self, value: Any, row: Any) -> Any:
        return value * 2


@pytest.mark.parametrize(
    ("kind", "text", "doubled"),
    [(Kind.INTEGER, "21", "42"), (Kind.NUMBER, "0.25", "0.5"), (Kind.TEXT, "21", "2121"), (Kind.BOOLEAN, "true", "2")],
)
def test_steps_receive_the_types_of_the_file(kind: Kind, text: str, doubled: str) -> None:
    config = importer().map_and_transform("a", "a", Double())
    assert records(process(config, table("a"), batch({"a": [text]}, kinds={"a": kind})))[0]["a"] == doubled


def test_a_number_without_steps_keeps_all_its_digits() -> None:
    digits = "12345678901234567890.123456789"
    given = batch({"a": [digits]}, kinds={"a": Kind.NUMBER})
    done = process(
        importer().map_and_validate("a", "a", RangeValidator(0)), table(column("a", ColumnKind.NUMERIC)), given
    )
    assert records(done)[0]["a"] == digits


def test_conditions_and_rows_show_json_as_python_has_it() -> None:
    config = importer().map_when("a", "a", lambda row: row["tags"] == ["x", 1] and row["on"] is True)
    given = batch(
        {"a": ["1", "2"], "tags": ['["x",1]', None], "on": ["true", "false"]},
        kinds={"tags": Kind.JSON, "on": Kind.BOOLEAN},
    )
    assert [row["_set:a"] for row in records(process(config, table("a"), given))] == [True, False]


def test_dots_lead_into_objects() -> None:
    config = importer().map("address.city", "city").map("tags[1].name", "tag")
    given = batch(
        {"address": ['{"city":"Ulm"}', "{}", None], "tags": ['[1,{"name":"b"}]', "[]", "x"]},
        kinds={"address": Kind.JSON, "tags": Kind.JSON},
    )
    done = process(config, table("city", "tag"), given)
    assert [(row["city"], row["tag"]) for row in records(done)] == [("Ulm", "b"), (None, None), (None, None)]


# -- user code


class Careless(Transformer):
    def transform(self, values: pl.Series, rows: Any) -> pl.Series:
        return values.cast(pl.Int64)


def test_a_columnar_step_that_raises_ends_the_run_without_showing_values() -> None:
    with pytest.raises(RunFailed, match=r'Careless of the attribute "a" raised InvalidOperationError') as raised:
        process(importer().map_and_transform("a", "a", Careless()), table("a"), {"a": ["secret"]})
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_step_may_give_lists_and_dicts_which_become_json() -> None:
    config = importer().map_and_transform("a", "doc", lambda value: {"tags": value.split(",")})
    done = process(config, table(column("doc", ColumnKind.JSON)), {"a": ["x,y"]})
    assert records(done)[0]["doc"] == '{"tags":["x","y"]}'


# -- the table


def test_a_plan_is_kept_while_definition_and_table_stay_the_same() -> None:
    config = importer().map("a", "a")
    assert plan(config, table("a")) is plan(config, table("a"))
    assert plan(config, table("a")) is not plan(config, table("a", "b"))


def test_a_table_without_the_column_ends_the_run() -> None:
    with pytest.raises(TargetError, match=r'no column "nmae"\. Did you mean "name"'):
        plan(importer().map("a", "nmae"), table("name"))


def test_a_column_that_must_be_set_and_is_not_ends_the_run() -> None:
    with pytest.raises(TargetError, match='No mapping sets "b"'):
        plan(
            importer().map("a", "a"),
            table("a", column("b", nullable=False), column("c", nullable=False, has_default=True)),
        )


def test_the_keys_alone_can_be_made_to_find_equal_ones() -> None:
    config = importer().map_and_transform("sku", "sku", TrimTransformer).map("price", "price").keyed_by("sku")
    keys = plan(config, table("sku", money("price"))).keys_only(("sku",))
    assert keys.process(batch({"sku": [" a", "a "], "price": ["x", "1"]})).records.records.to_dicts() == [
        {ROW_NUMBER: 1, "sku": "a"},
        {ROW_NUMBER: 2, "sku": "a"},
    ]


# -- sensitive fields


def test_failures_of_sensitive_fields_show_no_value() -> None:
    def refuse(value: str) -> str:
        raise ValueError(f"not {value}")

    config = importer().map_and_transform("pin", "pin", refuse).map("code", "code").sensitive("pin", "code")
    done = process(config, table("pin", integer("code")), {"pin": ["1234"], "code": ["secret"]})
    shown = str(done.failures.rows())
    assert "1234" not in shown
    assert "secret" not in shown
    assert failures(done) == [(1, "transform_error", "pin"), (1, "type", "code")]
