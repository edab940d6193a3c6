"""A custom source: an object that yields rows, written to staging as one JSON document per line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import orjson

from airflow_provider_ingest.exceptions import RunFailed, SourceError
from airflow_provider_ingest.hooks.base import BLOCK, SourceHook, Stream
from airflow_provider_ingest.importers.source import Source

_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME


class CustomHook(SourceHook):
    """Reads a user's :class:`~airflow_provider_ingest.importers.source.Source`."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """Ask the source for its metadata and begin to read."""
        try:
            metadata = dict(self.source.get_source_metadata())
            rows = iter(self.source.read())
        except RunFailed:
            raise
        except Exception as error:  # the user's code may raise anything
            raise SourceError(f"The source {self._name} cannot be opened: {_reason(error)}", retryable=True) from error
        facts = orjson.loads(orjson.dumps(metadata, default=str, option=orjson.OPT_NON_STR_KEYS))
        name = str(metadata.get("source_type") or self._name)
        yield Stream(name=name, blocks=self._lines(rows), facts={"source": facts})

    @property
    def _name(self) -> str:
        return type(self.source).__name__

    def _lines(self, rows: Iterator[Mapping[str, Any]]) -> Iterator[bytes]:
        """Rows as lines, in blocks: the file is either whole or not there at all."""
        number = 0
        lines: list[bytes] = []
        held = 0
        while True:
            try:
                row = next(rows)
            except StopIteration:
                break
            except Exception as error:  # the user's code may raise anything
                raise SourceError(
                    f"The source {self._name} broke off after row {number}: {_reason(error)}", retryable=True
                ) from error
            number += 1
            line = self._line(row, number)
            lines.append(line)
            held += len(line)
            if held >= BLOCK:
                yield b"".join(lines)
                lines.clear()
                held = 0
        if lines:
            yield b"".join(lines)

    def _line(self, row: Any, number: int) -> bytes:
        if not isinstance(row, Mapping):
            raise SourceError(
                f"The source {self._name} yields {type(row).__name__} as row {number}; a row is a mapping."
            )
        try:
            line = orjson.dumps(dict(row), default=_plain, option=_OPTIONS)
            if b"null" in line and any(map(_is_infinite, row.values())):
                finite = {name: str(value) if _is_infinite(value) else value for name, value in row.items()}
                line = orjson.dumps(finite, default=_plain, option=_OPTIONS)
            return line
        except TypeError:
            pass  # an integer above 64 bits, or what has no JSON form at all
        try:
            return json.dumps(_finite(row), default=_plain, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError) as error:
            raise SourceError(f"Row {number} of the source {self._name} cannot be kept: {error}") from error


def _finite(value: Any) -> Any:
    """The same without what JSON has no form for: NaN is null, infinity as a value of a mapping is text."""
    if isinstance(value, Mapping):
        return {name: str(inner) if _is_infinite(inner) else _finite(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    """A value that JSON does not know, as text."""
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (Decimal, UUID)):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


def _is_infinite(value: Any) -> bool:
    """Whether it would silently become null: JSON has no form for it. NaN may, it is what many call a missing value."""
    return isinstance(value, float) and math.isinf(value)


def _reason(error: Exception) -> str:
    """The kind of an error of user code; its text may hold row values and stays out of logs."""
    return f"it raised {type(error).__name__}; the task's log has the traceback"
