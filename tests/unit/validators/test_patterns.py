"""Patterns: Polars' engine finds what ``re`` finds, and no pattern hangs."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.transformers.base import Rows
from airflow_provider_ingest.validators import RegexValidator, patterns
from airflow_provider_ingest.validators.patterns import Pattern
from airflow_provider_ingest.validators.text import TOO_LONG, UNCHECKED

NO_ROWS = Rows(pl.DataFrame(), pl.Series([], dtype=pl.Int64))
ALPHABET = "abAB01_ -.\n\r\x1fñßſKkıİiIé٣\u00a0\u0301🎉sS"

atoms = st.one_of(
    st.sampled_from(list(ALPHABET)).map(re.escape),
    st.sampled_from(
        [".", r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\b", r"\B", "^", "$", r"\A", r"\Z", "[a-z]", "[^a]"]
    ),
    st.sampled_from(
        [r"[^\W\d]", r"[\s\-_]", "[ſ-ſK]", r"[^\n]", "[à-þ]", "(?=a)", "(?!b)", "(?<=a)", r"(a)\1", "(?i:k)", "(?-i:S)"]
    ),
)


def composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(["*", "+", "?", "*?", "+?", "{2}", "{1,3}", "{0,2}?", "{2,}", ""])
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, quantifiers).map(lambda pair: f"({pair[0]}){pair[1]}"),
    )


expressions = st.recursive(atoms, composed, max_leaves=8)
flags = st.sampled_from([0, re.IGNORECASE, re.MULTILINE, re.DOTALL, re.ASCII, re.IGNORECASE | re.ASCII, re.VERBOSE])
values = st.lists(st.text(alphabet=ALPHABET, max_size=7), min_size=1, max_size=12)


def compiled(pattern: str, flag: int) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern, flag)
        except re.error:
            assume(False)
            raise


@given(pattern=expressions, flag=flags, values=values)
@example(pattern="^a$", flag=0, values=["a", "a\n", "a\n\n", "\n"])
@example(pattern="^$", flag=0, values=["\n", "a"])
@example(pattern="^a$", flag=re.MULTILINE, values=["b\na\nb", "b\r\na"])
@example(pattern="(?i)[^k]", flag=0, values=["k", "K", "K", "x"])
@example(pattern=r"\bé", flag=0, values=["é", "aé", " é"])
@example(pattern="a$b", flag=0, values=["a", "ab", "a\n"])
@settings(deadline=None, max_examples=600)
def test_a_pattern_finds_in_a_column_what_re_finds(pattern: str, flag: int, values: list[str]) -> None:
    expression = compiled(pattern, flag)
    searched = Pattern(expression)
    assume(searched.translated is not None or searched.safe_length >= 7)  # else a process is started for each example
    found = searched.search(pl.Series([*values, None], dtype=pl.String)).found.to_list()
    assert found == [*(bool(expression.search(value)) for value in values), True]


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d",
        r"\s",
        r"\w",
        "(?i)k",
        "(?i)[a-z]",
        "(?i)ſ",
        "[^a-z]",
        r"(?a)\w",
        r"[^\S ]",
        r"\W",
        r"(?i)[^s]",
        "[^\ud7ff]",
        "[^\u3000-\ud7ff\ue000-\uf000]",
        ".",
    ],
)
def test_a_class_matches_the_very_characters_that_it_matches_in_python(pattern: str) -> None:
    characters = pl.Series([chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000])
    expression = re.compile(pattern)
    searched = Pattern(expression)
    assert searched.translated is not None
    found = characters.filter(searched.search(characters).found)
    assert "".join(found) == "".join(expression.findall("".join(characters)))


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[A-Z]{2}-\d+$",
        "^(a+)+$",
        r"^(\w+\s?)*x$",
        r"^([a-z0-9]+(-[a-z0-9]+)*)$",
        r"(?i)^(https?)://\S+$",
        r"^\+?[\d ]{7,15}$",
    ],
)
def test_common_patterns_run_in_columns(pattern: str) -> None:
    assert Pattern(re.compile(pattern)).translated is not None


@pytest.mark.parametrize(
    "pattern",
    [r"(?=a)b", r"(?<!a)b", r"(a)\1", r"(?>a+)b", r"a++b", r"a$b", r"\Bx", r"^(a?)*$", "(a)?(?(1)b|c)", "(?!)"],
)
def test_what_the_column_engine_lacks_runs_in_python(pattern: str) -> None:
    expression = re.compile(pattern)
    texts = ["b", "ab", "aa", "ba", "aaab", "x", "xx", "c", "a"]
    searched = Pattern(expression)
    assert searched.translated is None
    found = searched.search(pl.Series(texts)).found.to_list()
    assert found == [bool(expression.search(text)) for text in texts]


EXPLODING: list[tuple[str, Callable[[int], str]]] = [
    (r"^(a+)+$", lambda length: "a" * length + "!"),
    (r"^(?=(a+)+$)", lambda length: "a" * length + "!"),
    (r"(a|aa)+\b(?!x)$", lambda length: "a" * length + "!"),
    (r"^(\w+\s?)*(?<!-)$", lambda length: "word " * length + "!"),
]


@pytest.mark.parametrize(("pattern", "value"), EXPLODING, ids=[pattern for pattern, _ in EXPLODING])
def test_a_pattern_that_explodes_ends_and_fails_its_row_alone(pattern: str, value: Callable[[int], str]) -> None:
    column = pl.Series(["aa", value(40), ""])
    refusals = RegexValidator(pattern).refusals(column, NO_ROWS)
    assert [(refusal.code, refusal.rows.to_list()[1:]) for refusal in refusals] == [("regex", [True, False])]
    assert not refusals[0].rows[0]


def test_a_value_that_takes_too_long_has_a_message_of_its_own() -> None:
    validator = RegexValidator(r"^(?=(a+)+$)", message="Only a, please.")
    refusals = validator.refusals(pl.Series(["b", "a" * 40 + "!", "aaa"]), NO_ROWS)
    assert [(refusal.message, refusal.rows.to_list()) for refusal in refusals] == [
        ("Only a, please.", [True, False, False]),
        (TOO_LONG, [False, True, False]),
    ]


def test_values_that_the_time_of_a_batch_does_not_reach_fail_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "VALUE_SECONDS", 0.2)
    monkeypatch.setattr(patterns, "BATCH_SECONDS", 0.5)
    column = pl.Series(["aaa", *("a" * length + "!" for length in range(40, 50))])
    refusals = RegexValidator(r"^(?=(a+)+$)").refusals(column, NO_ROWS)
    messages = {refusal.message: refusal.rows.sum() for refusal in refusals}
    assert set(messages) == {TOO_LONG, UNCHECKED}
    assert sum(messages.values()) == 10


def test_long_values_of_a_harmless_pattern_are_searched_exactly() -> None:
    expression = re.compile(r"(?=.*1)(?=.*b)(?=.*c)a.*")
    texts = ["a" * 500 + "bc1", "a" * 500 + "bc", "1cba" * 200]
    searched = Pattern(expression)
    assert searched.safe_length < 500
    assert searched.search(pl.Series(texts)).found.to_list() == [bool(expression.search(text)) for text in texts]


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a{3,1}", "(?P<x>a)(?P<x>b)", b"a", None, 7, re.compile(b"a"), r"\p{L}"]
)
def test_what_re_does_not_compile_is_refused_in_the_definition(pattern: Any) -> None:
    with pytest.raises(ConfigError, match="RegexValidator"):
        RegexValidator(pattern)


def test_a_compiled_pattern_keeps_its_flags() -> None:
    validator = RegexValidator(re.compile("^a$", re.IGNORECASE))
    assert validator.passes(pl.Series(["A"]), NO_ROWS).to_list() == [True]
    assert validator.describe() == {"pattern": "^a$", "message": validator.message, "flags": 2}


def test_a_validator_with_a_pattern_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(RegexValidator(r"^\d$")))
    assert again.passes(pl.Series(["1", "x"]), NO_ROWS).to_list() == [True, False]
