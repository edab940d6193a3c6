"""The loop over values that a user's Python needs, and the one entry for every kind of transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.transformers.base import Refusal, Rows, ScalarTransformer, Transformed, Transformer
from airflow_provider_ingest.transformers.values import distinct_if_few, spread, to_series

MESSAGE_LIMIT = 500
"""Characters of a user's message that are kept."""


class RawRow(Mapping[str, Any]):
    """One raw row as user code sees it: a read-only mapping, made without copying the row."""

    __slots__ = ("_columns", "_position")

    def __init__(self, columns: _Columns, position: int) -> None:
        self._columns = columns
        self._position = position

    def __getitem__(self, field: str) -> Any:
        return self._columns[field][self._position]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.rows)

    def __len__(self) -> int:
        return len(self._columns.rows)

    def __contains__(self, field: object) -> bool:
        return field in self._columns.rows.frame.columns

    def __repr__(self) -> str:
        return f"RawRow({', '.join(self)})"


class _Columns(dict[str, list[Any]]):
    """The columns of a batch as lists, each made when a row is first asked for it."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.rows = rows

    def __missing__(self, field: str) -> list[Any]:
        column = self[field] = self.rows[field].to_list()
        return column


def raw_rows(rows: Rows) -> Iterator[RawRow]:
    """The rows of a batch, one after the other, for user code that looks at whole rows."""
    columns = _Columns(rows)
    return (RawRow(columns, position) for position in range(rows.height))


def apply_transformer(step: Transformer | ScalarTransformer, values: pl.Series, rows: Rows) -> Transformed:
    """The column after one step, and the rows that the step refused.

    A ``ValueError`` of a scalar step fails its rows with its text, any other exception with its type's name; the code
    is ``transform_error`` in both cases.

    :raises RunFailed: if a columnar step returns something other than a column of the same length.
    """
    if isinstance(step, Transformer):
        result = step.transform(values, rows)
        transformed = result if isinstance(result, Transformed) else Transformed(values=result)
        if not isinstance(transformed.values, pl.Series) or transformed.values.len() != values.len():
            came = f"{transformed.values.len()} values" if isinstance(transformed.values, pl.Series) else "no column"
            raise RunFailed(f"The transformer {step.name} returned {came} for {values.len()} rows.")
        return transformed
    if not step.uses_row:
        distinct = distinct_if_few(values)
        if distinct is not None:
            return _over_distinct(step, values, distinct)
    results, failures = call_each(step.transform_value, values.to_list(), raw_rows(rows) if step.uses_row else None)
    refused = refusals(failures, values.len(), step.name, "transform_error")
    return Transformed(values=_column(results, values.name, step.name), refused=refused)


def _over_distinct(step: ScalarTransformer, values: pl.Series, distinct: pl.Series) -> Transformed:
    results, failures = call_each(step.transform_value, [*distinct.to_list(), None], None)
    nulls = values.is_null()
    if not nulls.any():  # the call for null was for nothing: no row has its result or its failure
        results[-1] = None
        failures.pop(len(results) - 1, None)
    made = _column(results, values.name, step.name)
    positions = positions_of(values, distinct)
    failed = refusals(failures, len(results), step.name, "transform_error")
    refused = tuple(
        Refusal(rows=one.rows.gather(positions), code=one.code, message=laid_out(one.message, positions))
        for one in failed
    )
    return Transformed(values=made.gather(positions).alias(values.name), refused=refused)


def positions_of(values: pl.Series, distinct: pl.Series) -> pl.Series:
    """Where each value stands among the distinct ones; null stands behind the last."""
    return spread(values, distinct, pl.int_range(distinct.len(), dtype=pl.UInt32, eager=True)).fill_null(distinct.len())


def laid_out(message: str | pl.Series, positions: pl.Series) -> str | pl.Series:
    """A message that may differ from value to value, for the rows at which the values stand."""
    return message if isinstance(message, str) else message.gather(positions)


def _column(results: list[Any], name: str, step: str) -> pl.Series:
    try:
        return to_series(results, name)
    except TypeError as error:
        raise RunFailed(f"The transformer {step} returned {error}.") from None


def call_each(
    function: Callable[[Any, Any], Any], values: Sequence[Any], rows: Iterator[RawRow] | None
) -> tuple[list[Any], dict[int, Exception]]:
    """The function's results for all values (``None`` where it raised), and what it raised by position."""
    results: list[Any] = []
    failures: dict[int, Exception] = {}
    append = results.append
    pairs = zip(values, rows, strict=True) if rows is not None else ((value, None) for value in values)
    for value, row in pairs:
        try:
            append(function(value, row))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # a user's code: whatever it raises fails this row and no other
            failures[len(results)] = error
            append(None)
    return results, failures


def refusals(failures: Mapping[int, Exception], length: int, step: str, code: str) -> tuple[Refusal, ...]:
    """What user code raised, as refusals: one, with a message per row."""
    if not failures:
        return ()
    rows = [False] * length
    messages: list[str | None] = [None] * length
    for position, error in failures.items():
        rows[position] = True
        messages[position] = message_of(error, step)
    return (Refusal(rows=pl.Series(rows), code=code, message=pl.Series(messages, dtype=pl.String)),)


def message_of(error: Exception, step: str) -> str:
    """The text of a ``ValueError``; of anything else only its type, since its text may hold values."""
    text = str(error)[:MESSAGE_LIMIT] if isinstance(error, ValueError) else ""
    return text or f"{step} raised {type(error).__name__}."
