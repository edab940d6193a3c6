"""Whatever a definition gives as a transformer becomes one, or is refused with what is allowed."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.transformers import (
    BooleanTransformer,
    ConcatTransformer,
    DateTransformer,
    DefaultValueTransformer,
    MapTransformer,
    NumericTransformer,
    ScalarTransformer,
    SlugTransformer,
    TrimTransformer,
)
from airflow_provider_ingest.transformers.callables import CallableTransformer, as_transformer, callable_name
from airflow_provider_ingest.validators import RequiredValidator


def test_an_instance_is_taken_as_it_is() -> None:
    trim = TrimTransformer()
    assert as_transformer(trim) is trim


def test_a_class_is_made_without_arguments() -> None:
    assert isinstance(as_transformer(SlugTransformer), SlugTransformer)


class Adder:
    def __call__(self, value: int) -> int:
        return value + 1

    def add(self, value: int, row: Any) -> int:
        return value + 1


@pytest.mark.parametrize(
    ("function", "uses_row"),
    [
        (lambda value: value, False),
        (lambda value, row: value, True),
        (lambda value, base=10: value, False),
        (lambda *values: values, False),
        (str.upper, False),
        (str, False),
        (int, False),
        (Decimal, False),
        (round, False),
        (json.loads, False),
        (functools.partial(int, base=16), False),
        (functools.partial(lambda base, value, row: value, 1), True),
        (Adder(), False),
        (Adder().add, True),
    ],
)
def test_the_number_of_required_arguments_says_whether_a_callable_sees_the_row(function: Any, uses_row: bool) -> None:
    made = as_transformer(function)
    assert isinstance(made, CallableTransformer)
    assert made.uses_row is uses_row


async def coroutine(value: str) -> str:
    return value


class Unfinished(ScalarTransformer):
    pass


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("trim", r"'trim' is no transformer: a transformer is an instance, a class, or a callable"),
        (7, "7 is no transformer"),
        (None, "None is no transformer"),
        ({"a": "b"}, "is no transformer"),
        (lambda: 1, r"takes \(nothing\)"),
        (lambda a, b, c: 1, r"takes \(a, b, c\)"),
        (lambda value, *, base: 1, r"takes \(value, base\)"),
        (coroutine, "coroutine"),
        (MapTransformer, r"MapTransformer needs arguments; give an instance, MapTransformer\(…\)"),
        (Unfinished, "does not implement transform_value"),
        (RequiredValidator(), "is a validator, not a transformer"),
        (RequiredValidator, "is a validator, not a transformer"),
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(given: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as refusal:
        as_transformer(given)
    assert " at 0x" not in str(refusal.value)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (str.upper, "builtins:str.upper"),
        (int, "builtins:int"),
        (json.loads, "json:loads"),
        (functools.partial(int, base=16), "builtins:int"),
        (Adder().add, f"{__name__}:Adder.add"),
        (Adder(), f"{__name__}:Adder"),
    ],
)
def test_a_callable_is_named_by_its_qualified_name(function: Any, name: str) -> None:
    assert callable_name(function) == name


def test_a_lambda_is_named_by_its_line_and_a_dag_file_by_its_own_name() -> None:
    function = eval("\n\nlambda value: value", {"__name__": f"unusual_prefix_{'a1' * 20}_products"})
    assert callable_name(function) == "products:<lambda> (line 3)"
    assert as_transformer(function).name == "<lambda> (line 3)"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: TrimTransformer(""), "characters"),
        (lambda: TrimTransformer(7), "characters"),
        (lambda: SlugTransformer(None), "separator"),
        (lambda: ConcatTransformer("name"), "fields must be a list"),
        (lambda: ConcatTransformer([]), "fields must be a list"),
        (lambda: ConcatTransformer(["a"], None), "separator"),
        (lambda: MapTransformer(["a"]), "lookup must be a dict"),
        (lambda: MapTransformer({"a": object()}), "type object"),
        (lambda: BooleanTransformer("yes"), "truthy_values must be a list"),
        (lambda: BooleanTransformer(["Ja"], ["ja ", "no"]), "'ja' cannot be both"),
        (lambda: DefaultValueTransformer("x", "-"), "empties must be a list"),
        (lambda: DefaultValueTransformer(object()), "type object"),
        (lambda: NumericTransformer(-1), "decimals"),
        (lambda: NumericTransformer(1.5), "decimals"),
        (lambda: NumericTransformer(True), "decimals"),
        (lambda: NumericTransformer(2, ""), "decimal_separator"),
        (lambda: NumericTransformer(2, "5"), "decimal_separator"),
        (lambda: NumericTransformer(2, ",", ","), "must differ"),
        (lambda: NumericTransformer(default="x"), "default must be a number"),
        (lambda: NumericTransformer(default=float("nan")), "default must be a number"),
        (lambda: DateTransformer("%Q", "%Y"), "'%Q' is not a date format"),
        (lambda: DateTransformer("%Y-%m-%", "%Y"), "is not a date format"),
        (lambda: DateTransformer("", "%Y"), "input_format"),
        (lambda: DateTransformer("---", "%Y"), "no directive"),
        (lambda: DateTransformer("%Y", "%Y\ud800"), "strftime cannot write it"),
        (lambda: DateTransformer("%Y", "Y-W"), "'W' has no counterpart"),
        (lambda: DateTransformer(7, "%Y"), "input_format"),
        (lambda: DateTransformer("%Y", "%Y", on_invalid="ignore"), "on_invalid"),
    ],
)
def test_options_that_cannot_work_are_refused_where_they_are_written(make: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make()


def test_descriptions_are_json_and_the_same_in_every_process() -> None:
    script = """
import json
from decimal import Decimal
from airflow_provider_ingest.transformers import *
from airflow_provider_ingest.transformers.callables import as_transformer
steps = [
    TrimTransformer("-"), SlugTransformer(), ConcatTransformer(["a", "b"]),
    MapTransformer({"a": 1, 2: Decimal("1.5")}), BooleanTransformer(), DefaultValueTransformer(0, ["-", None]),
    NumericTransformer(2, ",", default=None), NumericTransformer(),
    DateTransformer("d.m.Y", "%Y-%m-%d", on_invalid="fail"), as_transformer(lambda value: value),
]
print(json.dumps([[step.name, dict(step.describe())] for step in steps]))
"""
    runs = {
        subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
    described = json.loads(runs.pop())
    assert described[3] == ["MapTransformer", {"lookup": [["a", 1], [2, "1.5"]], "default": None}]
    assert described[-1][1] == {"callable": "__main__:<lambda> (line 10)", "uses_row": False}


def test_importing_a_transformer_loads_nothing_heavier_than_polars() -> None:
    script = """
import sys
from airflow_provider_ingest.transformers import TrimTransformer
from airflow_provider_ingest.validators import EmailValidator
heavy = {"airflow", "sqlalchemy", "fastapi", "pydantic", "pyarrow", "pandas", "numpy"} & set(sys.modules)
print(sorted(heavy))
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
