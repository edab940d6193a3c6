"""Arrays of JSON as the text of PostgreSQL's array columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial

import polars as pl

from airflow_provider_ingest.transformers.values import mend, sure

_START = re.compile(r"\[\s*")
_BETWEEN = re.compile(r"\s*,?\s*")
_HEX_BYTES = re.compile(r"\\x(?:[0-9a-fA-F]{2})*")


def array_literals(text: pl.Series, sql_type: str) -> pl.Series:
    r"""Arrays of JSON as PostgreSQL writes arrays; any other text, which may be such a literal already, as it is.

    :param sql_type: the array's type; elements that are bytes or JSON are written as these types read them.

    >>> array_literals(pl.Series(['["a,b",null,"c"]', "[[1.50],[2]]", "[]", "{x}"]), "text[]").to_list()
    ['{"a,b",null,"c"}', '{{1.50},{2}}', '{}', '{x}']
    """
    is_array = sure(text.str.starts_with("[") & text.str.json_path_match("$").is_not_null())
    if not is_array.any():
        return text
    # quotes and what stands between them mean the same in both as long as nothing is escaped
    has_text = text.str.contains('"', literal=True)
    is_flat = ~text.str.slice(1).str.head(-1).str.contains(r"[\[\]]")
    plain = ~text.str.contains(r"[\\{}]") & (~has_text | is_flat)
    flat = "{" + text.str.slice(1).str.head(-1) + "}"
    numbers = text.str.replace_all("[", "{", literal=True).str.replace_all("]", "}", literal=True)
    quick = flat.zip_with(sure(has_text), numbers).zip_with(is_array, text)
    base = sql_type.partition("[")[0]
    write = _of_json if base in ("json", "jsonb") else partial(_literal, is_bytes=base == "bytea")
    rest = is_array if write is _of_json else is_array & ~sure(plain)
    return mend(quick, rest, text, write)


def _literal(array: str, *, is_bytes: bool) -> str:
    written = []
    for raw in _elements(array):
        if raw.startswith("["):
            written.append(_literal(raw, is_bytes=is_bytes))
        elif raw == "null":
            written.append("NULL")
        else:
            text = json.loads(raw) if raw.startswith('"') else raw
            written.append(_quoted(_as_bytes(text) if is_bytes else text))
    return "{" + ",".join(written) + "}"


def _of_json(array: str) -> str:
    return "{" + ",".join("NULL" if raw == "null" else _quoted(raw) for raw in _elements(array)) + "}"


def _elements(array: str) -> Iterator[str]:
    """The elements of an array of JSON as they stand in it, digit for digit."""
    decode = json.JSONDecoder().raw_decode
    start = _START.match(array).end()  # type: ignore[union-attr]  # it is an array
    while array[start] != "]":
        end = decode(array, start)[1]
        yield array[start:end]
        start = _BETWEEN.match(array, end).end()  # type: ignore[union-attr]  # matches the empty text


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _as_bytes(text: str) -> str:
    return text if _HEX_BYTES.fullmatch(text) else "\\x" + text.encode().hex()
