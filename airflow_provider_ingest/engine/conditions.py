"""Which rows a conditional mapping applies to."""

from __future__ import annotations

import polars as pl

from airflow_provider_ingest.engine.stretch import Stretch
from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.importers.mapping import Mapping
from airflow_provider_ingest.transformers.base import Refusal
from airflow_provider_ingest.transformers.scalar import raw_rows

CONDITION_ERROR = "condition_error"


def active_rows(mapping: Mapping, stretch: Stretch) -> tuple[pl.Series, tuple[Refusal, ...]]:
    """A mask of the rows in which the mapping's condition is true, and the rows in which it raised.

    A callable sees the raw row, in JSON and XLSX with the types of the file; an expression sees the raw columns, which
    are text whatever the file is. Null counts as false.

    :raises RunFailed: for an expression that does not give one Boolean per row.
    """
    condition, name = mapping.condition, mapping.condition_name or ""
    if isinstance(condition, pl.Expr):
        return _by_expression(condition, mapping, stretch), ()
    assert condition is not None
    verdicts: list[bool] = []
    raised: dict[int, str] = {}
    for place, row in enumerate(raw_rows(stretch.typed_rows)):
        try:
            verdicts.append(bool(condition(row)))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # a user's code: whatever it raises fails this row and no other
            raised[place] = f"The condition {name.rpartition(':')[2]} raised {type(error).__name__}."
            verdicts.append(False)
    return pl.Series(verdicts, dtype=pl.Boolean), _raised(raised, stretch)


def _raised(raised: dict[int, str], stretch: Stretch) -> tuple[Refusal, ...]:
    if not raised:
        return ()
    rows = stretch.none().scatter(list(raised), True)
    messages = pl.Series([raised.get(place) for place in range(stretch.height)], dtype=pl.String)
    return (Refusal(rows=rows, code=CONDITION_ERROR, message=messages),)


def _by_expression(condition: pl.Expr, mapping: Mapping, stretch: Stretch) -> pl.Series:
    where = f'The condition of the attribute "{mapping.attribute}"'
    try:
        result = stretch.frame.select(condition.alias("active")).to_series()
    except pl.exceptions.PolarsError as error:
        # the error's text may hold values of rows
        raise RunFailed(
            f"{where} cannot be computed ({type(error).__name__}). An expression sees all columns as text: cast them "
            "with strict=False before comparing numbers or dates."
        ) from None
    if result.len() == 1 and stretch.height != 1:
        result = result.new_from_index(0, stretch.height)
    if result.dtype not in (pl.Boolean, pl.Null) or result.len() != stretch.height:
        raise RunFailed(f"{where} gives {result.dtype} for {result.len()} rows; it must give one Boolean per row.")
    return result.cast(pl.Boolean).fill_null(False)
