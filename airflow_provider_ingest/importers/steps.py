"""Makes instances of what people write as transformers, validators, conditions and source fields."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import LINE_NUMBER, ROW_NUMBER

if TYPE_CHECKING:
    from airflow_provider_ingest.importers.mapping import AnyTransformer, AnyValidator, Condition

RESERVED_FIELDS = frozenset({ROW_NUMBER, LINE_NUMBER, "_error_message", "_extra", "_raw"})
"""Columns that the service itself adds to rows and downloads."""


def source_fields(field: Any, where: str) -> tuple[str, ...]:
    """A source field as the tuple of its name and aliases; ``None`` is the empty tuple."""
    if field is None:
        return ()
    names = (field,) if isinstance(field, str) else tuple(field) if isinstance(field, Sequence) else None
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ConfigError(f"{where}: the source field is {field!r}; give a name, a list of aliases, or None.")
    for name in names:
        if name in RESERVED_FIELDS:
            raise ConfigError(f'{where}: "{name}" is a name that the service itself uses; it is no source field.')
    return tuple(dict.fromkeys(names))


def transformers(given: Any, where: str) -> tuple[AnyTransformer, ...]:
    """An instance, class, callable, or a sequence of these, as instances."""
    from airflow_provider_ingest.transformers.callables import as_transformer

    return tuple(_made(as_transformer, one, where, "transformer") for one in _sequence(given))


def validators(given: Any, where: str) -> tuple[AnyValidator, ...]:
    """An instance, class, callable, or a sequence of these, as instances."""
    from airflow_provider_ingest.validators.callables import as_validator

    return tuple(_made(as_validator, one, where, "validator") for one in _sequence(given))


def check_field(fields: tuple[str, ...], steps: tuple[AnyTransformer, ...], where: str) -> None:
    """Refuse a null field that nothing fills, and a field in front of a step that builds its value from the row."""
    for step in steps[1:]:
        if not step.needs_field:
            raise ConfigError(f"{where}: {step.name} builds its value from the row, so it can only be the first.")
    builds = bool(steps) and (not steps[0].needs_field or bool(getattr(steps[0], "uses_row", False)))
    if not fields and not builds:
        first = f"{steps[0].name} needs one" if steps else "nothing builds the value"
        raise ConfigError(
            f"{where}: the source field is None, but {first}; name a field, or use a transformer that builds "
            "its value from the row (ConcatTransformer)."
        )
    if fields and steps and not steps[0].needs_field:
        raise ConfigError(
            f"{where}: {steps[0].name} builds its value from the row and would ignore the field "
            f'"{fields[0]}"; give None as the source field.'
        )


class NamedCondition(NamedTuple):
    """A condition and what manifests and traces call it."""

    condition: Condition
    name: str


def condition(given: Any, where: str) -> NamedCondition:
    """A callable on the row or a Polars expression, with its name."""
    polars = sys.modules.get("polars")  # an expression of it cannot come before it was imported
    if polars is not None and isinstance(given, polars.Expr):
        return NamedCondition(given, str(given))
    if callable(given) and not isinstance(given, type):
        from airflow_provider_ingest.transformers.callables import callable_name

        return NamedCondition(given, callable_name(given))
    raise ConfigError(
        f"{where}: the condition is {given!r}; give a callable that takes the row and returns True or False, a "
        "Polars expression, or an object with should_apply()."
    )


def qualified_name(made: Any) -> str:
    """Module and qualified name, without an address, of a class or of an instance's class."""
    from airflow_provider_ingest.transformers.callables import callable_name

    return callable_name(made if isinstance(made, type) else type(made))


def _sequence(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _made(make: Callable[[Any], Any], given: Any, where: str, what: str) -> Any:
    try:
        return make(given)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    except TypeError as error:
        name = getattr(given, "__name__", repr(given))
        raise ConfigError(f"{where}: {name} is not usable as a {what}: {error}") from None
