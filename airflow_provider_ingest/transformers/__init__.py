"""Transformers: a column in, a column out.

The built-in ones are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_ingest.transformers.base import (
        Refusal as Refusal,
    )
    from airflow_provider_ingest.transformers.base import (
        Rows as Rows,
    )
    from airflow_provider_ingest.transformers.base import (
        ScalarTransformer as ScalarTransformer,
    )
    from airflow_provider_ingest.transformers.base import (
        Transformed as Transformed,
    )
    from airflow_provider_ingest.transformers.base import (
        Transformer as Transformer,
    )
    from airflow_provider_ingest.transformers.lookup import (
        BooleanTransformer as BooleanTransformer,
    )
    from airflow_provider_ingest.transformers.lookup import (
        DefaultValueTransformer as DefaultValueTransformer,
    )
    from airflow_provider_ingest.transformers.lookup import (
        MapTransformer as MapTransformer,
    )
    from airflow_provider_ingest.transformers.numeric import NumericTransformer as NumericTransformer
    from airflow_provider_ingest.transformers.temporal import DateTransformer as DateTransformer
    from airflow_provider_ingest.transformers.text import (
        ConcatTransformer as ConcatTransformer,
    )
    from airflow_provider_ingest.transformers.text import (
        SlugTransformer as SlugTransformer,
    )
    from airflow_provider_ingest.transformers.text import (
        TrimTransformer as TrimTransformer,
    )

_HOMES = {
    "BooleanTransformer": "lookup",
    "ConcatTransformer": "text",
    "DateTransformer": "temporal",
    "DefaultValueTransformer": "lookup",
    "MapTransformer": "lookup",
    "NumericTransformer": "numeric",
    "Refusal": "base",
    "Rows": "base",
    "ScalarTransformer": "base",
    "SlugTransformer": "text",
    "Transformed": "base",
    "Transformer": "base",
    "TrimTransformer": "text",
}

__all__ = list(_HOMES)  # the table above is the list


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
