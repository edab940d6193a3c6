"""What the table keeps of a row's fields: their values, whose names stand in the line of the run, once for all rows.

The names would be nearly half of what the log writes. Rows that have other fields than the first ones of their run,
and records that are no rows, are kept as objects.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import JSONDecoder
from typing import Any

import orjson

from airflow_provider_ingest.runs.columns import pl

_value_at = JSONDecoder().raw_decode
_BETWEEN = re.compile(r"[\s,]*")
_ARRAY = "["


def named(data: Any, fields: Sequence[str]) -> dict[str, Any]:
    """A document of the table as the row's fields.

    >>> named(["AB-1", None], ["sku", "name"]), named({"_raw": "?"}, ["sku", "name"])
    ({'sku': 'AB-1', 'name': None}, {'_raw': '?'})
    """
    return dict(zip(fields, data, strict=True)) if isinstance(data, list) else data


def with_names(rows: pl.DataFrame, fields: Sequence[str]) -> pl.DataFrame:
    """Rows (schema ROW_LOG) whose arrays have become objects."""
    names = [orjson.dumps(name).decode() for name in fields]
    documents = [_object(text, names) if text.startswith(_ARRAY) else text for text in rows["data"]]
    return rows.with_columns(pl.Series("data", documents, dtype=pl.String))


def _object(array: str, names: Sequence[str]) -> str:
    """The object of an array's values, each of them in the characters that it has there: numbers lose no digit."""
    members, end = [], 1
    for name in names:
        start = _BETWEEN.match(array, end).end()  # type: ignore[union-attr]  # it matches nothing, too
        end = _value_at(array, start)[1]
        members.append(f"{name}:{array[start:end]}")
    return "{" + ",".join(members) + "}"
