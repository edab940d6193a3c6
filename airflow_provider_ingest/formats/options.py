"""Options that say how to read a file, checked: people write them in definitions, in JSON and in forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_provider_ingest.exceptions import FormatError


def text_option(options: Mapping[str, Any], name: str) -> str | None:
    """A text.

    :raises FormatError: it is something else.
    """
    value = options.get(name)
    if value is not None and not isinstance(value, str):
        raise FormatError(f"The option {name} takes a text, not {value!r}.")
    return value


def number_option(options: Mapping[str, Any], name: str, least: int) -> int | None:
    """A whole number, or its text.

    :raises FormatError: it is none, or less than ``least``.
    """
    value = options.get(name)
    if value is None:
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = least - 1
    if number < least or isinstance(value, bool):
        raise FormatError(f"The option {name} takes a whole number from {least}, not {value!r}.")
    return number


def flag_option(options: Mapping[str, Any], name: str) -> bool | None:
    """True or false, or a text that says so.

    :raises FormatError: it is something else.
    """
    value = options.get(name)
    if value is None or isinstance(value, bool):
        return value
    known = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if str(value).lower() not in known:
        raise FormatError(f"The option {name} takes true or false, not {value!r}.")
    return known[str(value).lower()]


def names_option(options: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """A list of names.

    :raises FormatError: it is none, or empty.
    """
    names = options.get(name)
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise FormatError(f"The option {name} takes a list of names.")
    return tuple(str(one) for one in names)
