"""What holds for every built-in transformer on every input: the column is what a plain loop would give."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.transformers import (
    BooleanTransformer,
    ConcatTransformer,
    DateTransformer,
    DefaultValueTransformer,
    MapTransformer,
    NumericTransformer,
    Rows,
    SlugTransformer,
    Transformed,
    Transformer,
    TrimTransformer,
)

FAILS = object()
NO_ROWS = Rows(pl.DataFrame(), pl.Series([], dtype=pl.Int64))

TRICKY = [
    "", " ", "\u00a0", "\x1f", "yes", "NO ", "yeſ", "ON", "İ", "ı", "ß", "ſ", "K", "é", "e\u0301", "🎉",
    "a b", "-", "S", "1",
    "01", "٣", "1e5", "12,50", "1_000", " 7 ", "NaN", "inf", "-0", "1.005", "-2.5", "99999999999999999.995", "9" * 40,
    "0." + "1" * 40, "1.234,5", "1 234", "1\u202f234,5", "+.5", "5.", ".", "29.02.2024", "31.02.2024", "1.2.2024",
    "01.02.20", "30.06.0999", "٠١.٠٢.2024", "01.02.2024 ", "2024-02-29", "2024-02-30", "2024-06-30 23:59:60",
    "2024-06-30 23:59:59", "2024-06-30  23:59:59", "2024-06-30 24:00:00", "0000-01-01", "9999-12-31",
]  # fmt: skip
texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text(alphabet="0123456789.,-+eE ", max_size=12),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.dates().map(lambda day: day.strftime("%d.%m.%Y")),
    st.dates().map(date.isoformat),
)


@st.composite
def columns(draw: st.DrawFn) -> list[str | None]:
    """Texts and nulls; with and without repetition, so that distinct values are looked at alone or not."""
    pool = draw(st.lists(st.one_of(texts, st.none()), min_size=1, max_size=10))
    return draw(st.permutations(pool)) * draw(st.sampled_from([1, 4, 40]))


def trimmed(value: str | None) -> Any:
    return None if value is None else value.strip()


def trimmed_of_stars(value: str | None) -> Any:
    return None if value is None else value.strip("*- é")


def slug(value: str | None) -> Any:
    letters = {"ß": "ss", "ẞ": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h"}
    letters |= {letter.upper(): folded for letter, folded in letters.items() if letter not in "ßẞ"}
    letters |= {"ı": "i", "ŧ": "t", "Ŧ": "t", "ŋ": "n", "Ŋ": "n", "ĸ": "k"}
    folded = ""
    for character in value or "":
        for part in unicodedata.normalize("NFKD", letters.get(character, character)):
            part = letters.get(part, part)
            folded += "" if unicodedata.combining(part) else part.lower()
    return re.sub("[^a-z0-9]+", "-", folded).strip("-") or None


def boolean(value: str | None) -> Any:
    word = (value or "").strip().casefold()
    return 1 if word in ("yes", "true", "1", "on", "y") else 0 if word in ("no", "false", "0", "off", "n") else None


def mapped(value: str | None) -> Any:
    return (
        {"S": "small", "é": "accent", "1": "one", "": "nothing"}.get(value, "other") if value is not None else "other"
    )


def defaulted(value: str | None) -> Any:
    return "n/a" if value is None or value == "" else value


def defaulted_from_list(value: str | None) -> Any:
    return "n/a" if value in ("-", "S") else value


def number(value: str | None, decimals: int | None = None) -> Any:
    text = (value or "").strip()
    if not text:
        return None
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?", text):
        return FAILS
    exact = Decimal(text)
    if exact.adjusted() >= 1000 or not -1000 <= exact.as_tuple().exponent < 1000:
        return FAILS
    if decimals is not None:
        exact = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=5000))
    return exact


def rounded(value: str | None) -> Any:
    return number(value, 2)


def whole(value: str | None) -> Any:
    return number(value, 0)


def german_number(value: str | None) -> Any:
    text = (value or "").strip()
    if text and not re.fullmatch(
        r"[+-]?(([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]{1,4})?", text
    ):
        return FAILS
    return number(text.replace(".", "").replace(",", "."), 2)


def rewritten(input_format: str, output_format: str) -> Callable[[str | None], Any]:
    def reference(value: str | None) -> Any:
        if not value:
            return None
        try:
            return datetime.strptime(value, input_format).strftime(output_format)
        except ValueError:
            return FAILS

    return reference


CASES: list[tuple[Transformer, Callable[[str | None], Any]]] = [
    (TrimTransformer(), trimmed),
    (TrimTransformer("*- é"), trimmed_of_stars),
    (SlugTransformer(), slug),
    (BooleanTransformer(), boolean),
    (MapTransformer({"S": "small", "é": "accent", 1: "one", "": "nothing"}, default="other"), mapped),
    (DefaultValueTransformer("n/a"), defaulted),
    (DefaultValueTransformer("n/a", ["-", "S"]), defaulted_from_list),
    (NumericTransformer(), number),
    (NumericTransformer(2), rounded),
    (NumericTransformer(0), whole),
    (NumericTransformer(2, ",", "."), german_number),
    *(
        (DateTransformer(given, output, on_invalid="fail"), rewritten(given, output))
        for given, output in [
            ("%d.%m.%Y", "%Y-%m-%d"),
            ("%Y-%m-%d", "%d.%m.%y"),
            ("%Y-%m-%d %H:%M:%S", "%Y%m%dT%H%M%S"),
            ("%Y-%m-%d", "%A, %d %B %Y"),
        ]
    ),
]
LABELS = [f"{type(transformer).__name__} {reference.__name__}" for transformer, reference in CASES]


def applied(transformer: Transformer, values: list[Any], dtype: Any = pl.String) -> list[Any]:
    result = transformer.transform(pl.Series("field", values, dtype=dtype), NO_ROWS)
    if not isinstance(result, Transformed):
        return result.to_list()
    listed = result.values.to_list()
    for refusal in result.refused:
        listed = [FAILS if refused else value for refused, value in zip(refusal.rows.to_list(), listed, strict=True)]
    return listed


def same(result: Any, expected: Any) -> bool:
    """Numbers beyond 38 digits travel as text."""
    return (Decimal(result) if isinstance(expected, Decimal) and isinstance(result, str) else result) == expected


@pytest.mark.parametrize(("transformer", "reference"), CASES, ids=LABELS)
@given(values=columns())
@example(values=list(TRICKY))
@example(values=["1.005", "-1.005", "2.5", "-2.5", "0.5", "1.015", "3.125", "7"])
@example(values=[*TRICKY, None] * 3)
@example(values=["1.25", "-.5", "+3", "5.", "0", "12.5"] * 40 + [None, "", "x"])
@example(values=["1.25", "-.5", "+3", "5.", "0", "12.5"] * 40 + [None, " ", "1.005"])
@settings(deadline=None, max_examples=80)
def test_a_column_gives_what_a_loop_over_its_values_would(
    transformer: Transformer, reference: Callable[[str | None], Any], values: list[str | None]
) -> None:
    results = applied(transformer, values)
    assert len(results) == len(values)
    wrong = [
        (value, result, reference(value))
        for value, result in zip(values, results, strict=True)
        if not same(result, reference(value))
    ]
    assert wrong == []


@pytest.mark.parametrize("transformer", [transformer for transformer, _ in CASES], ids=LABELS)
@given(values=columns(), data=st.data())
@settings(deadline=None, max_examples=25)
def test_the_result_does_not_depend_on_how_rows_are_cut_into_batches(
    transformer: Transformer, values: list[str | None], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(values)))
    parts = applied(transformer, values[:cut]) + applied(transformer, values[cut:])
    together = applied(transformer, values)
    assert all(
        part is whole or part == whole or Decimal(part) == Decimal(whole)
        for part, whole in zip(parts, together, strict=True)
    )


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
OTHERS = [MapTransformer({1: 1.5, "x": 2}), BooleanTransformer(default="?"), DefaultValueTransformer(7, [0, None])]


@pytest.mark.parametrize("transformer", [transformer for transformer, _ in CASES] + OTHERS, ids=lambda one: one.name)
@given(column=typed_columns, repeats=st.sampled_from([1, 40]))
@settings(deadline=None, max_examples=25)
def test_nothing_raises_on_columns_of_any_type(
    transformer: Transformer, column: tuple[list[Any], Any], repeats: int
) -> None:
    values, dtype = column
    assert len(applied(transformer, values * repeats, dtype)) == len(values) * repeats


@given(first=columns(), last=columns(), separator=st.sampled_from([" ", "", ", ", "\u00a0"]))
@settings(deadline=None)
def test_concatenation_is_the_join_of_what_is_not_empty(
    first: list[str | None], last: list[str | None], separator: str
) -> None:
    height = min(len(first), len(last))
    frame = pl.DataFrame(
        {"first": first[:height], "last": last[:height]}, schema={"first": pl.String, "last": pl.String}
    )
    values = pl.Series("name", [None] * height, dtype=pl.String)
    result = ConcatTransformer(["first", "last"], separator).transform(values, Rows(frame, pl.Series([])))
    assert result.name == "name"
    assert result.to_list() == [
        separator.join(part for part in parts if part) or None for parts in zip(first, last, strict=False)
    ]
