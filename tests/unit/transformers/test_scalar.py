"""The loop over values: user code sees values and rows, and fails nothing but its own row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.transformers import Rows, ScalarTransformer, Transformed, Transformer
from airflow_provider_ingest.transformers.callables import as_transformer
from airflow_provider_ingest.transformers.scalar import MESSAGE_LIMIT, apply_transformer, raw_rows


def rows_of(**columns: list[Any]) -> Rows:
    frame = pl.DataFrame(columns or {"n": ["1"]}, schema=dict.fromkeys(columns or ["n"], pl.String))
    return Rows(frame, pl.int_range(1, frame.height + 1, eager=True))


def apply(step: Any, values: list[Any], rows: Rows | None = None, dtype: Any = pl.String) -> Transformed:
    return apply_transformer(as_transformer(step), pl.Series("field", values, dtype=dtype), rows or rows_of())


def failures(result: Transformed) -> list[tuple[int, str, Any]]:
    return [
        (position, refusal.code, refusal.message if isinstance(refusal.message, str) else refusal.message[position])
        for refusal in result.refused
        for position in refusal.rows.arg_true()
    ]


@pytest.mark.parametrize("repeats", [1, 40])
def test_a_callable_gives_its_result_for_every_value(repeats: int) -> None:
    result = apply(str.upper, ["a", "b"] * repeats)
    assert result.values.to_list() == ["A", "B"] * repeats
    assert (result.values.name, result.refused) == ("field", ())


def test_a_callable_of_the_value_alone_is_called_once_for_each_distinct_value() -> None:
    calls: list[str | None] = []

    def shout(value: str | None) -> str:
        calls.append(value)
        return (value or "nothing") + "!"

    result = apply(shout, ["a", "b", None, "a"] * 100)
    assert result.values.to_list() == ["a!", "b!", "nothing!", "a!"] * 100
    assert sorted(calls, key=str) == [None, "a", "b"]


def test_null_is_not_tried_where_there_is_none() -> None:
    calls: list[str | None] = []
    apply(lambda value: calls.append(value), ["a", "b"] * 100)
    assert sorted(map(str, calls)) == ["a", "b"]


def test_a_callable_of_value_and_row_is_called_for_every_row() -> None:
    rows = rows_of(first=["a", "b", "a"] * 20, last=["x", "y", "z"] * 20)
    result = apply(lambda value, row: f"{value} {row['last']}", rows["first"].to_list(), rows)
    assert result.values.to_list() == ["a x", "b y", "a z"] * 20


@pytest.mark.parametrize("repeats", [1, 40])
def test_a_value_error_fails_its_rows_alone_with_its_text(repeats: int) -> None:
    def positive(value: str) -> int:
        if value.startswith("-"):
            raise ValueError("The number must not be negative.")
        return int(value)

    result = apply(positive, ["1", "-1", "3"] * repeats)
    bad = range(1, 3 * repeats, 3)
    assert failures(result) == [(row, "transform_error", "The number must not be negative.") for row in bad]
    assert [value for value in result.values.to_list() if value is not None] == [1, 3] * repeats


@pytest.mark.parametrize("repeats", [1, 40])
def test_any_other_exception_shows_its_type_but_no_data(repeats: int) -> None:
    def look_up(value: str) -> str:
        return {"a": "b"}[value]

    result = apply(look_up, ["a", "secret"] * repeats)
    messages = {message for _, _, message in failures(result)}
    assert messages == {"look_up raised KeyError."}


def test_a_long_message_is_cut() -> None:
    def refuse(value: str) -> None:
        raise ValueError("x" * 10_000)

    assert [len(message) for _, _, message in failures(apply(refuse, ["a"]))] == [MESSAGE_LIMIT]


def test_a_class_that_sees_the_row_says_so() -> None:
    class WithUnit(ScalarTransformer):
        uses_row = True

        def transform_value(self, value: Any, row: Mapping[str, Any] | None) -> Any:
            assert row is not None
            return f"{value} {row['unit']}"

    rows = rows_of(size=["1", "2"], unit=["kg", "g"])
    assert apply(WithUnit, ["1", "2"], rows).values.to_list() == ["1 kg", "2 g"]


def test_a_row_is_a_mapping_of_the_raw_fields() -> None:
    first, second = raw_rows(rows_of(a=["1", "2"], b=["x", None]))
    assert dict(first) == {"a": "1", "b": "x"}
    assert (second["b"], second.get("c", "-"), "c" in second) == (None, "-", False)
    assert (len(second), list(second)) == (2, ["a", "b"])
    with pytest.raises(KeyError):
        second["c"]
    assert "1" not in repr(first)


EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("results", "expected", "dtype"),
    [
        (["a", None], ["a", None], pl.String),
        ([1, None], [1, None], pl.Int64),
        ([2**70, 1], [Decimal(2**70), Decimal(1)], pl.Decimal(38, 0)),
        ([10**50, 1], [str(10**50), "1"], pl.String),
        ([True, False], [True, False], pl.Boolean),
        ([True, 2], ["true", "2"], pl.String),
        ([1, 0.5], [1.0, 0.5], pl.Float64),
        ([2**60 + 1, 0.5], [str(2**60 + 1), "0.5"], pl.String),
        ([Decimal("1.10"), 2], [Decimal("1.10"), Decimal(2)], pl.Decimal(38, 2)),
        ([Decimal("1e3"), Decimal("0.5")], [Decimal(1000), Decimal("0.5")], pl.Decimal(38, 1)),
        ([Decimal("NaN"), None], ["NaN", None], pl.String),
        ([date(2024, 1, 2), None], [date(2024, 1, 2), None], pl.Date),
        ([date(2024, 1, 2), "x"], ["2024-01-02", "x"], pl.String),
        ([datetime(2024, 1, 2, 3)] * 2, [datetime(2024, 1, 2, 3)] * 2, pl.Datetime("us")),
        (
            [datetime(2024, 1, 2, 3, tzinfo=EAST), datetime(2024, 1, 2, 3, tzinfo=UTC)],
            [datetime(2024, 1, 2, 1, tzinfo=UTC), datetime(2024, 1, 2, 3, tzinfo=UTC)],
            pl.Datetime("us", "UTC"),
        ),
        ([[1, "a"], {"b": None}], ['[1,"a"]', '{"b":null}'], pl.String),
        ([None, None], [None, None], pl.Null),
    ],
)
def test_results_of_every_type_become_a_column_without_loss(
    results: list[Any], expected: list[Any], dtype: Any
) -> None:
    values = apply(lambda value: results[int(value)], ["0", "1"]).values
    assert (values.to_list(), values.dtype) == (expected, dtype)


def test_a_result_that_fits_no_column_ends_the_run_with_its_type() -> None:
    with pytest.raises(RunFailed, match=r"<lambda>.* returned a value of type object"):
        apply(lambda value: object(), ["a"])


def test_a_columnar_class_that_changes_the_number_of_rows_ends_the_run() -> None:
    class Unique(Transformer):
        def transform(self, values: pl.Series, rows: Rows) -> pl.Series:
            return values.unique()

    with pytest.raises(RunFailed, match="Unique returned 1 values for 2 rows"):
        apply(Unique, ["a", "a"])


@given(values=st.lists(st.one_of(st.none(), st.sampled_from(["a", "7", "x y", "", "é"]), st.text("ab", max_size=3))))
@settings(deadline=None)
def test_going_over_distinct_values_makes_no_difference(values: list[str | None]) -> None:
    def step(value: str | None) -> Any:
        if value == "":
            raise ValueError("empty")
        return None if value is None else value[::-1]

    alone, often = apply(step, values), apply(step, values * 40)
    assert often.values.to_list() == alone.values.to_list() * 40
    assert [row for row, _, _ in failures(often)] == [row for row, value in enumerate(values * 40) if value == ""]
