"""Validators: a column in, which rows pass out.

The built-in ones are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_ingest.validators.base import ScalarValidator as ScalarValidator
    from airflow_provider_ingest.validators.base import Validator as Validator
    from airflow_provider_ingest.validators.membership import InArrayValidator as InArrayValidator
    from airflow_provider_ingest.validators.numeric import RangeValidator as RangeValidator
    from airflow_provider_ingest.validators.presence import RequiredValidator as RequiredValidator
    from airflow_provider_ingest.validators.temporal import DateValidator as DateValidator
    from airflow_provider_ingest.validators.text import (
        EmailValidator as EmailValidator,
    )
    from airflow_provider_ingest.validators.text import (
        RegexValidator as RegexValidator,
    )

_HOMES = {
    "DateValidator": "temporal",
    "EmailValidator": "text",
    "InArrayValidator": "membership",
    "RangeValidator": "numeric",
    "RegexValidator": "text",
    "RequiredValidator": "presence",
    "ScalarValidator": "base",
    "Validator": "base",
}

__all__ = list(_HOMES)  # the table above is the list


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
