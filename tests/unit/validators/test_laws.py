"""What holds for every built-in validator on every input: the column is what a plain loop would give."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal, localcontext
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.validators import (
    DateValidator,
    EmailValidator,
    InArrayValidator,
    RangeValidator,
    RegexValidator,
    RequiredValidator,
    Validator,
)

NO_ROWS = Rows(pl.DataFrame(), pl.Series([], dtype=pl.Int64))
TRICKY = [
    "", " ", "[]", "[ ]", "[0]", "a@b.co", "a.b@c.de", "a..b@c.de", "a@b", "a@b.c\n", "@b.co", "a@-b.co", "a@b-.co",
    "a@b.1co", "é@b.co", "a" * 65 + "@b.co", "a@" + "b" * 64 + ".co", "a@" + "b." * 130 + "co", "a@" + "b" * 63 + ".co",
    "0", "10", "10.0", "1e1", "10.0000000000000000000001", "9.99999999999999999999", "-0", "1e999", "NaN", "inf", " 7 ",
    "٣", "1_0", "S", "s", "1", "01", "1.0", "2.5", "2024-02-29", "2023-02-29", "2024-2-9", "٢٠٢٤-01-05", "2024-02-29 ",
    "DE-7", "DE-7\n", "DE-٣", "é",
]  # fmt: skip
texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text(alphabet="ab.@-1é", max_size=10),
    st.text(alphabet="0123456789.-+eE ", max_size=10),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.floats(-1, 11).map(repr),
    st.dates().map(date.isoformat),
)


@st.composite
def columns(draw: st.DrawFn) -> list[str | None]:
    pool = draw(st.lists(st.one_of(texts, st.none()), min_size=1, max_size=10))
    return draw(st.permutations(pool)) * draw(st.sampled_from([1, 4, 40]))


def required(value: str) -> bool:
    return value != "" and not re.fullmatch(r"\[[ \t\r\n]*\]", value)


def email(value: str) -> bool:
    local, at, domain = value.rpartition("@")
    labels = domain.split(".")
    return (
        at == "@"
        and len(value) <= 254
        and 1 <= len(local) <= 64
        and all(re.fullmatch(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+", atom) for atom in local.split("."))
        and len(labels) > 1
        and all(re.fullmatch(r"[A-Za-z0-9-]{1,63}", label) and label[0] != "-" != label[-1] for label in labels)
        and labels[-1][0].isalpha()
    )


def in_range(value: str) -> bool:
    text = value.strip()
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?", text):
        return False
    number = Decimal(text)
    return number.adjusted() < 1000 and abs(number.as_tuple().exponent) <= 1000 and 0 <= number <= 10


def is_date(value: str) -> bool:
    try:
        datetime.strptime(value, "%Y-%m-%d")
    except ValueError:
        return False
    return True


CASES: list[tuple[Validator, Callable[[str], Any]]] = [
    (EmailValidator(), email),
    (RangeValidator(0, 10), in_range),
    (DateValidator(), is_date),
    (InArrayValidator(["S", 1, 2.5, "é"]), lambda value: value in ("S", "1", "2.5", "é")),
    (InArrayValidator(["S", 1, 2.5, "é"], strict=True), lambda value: value in ("S", "é")),
    (RegexValidator(r"^[A-Z]{2}-\d+$"), lambda value: re.search(r"^[A-Z]{2}-\d+$", value)),
    (RegexValidator(r"(.)\1"), lambda value: re.search(r"(.)\1", value)),
    (RegexValidator(r"(?i)\bs|\s$"), lambda value: re.search(r"(?i)\bs|\s$", value)),
]
LABELS = [f"{validator.name} {number}" for number, (validator, _) in enumerate(CASES)]


@pytest.mark.parametrize(("validator", "reference"), CASES, ids=LABELS)
@given(values=columns())
@example(values=list(TRICKY))
@example(values=[*TRICKY, None] * 3)
@settings(deadline=None, max_examples=80)
def test_a_column_passes_where_a_loop_over_its_values_would(
    validator: Validator, reference: Callable[[str], Any], values: list[str | None]
) -> None:
    column = pl.Series(values, dtype=pl.String)
    expected = [not value or bool(reference(value)) for value in values]
    assert validator.passes(column, NO_ROWS).to_list() == expected
    failed = [any(marks) for marks in zip(*(one.rows for one in validator.refusals(column, NO_ROWS)), strict=True)]
    assert (failed or [False] * len(values)) == [not passes for passes in expected]


@given(values=columns())
@settings(deadline=None)
def test_required_fails_what_is_null_or_empty(values: list[str | None]) -> None:
    passes = RequiredValidator().passes(pl.Series(values, dtype=pl.String), NO_ROWS)
    assert passes.to_list() == [value is not None and required(value) for value in values]


@given(values=st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-3, 13))))
@settings(deadline=None)
def test_integers_are_within_the_bounds_that_contain_them(values: list[int | None]) -> None:
    passes = RangeValidator(0, 10).passes(pl.Series(values, dtype=pl.Int64), NO_ROWS)
    assert passes.to_list() == [value is None or 0 <= value <= 10 for value in values]


@given(values=st.lists(st.one_of(st.none(), st.floats())))
@settings(deadline=None)
def test_floats_are_within_the_bounds_that_contain_them(values: list[float | None]) -> None:
    passes = RangeValidator(0, 10).passes(pl.Series(values, dtype=pl.Float64), NO_ROWS)
    assert passes.to_list() == [value is None or 0 <= value <= 10 for value in values]


@given(
    bound=st.decimals(-(10**15), 10**15, places=18),
    steps=st.lists(st.integers(-3, 3), min_size=1, max_size=20),
)
@settings(deadline=None)
def test_decimals_are_compared_with_the_bounds_in_all_their_digits(bound: Decimal, steps: list[int]) -> None:
    with localcontext(prec=50):
        values = [bound + step * Decimal("1e-18") for step in steps]
    column = pl.Series(values, dtype=pl.Decimal(38, 18))
    for given_column in (column, column.cast(pl.String)):
        passes = RangeValidator(max=bound).passes(given_column, NO_ROWS)
        assert passes.to_list() == [value <= bound for value in values]


typed_columns = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))).map(lambda listed: (listed, pl.Int64)),
    st.lists(st.one_of(st.none(), st.floats())).map(lambda listed: (listed, pl.Float64)),
    st.lists(st.one_of(st.none(), st.booleans())).map(lambda listed: (listed, pl.Boolean)),
    st.lists(st.one_of(st.none(), st.dates())).map(lambda listed: (listed, pl.Date)),
    st.lists(st.one_of(st.none(), st.datetimes())).map(lambda listed: (listed, pl.Datetime("us"))),
    st.lists(st.one_of(st.none(), st.decimals(-(10**9), 10**9, places=4))).map(
        lambda listed: (listed, pl.Decimal(38, 4))
    ),
    st.lists(st.none()).map(lambda listed: (listed, pl.Null)),
    st.lists(st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=2))).map(
        lambda listed: (listed, pl.List(pl.Int64))
    ),
)


@pytest.mark.parametrize(
    "validator", [RequiredValidator(), *(validator for validator, _ in CASES)], ids=["RequiredValidator", *LABELS]
)
@given(column=typed_columns, repeats=st.sampled_from([1, 40]))
@settings(deadline=None, max_examples=25)
def test_nothing_raises_on_columns_of_any_type_and_null_passes_all_but_required(
    validator: Validator, column: tuple[list[Any], Any], repeats: int
) -> None:
    values = column[0] * repeats
    passes = validator.passes(pl.Series(values, dtype=column[1]), NO_ROWS).to_list()
    assert len(passes) == len(values)
    nulls = [passed for passed, value in zip(passes, values, strict=True) if value is None]
    assert set(nulls) <= {validator.name != "RequiredValidator"}
