"""The loop over values that a user's Python needs, and the one entry for every kind of transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.runs.columns import pl
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
    distinct = None if step.uses_row else distinct_if_few(values)
    if distinct is not None:
        return _over_distinct(step, values, distinct)
    called = call_each(step.transform_value, values.to_list(), raw_rows(rows) if step.uses_row else None, step.name)
    return Transformed(values=_column(called.results, values.name, step.name), refused=_refusals(called))


def _over_distinct(step: ScalarTransformer, values: pl.Series, distinct: pl.Series) -> Transformed:
    listed = distinct.to_list() + [None] * bool(values.null_count())
    called = call_each(step.transform_value, listed, None, step.name)
    positions = positions_of(values, distinct)
    made = _column(called.results, values.name, step.name).gather(positions).alias(values.name)
    return Transformed(values=made, refused=tuple(laid_out(refusal, positions) for refusal in _refusals(called)))


def positions_of(values: pl.Series, distinct: pl.Series) -> pl.Series:
    """Where each value stands among the distinct ones; null stands behind the last."""
    return spread(values, distinct, pl.int_range(distinct.len(), dtype=pl.UInt32, eager=True)).fill_null(distinct.len())


def laid_out(refusal: Refusal, positions: pl.Series) -> Refusal:
    """A refusal of distinct values, for the rows at which the values stand."""
    message = refusal.message if isinstance(refusal.message, str) else refusal.message.gather(positions)
    return Refusal(rows=refusal.rows.gather(positions), code=refusal.code, message=message)


def _column(results: list[Any], name: str, step: str) -> pl.Series:
    try:
        return to_series(results, name)
    except TypeError as error:
        raise RunFailed(f"The transformer {step} returned {error}.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What came of calling a user's function for each value.

    :param results: one per value, ``None`` where it raised.
    :param refused: by position, the texts of the ``ValueError`` it raised.
    :param crashed: by position, a sentence on any other exception, without its text: that may hold values.
    """

    results: list[Any]
    refused: dict[int, str]
    crashed: dict[int, str]


def call_each(
    function: Callable[[Any, Any], Any], values: Sequence[Any], rows: Iterator[RawRow] | None, step: str
) -> Called:
    """Call the function for each value, with its row or ``None``; what it raises is kept, not raised."""
    results: list[Any] = []
    refused: dict[int, str] = {}
    crashed: dict[int, str] = {}
    append = results.append
    for value, row in zip(values, repeat(None) if rows is None else rows, strict=False):
        try:
            append(function(value, row))
        except ValueError as error:
            refused[len(results)] = str(error)[:MESSAGE_LIMIT] or f"{step} raised {type(error).__name__}."
            append(None)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # a user's code: whatever it raises fails this row and no other
            crashed[len(results)] = f"{step} raised {type(error).__name__}."
            append(None)
    return Called(results=results, refused=refused, crashed=crashed)


def _refusals(called: Called) -> tuple[Refusal, ...]:
    return refusals(called.refused | called.crashed, len(called.results), "transform_error")


def refusals(messages: Mapping[int, str], length: int, code: str) -> tuple[Refusal, ...]:
    """Messages by position as refusals: one, or none where there are no messages."""
    if not messages:
        return ()
    column = pl.Series([messages.get(position) for position in range(length)], dtype=pl.String)
    return (Refusal(rows=column.is_not_null(), code=code, message=column),)
