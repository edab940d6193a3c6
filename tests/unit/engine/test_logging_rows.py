"""What is kept of rows: failures and their summary, masked data, traces."""

from __future__ import annotations

from typing import Any

import orjson
import polars as pl

from airflow_provider_ingest.engine import failures as failures_module
from airflow_provider_ingest.engine.failures import error_counts
from airflow_provider_ingest.engine.row_log import all_rows, failed_rows
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, Kind
from airflow_provider_ingest.runs.outcome import ErrorCount
from airflow_provider_ingest.storage.row_documents import named
from airflow_provider_ingest.transformers import NumericTransformer, TrimTransformer
from airflow_provider_ingest.validators import EmailValidator, RangeValidator, RequiredValidator
from tests.unit.engine.worlds import batch, importer, money, plan, process, table

CONFIG = (
    importer()
    .map_transform_and_validate("mail", "mail", [TrimTransformer], [RequiredValidator, EmailValidator])
    .map_transform_and_validate("price", "price", [NumericTransformer(2)], [RangeValidator(0, 10)])
)
SHAPE = table("mail", money("price"))
BROKEN = {
    ROW_NUMBER: 3,
    LINE_NUMBER: 4,
    "reason": "expected 2 fields, found 3",
    "raw": 'a,"b",c',
    "data": '{"mail":"a"}',
}


def given() -> Any:
    return batch({"mail": ["a@x.org", "no"], "price": ["1", "11"]}, malformed=[BROKEN])


def parsed(rows: pl.DataFrame, *fields: str) -> list[dict[str, Any]]:
    texts = ("data", "errors", "trace")
    lines = [{**row, **{name: row[name] and orjson.loads(row[name]) for name in texts}} for row in rows.to_dicts()]
    return [{**line, "data": named(line["data"], fields or ("mail", "price"))} for line in lines]


def test_failed_rows_are_logged_with_all_their_failures() -> None:
    done = process(CONFIG, SHAPE, given())
    first, second = parsed(failed_rows(given(), done.failures, None))
    assert first["errors"] == {
        "message": "The given data was invalid.",
        "code": "email",
        "stage": "validate",
        "validation": {
            "mail": ['The value is not an e-mail address. (got "no")'],
            "price": ['The value must be a number between 0 and 10. (got "11")'],
        },
    }
    assert (first["data"], first["status"], first["trace"]) == ({"mail": "no", "price": "11"}, "failed", None)
    assert (second["message"], second[LINE_NUMBER]) == ("expected 2 fields, found 3", 4)
    assert second["data"] == {"mail": "a", "_raw": 'a,"b",c'}
    assert second["errors"]["code"] == "malformed_row"


def test_all_rows_are_logged_with_how_they_ended() -> None:
    given_rows = batch({"mail": ["a@x.org", "b@x.org", "no"], "price": ["1", "2", "3"]})
    done = process(CONFIG, SHAPE, given_rows)
    ends = pl.DataFrame({ROW_NUMBER: [1, 2], "end": ["created", "skipped"]})
    logged = parsed(all_rows(given_rows, done.failures, ends, None))
    assert [(row["status"], row["message"]) for row in logged] == [
        ("success", None),
        ("skipped", None),
        ("failed", "The given data was invalid."),
    ]


def test_data_is_logged_in_the_types_of_the_file() -> None:
    columns = {
        "mail": ["no", "no"],
        "n": ["1", None],
        "f": ["1.50", "x"],
        "b": ["true", "false"],
        "j": ['{"a":[1]}', None],
    }
    kinds = {"n": Kind.INTEGER, "f": Kind.NUMBER, "b": Kind.BOOLEAN, "j": Kind.JSON}
    given_rows = batch(columns, kinds=kinds)
    done = process(importer().map_and_validate("mail", "mail", EmailValidator), table("mail"), given_rows)
    assert [row["data"] for row in parsed(failed_rows(given_rows, done.failures, None), *columns)] == [
        {"mail": "no", "n": 1, "f": 1.5, "b": True, "j": {"a": [1]}},
        {"mail": "no", "n": None, "f": "x", "b": False, "j": None},
    ]


def test_numbers_that_a_double_cannot_hold_are_logged_as_text() -> None:
    digits = ["12345678901234567.125", "1e400", "1.25"]
    given_rows = batch({"mail": ["no"] * 3, "n": digits}, kinds={"n": Kind.NUMBER})
    done = process(importer().map_and_validate("mail", "mail", EmailValidator), table("mail"), given_rows)
    logged = parsed(failed_rows(given_rows, done.failures, None), "mail", "n")
    assert [row["data"]["n"] for row in logged] == ["12345678901234567.125", "1e400", 1.25]


