"""What a user may give as a transformer: an instance, a class, or a plain callable."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.transformers.base import ScalarTransformer, Transformer

_DAG_FILE = re.compile(r"^unusual_prefix_[0-9a-f]+_")
_TEXT_LIMIT = 60


class CallableTransformer(ScalarTransformer):
    """A plain callable as a transformer: ``function(value)``, or ``function(value, row)`` with ``uses_row``.

    >>> CallableTransformer(str.upper, uses_row=False).transform_value("a", None)
    'A'
    """

    def __init__(self, function: Callable[..., Any], *, uses_row: bool) -> None:
        self.function = function
        self.uses_row = uses_row

    @property
    def name(self) -> str:
        """The function's own name."""
        return short_name(self.function)

    def transform_value(self, value: Any, row: Mapping[str, Any] | None) -> Any:
        """What the function returns."""
        return self.function(value, row) if self.uses_row else self.function(value)

    def describe(self) -> Mapping[str, Any]:
        """The function's qualified name, and whether it sees the row."""
        return {"callable": callable_name(self.function), "uses_row": self.uses_row}


def as_transformer(given: Any) -> Transformer | ScalarTransformer:
    """The transformer that a definition gives: an instance, a class without arguments, or a plain callable.

    A callable with one required positional argument receives the value and is called once for each distinct value;
    one with two receives the value and the raw row.

    :raises ConfigError: naming what came and what is allowed.
    """
    if isinstance(given, Transformer | ScalarTransformer):
        return given
    if isinstance(given, type) and issubclass(given, Transformer | ScalarTransformer):
        made: Transformer | ScalarTransformer = instantiate(given, "transformer")
        return made
    check_method = next((name for name in ("check_value", "passes") if hasattr(given, name)), None)
    if check_method is not None:
        raise ConfigError(f"{shown(given)} is a validator, not a transformer: give it where validators belong.")
    return CallableTransformer(given, uses_row=takes_row(given, "transformer"))


def instantiate(given: type, what: str) -> Any:
    """An instance of a class that is given without arguments."""
    if inspect.isabstract(given):
        missing = ", ".join(sorted(getattr(given, "__abstractmethods__", ())))
        raise ConfigError(f"The {what} class {given.__name__} cannot be used: it does not implement {missing}.")
    try:
        return given()
    except TypeError as error:
        raise ConfigError(
            f"The {what} class {given.__name__} needs arguments; give an instance, {given.__name__}(…). ({error})"
        ) from None


def takes_row(given: Any, what: str) -> bool:
    """Whether a callable takes the value and the row (true) or the value alone (false).

    :raises ConfigError: if it takes neither, or is no callable at all.
    """
    allowed = f"a {what} is an instance, a class, or a callable of (value) or (value, row)"
    if not callable(given):
        raise ConfigError(f"{shown(given)} is no {what}: {allowed}.")
    if inspect.iscoroutinefunction(given) or inspect.isgeneratorfunction(given):
        raise ConfigError(f"{shown(given)} is a coroutine or generator function; {allowed}.")
    try:
        parameters = inspect.signature(given).parameters.values()
    except (ValueError, TypeError):  # some builtins do not tell; those used here (int, str, float) take one value
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(required) > 2 or named or not (positional or takes_any):
        needed = ", ".join([p.name for p in required] + named) or "nothing"
        raise ConfigError(f"{shown(given)} takes ({needed}); {allowed}.")
    return len(required) == 2


def callable_name(function: Any) -> str:
    """``module:qualified name``, the same in every process; a lambda also has its line.

    >>> callable_name(str.upper), callable_name(functools.partial(int, base=16))
    ('builtins:str.upper', 'builtins:int')
    """
    while isinstance(function, functools.partial):
        function = function.func
    qualified = getattr(function, "__qualname__", None)
    if qualified is None:
        function = type(function)
        qualified = function.__qualname__
    owner = getattr(function, "__objclass__", None)
    module = getattr(function, "__module__", None) or getattr(owner, "__module__", None) or "builtins"
    code = getattr(function, "__code__", None)
    line = f" (line {code.co_firstlineno})" if code is not None and qualified.endswith("<lambda>") else ""
    return f"{_DAG_FILE.sub('', module)}:{qualified}{line}"


def short_name(function: Any) -> str:
    """The callable's own name, for traces and messages: without module and enclosing functions."""
    return callable_name(function).rpartition(":")[2].rpartition("<locals>.")[2]


def shown(given: Any) -> str:
    """A value as an error message names it: its repr if short and free of addresses, else its type."""
    if callable(given) and (hasattr(given, "__qualname__") or isinstance(given, functools.partial)):
        return callable_name(given)
    text = repr(given)
    return f"an object of type {type(given).__name__}" if " at 0x" in text or len(text) > _TEXT_LIMIT else text
