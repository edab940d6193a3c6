"""User validators: what they return, what they raise, and whom it concerns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from airflow_provider_ingest.exceptions import ConfigError, RunFailed
from airflow_provider_ingest.transformers import Rows, TrimTransformer
from airflow_provider_ingest.validators import (
    DateValidator,
    EmailValidator,
    InArrayValidator,
    RangeValidator,
    RegexValidator,
    RequiredValidator,
    ScalarValidator,
    Validator,
)
from airflow_provider_ingest.validators.callables import as_validator
from airflow_provider_ingest.validators.scalar import apply_validator


def failures(given: Any, values: list[Any], rows: Rows | None = None) -> list[tuple[int, str, Any]]:
    rows = rows or Rows(pl.DataFrame({"n": values}, schema={"n": pl.String}), pl.int_range(len(values), eager=True))
    refusals = apply_validator(as_validator(given), pl.Series(values, dtype=pl.String), rows)
    assert all(refusal.rows.len() == len(values) for refusal in refusals)
    return sorted(
        (position, refusal.code, refusal.message if isinstance(refusal.message, str) else refusal.message[position])
        for refusal in refusals
        for position in refusal.rows.arg_true()
    )


DEFAULT = "The value is not valid."


@pytest.mark.parametrize("repeats", [1, 40])
@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (True, None),
        (None, None),
        (False, DEFAULT),
        ("Too short.", "Too short."),
        ("", None),
        (0, DEFAULT),
        (1, None),
        ([], DEFAULT),
    ],
)
def test_what_a_callable_returns_decides(verdict: Any, expected: str | None, repeats: int) -> None:
    found = failures(lambda value: verdict if value == "x" else True, ["a", "x"] * repeats)
    rows = range(1, 2 * repeats, 2)
    assert found == ([] if expected is None else [(row, "invalid", expected) for row in rows])


@pytest.mark.parametrize("repeats", [1, 40])
def test_a_value_error_is_a_verdict_and_anything_else_an_error_without_data(repeats: int) -> None:
    class Checksum(ScalarValidator):
        code = "checksum"
        message = "The check digit does not match."

        def check_value(self, value: Any, row: Mapping[str, Any] | None) -> bool:
            if value == "":
                raise ValueError("There is no check digit.")
            return bool(int(value[-1]) == {"1": 1}[value[-1]])

    found = failures(Checksum, ["11", "", "12"] * repeats)
    assert found[:2] == [
        (1, "checksum", "There is no check digit."),
        (2, "validator_error", "Checksum raised KeyError."),
    ]
    assert len(found) == 2 * repeats


def test_a_callable_of_value_and_row_sees_every_row() -> None:
    rows = Rows(pl.DataFrame({"from": ["1", "5"] * 20, "to": ["2", "4"] * 20}), pl.int_range(40, eager=True))
    found = failures(lambda value, row: value >= row["from"] or "The end is before the start.", ["2", "4"] * 20, rows)
    assert found == [(row, "invalid", "The end is before the start.") for row in range(1, 40, 2)]


def test_user_validators_see_null_and_empty_text() -> None:
    seen: list[Any] = []
    failures(lambda value: seen.append(value), ["", None])
    assert seen == ["", None]


def test_a_columnar_class_passes_null() -> None:
    class Short(Validator):
        code, message = "short", "At most two characters."

        def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
            return values.str.len_chars() <= 2

    assert failures(Short, ["a", None, "abc"]) == [(2, "short", "At most two characters.")]


def test_a_columnar_class_that_gives_no_boolean_column_ends_the_run() -> None:
    class Lengths(Validator):
        def passes(self, values: pl.Series, rows: Rows) -> pl.Series:
            return values.str.len_chars()

    with pytest.raises(RunFailed, match="Lengths returned no Boolean column of 1 rows"):
        failures(Lengths, ["a"])


@pytest.mark.parametrize(
    "validator",
    [
        RequiredValidator(message="No."),
        EmailValidator(message="No."),
        RangeValidator(0, 1, "No."),
        RangeValidator(0, 1, message="No."),
        RegexValidator("^b$", "No."),
        InArrayValidator(["b"], message="No."),
        DateValidator(message="No."),
    ],
    ids=lambda validator: validator.name,
)
def test_every_validator_takes_a_message(validator: Validator) -> None:
    value = "" if isinstance(validator, RequiredValidator) else "a"
    assert [message for _, _, message in failures(validator, [value])] == ["No."]
    assert validator.describe()["message"] == "No."
    assert type(validator).message != "No."


@pytest.mark.parametrize(
    ("validator", "message"),
    [
        (RangeValidator(1, 2.5), "The value must be a number between 1 and 2.5."),
        (RangeValidator(min=1), "The value must be a number of at least 1."),
        (RangeValidator(max="1e3"), "The value must be a number of at most 1000."),
        (DateValidator("d.m.Y"), "The value is not a date in the format d.m.Y."),
    ],
)
def test_messages_say_what_is_allowed_and_hold_no_value(validator: Validator, message: str) -> None:
    assert [found for _, _, found in failures(validator, ["secret"])] == [message]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (RangeValidator, "give min, max or both"),
        (lambda: RangeValidator(2, 1), "min 2 is above max 1"),
        (lambda: RangeValidator("a"), "min must be a number"),
        (lambda: RangeValidator(max=float("nan")), "max must be a number"),
        (lambda: RangeValidator(True), "min must be a number"),
        (lambda: InArrayValidator("abc"), "allowed must be a list"),
        (lambda: InArrayValidator([]), "at least one value"),
        (lambda: DateValidator("%Q"), "is not a date format"),
        (lambda: as_validator("email"), "'email' is no validator: a validator is an instance, a class, or a callable"),
        (lambda: as_validator(RegexValidator), "needs arguments"),
        (lambda: as_validator(TrimTransformer()), "is a transformer, not a validator"),
        (lambda: as_validator(lambda: True), r"takes \(nothing\)"),
    ],
)
def test_what_cannot_work_is_refused_where_it_is_written(make: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make()