def test_sensitive_fields_are_masked_and_malformed_records_then_show_nothing() -> None:
    config = CONFIG.sensitive("mail")
    done = process(config, SHAPE, given())
    masked = plan(config, SHAPE).masked_columns(["mail", "price"])
    rows = parsed(failed_rows(given(), done.failures, None, masked))
    assert [row["data"] for row in rows] == [{"mail": "***", "price": "11"}, {}]
    assert rows[0]["errors"]["validation"]["mail"] == ["The value is not an e-mail address."]


def test_what_holds_a_sensitive_part_is_masked_as_a_whole() -> None:
    config = (
        importer()
        .map("address.city", "city")
        .map(["phone", "tel"], "phone")
        .nest("cards", lambda nested: nested.for_("cards").map("number", "number"))
        .sensitive("address.city", "phone", "cards.number")
    )
    compiled = plan(config, table("city", "phone"), {"cards": table("number")})
    assert compiled.masked_columns(["address", "tel", "cards", "other"]) == {"address", "tel", "cards"}


def test_the_summary_counts_rows_once_in_general_and_once_by_field_and_message() -> None:
    done = process(CONFIG, SHAPE, batch({"mail": ["no", "no", ""], "price": ["11", "1", "x"]}, malformed=[]))
    assert set(error_counts(done.failures)) == {
        ErrorCount(message="The given data was invalid.", count=3),
        ErrorCount(field="mail", message="The value is not an e-mail address.", count=2),
        ErrorCount(field="mail", message="A value is required.", count=1),
        ErrorCount(field="price", message="The value must be a number between 0 and 10.", count=1),
        ErrorCount(field="price", message="The value is not a number.", count=1),
    }


def test_messages_without_end_are_counted_under_one() -> None:
    def refuse(value: str) -> str:
        raise ValueError(f"not {value}")

    values = [str(value) for value in range(failures_module.MAX_MESSAGES + 50)]
    done = process(importer().map_and_transform("a", "a", refuse), table("a"), {"a": values})
    counts = error_counts(done.failures)
    assert len(counts) == failures_module.MAX_MESSAGES + 1
    assert sum(one.count for one in counts if one.field) == len(values)


def test_the_trace_shows_each_step_and_which_mappings_were_active() -> None:
    config = (
        importer()
        .map_and_transform("price", "price", [TrimTransformer, NumericTransformer(2)])
        .map_when("note", "note", pl.col("price") == "2", str.upper)
        .with_tracing()
    )
    done = process(config, table(money("price"), "note"), {"price": [" 9.999 ", "x"], "note": ["n", "m"]})
    assert done.trace is not None
    documents = dict(done.trace.documents(pl.Series([1, 2])).iter_rows())
    first, second = orjson.loads(documents[1]), orjson.loads(documents[2])
    assert first["transformations"] == {
        "price": [
            {"step": "input", "value": " 9.999 "},
            {"step": "TrimTransformer", "value": "9.999"},
            {"step": "NumericTransformer", "value": "10.00"},
        ]
    }
    assert [(one["field"], one["attribute"], one["active"]) for one in first["mappings"]] == [
        ("price", "price", True),
        ("note", "note", False),
    ]
    assert [step["step"] for step in second["transformations"]["price"]] == ["input", "TrimTransformer"]


def test_traces_have_only_what_the_importer_traces() -> None:
    config = importer().map("a", "a")
    numbers = pl.Series([1])
    transformations = process(config.trace_transformations(), table("a"), {"a": ["x"]}).trace
    mappings = process(config.trace_mappings(), table("a"), {"a": ["x"]}).trace
    assert transformations is not None
    assert mappings is not None
    assert set(orjson.loads(transformations.documents(numbers)["trace"][0])) == {"transformations"}
    assert set(orjson.loads(mappings.documents(numbers)["trace"][0])) == {"mappings"}
    assert process(config, table("a"), {"a": ["x"]}).trace is None


def test_traces_of_sensitive_fields_show_no_value() -> None:
    config = importer().map_and_transform("pin", "pin", TrimTransformer).sensitive("pin").with_tracing()
    trace = process(config, table("pin"), {"pin": ["1234"]}).trace
    assert trace is not None
    assert "1234" not in trace.documents(pl.Series([1]))["trace"][0]
