"""Failures of rows as frames: how they are noted, put in order, and counted for the error summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from airflow_provider_ingest.runs.failure import INVALID_DATA, Stage
from airflow_provider_ingest.runs.frames import FAILURES, MALFORMED, ROW_NUMBER
from airflow_provider_ingest.runs.outcome import ErrorCount, merge_errors
from airflow_provider_ingest.transformers.base import Refusal
from airflow_provider_ingest.transformers.values import as_text, sure

MALFORMED_ROW = "malformed_row"
SHOWN_CHARACTERS = 100
MAX_MESSAGES = 500
"""Different messages that a chunk's error summary tells apart; the rest is counted under one."""

OTHER_MESSAGES = "Other messages."
HIDDEN_MESSAGE = "The value is not valid (the field is sensitive)."


def no_failures() -> pl.DataFrame:
    """A failures frame without a line."""
    return pl.DataFrame(schema=FAILURES)


def refused_rows(
    refusal: Refusal,
    numbers: pl.Series,
    *,
    stage: Stage,
    field: str | pl.Series | None,
    got: pl.Series | None = None,
    hide: bool = False,
) -> pl.DataFrame:
    """What a step refuses: failures that have ``got``, the value itself, in place of what is shown of it as ``detail``.

    :func:`found` makes failures of what all steps refused: one expression a batch instead of one for each refusal.

    :param numbers: the row numbers beside ``refusal.rows``.
    :param field: a name, or a column of paths beside ``numbers``.
    :param got: what came instead, shown as detail (cut after 100 characters).
    :param hide: the field is sensitive: show neither the value nor a message made of it.
    """
    rows = sure(refusal.rows)  # few of many: what is asked for below is asked of them alone
    message = refusal.message
    if isinstance(message, pl.Series):
        message = HIDDEN_MESSAGE if hide else message.filter(rows)
    refused = numbers.filter(rows)
    columns: dict[str, pl.Series | str | None] = {
        "stage": str(stage),
        "code": refusal.code,
        "field": field.filter(rows) if isinstance(field, pl.Series) else field,
        "message": message,
        "got": None if got is None or hide else as_text(got.filter(rows)),
    }
    # constants by way of expressions cost more than all of the rest, many times a batch
    filled = (
        value if isinstance(value, pl.Series) else pl.Series([value], dtype=pl.String).new_from_index(0, refused.len())
        for value in columns.values()
    )
    named = (column.alias(name) for name, column in zip(columns, filled, strict=True))
    return pl.DataFrame([refused.alias(ROW_NUMBER), *named])


_TOO_LONG = pl.col("got").str.len_chars() > SHOWN_CHARACTERS
_GOT = pl.when(pl.col("got") != "").then(
    pl.concat_str(
        pl.lit('got "'),
        pl.when(_TOO_LONG).then(pl.col("got").str.head(SHOWN_CHARACTERS) + "…").otherwise("got"),
        pl.lit('"'),
    )
)
"""``got "…"`` for each value, cut where it is long; null for null and for empty text."""


def found(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The failures frame of what the steps refused."""
    if not frames:
        return no_failures()
    return pl.concat(frames).select(*(name for name in FAILURES if name != "detail"), _GOT.alias("detail"))


def malformed_failures(malformed: pl.DataFrame) -> pl.DataFrame:
    """The failures of records that are no rows."""
    if malformed.is_empty():
        return no_failures()
    assert set(MALFORMED) <= set(malformed.columns)
    return malformed.select(
        pl.col(ROW_NUMBER),
        pl.lit(str(Stage.PARSE)).alias("stage"),
        pl.lit(MALFORMED_ROW).alias("code"),
        pl.lit(None, dtype=pl.String).alias("field"),
        pl.col("reason").alias("message"),
        pl.lit(None, dtype=pl.String).alias("detail"),
    )


def in_order(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """All failures by row, those of a row in the order in which they were found."""
    filled = [frame for frame in frames if not frame.is_empty()]
    if not filled:
        return no_failures()
    merged = pl.concat(filled)
    return merged if merged[ROW_NUMBER].is_sorted() else merged.sort(ROW_NUMBER, maintain_order=True)


def is_one_each(failures: pl.DataFrame) -> bool:
    """Whether the failures are in order and none has a row in common with another, as in most batches."""
    numbers = failures[ROW_NUMBER]
    return bool((numbers.slice(1) > numbers.head(-1)).all())


def general_messages(failures: pl.DataFrame) -> pl.DataFrame:
    """:data:`ROW_NUMBER` and ``message`` of each failed row: what the error summary groups it under."""
    if is_one_each(failures):
        message = pl.when(pl.col("field").is_null()).then("message").otherwise(pl.lit(INVALID_DATA))
        return failures.select(ROW_NUMBER, message.alias("message"))
    general = failures.filter(pl.col("field").is_null()).unique(ROW_NUMBER, keep="first", maintain_order=True)
    rows = failures.select(pl.col(ROW_NUMBER).unique(maintain_order=True))
    if general.is_empty():
        return rows.with_columns(pl.lit(INVALID_DATA).alias("message"))
    return rows.join(
        general.select(ROW_NUMBER, "message"), on=ROW_NUMBER, how="left", maintain_order="left"
    ).with_columns(pl.col("message").fill_null(INVALID_DATA))


def error_counts(failures: pl.DataFrame) -> tuple[ErrorCount, ...]:
    """The error summary: each failed row once under its general message, and once per field and message."""
    if failures.is_empty():
        return ()
    if is_one_each(failures):  # then one grouping tells both
        grouped = failures.group_by("field", "message").len().rows()
        general = [(message, count) for field, message, count in grouped if field is None]
        of_fields = [one for one in grouped if one[0] is not None]
        if of_fields:
            general.append((INVALID_DATA, sum(count for *_, count in of_fields)))
    else:
        with_field = failures.filter(pl.col("field").is_not_null()).select("field", "message", ROW_NUMBER).unique()
        general = general_messages(failures).group_by("message").len().rows()
        of_fields = with_field.group_by("field", "message").len().rows()
    return limited(
        [
            *(ErrorCount(message=message, count=count) for message, count in general),
            *(ErrorCount(field=field, message=message, count=count) for field, message, count in of_fields),
        ]
    )


def limited(counts: Sequence[ErrorCount]) -> tuple[ErrorCount, ...]:
    """Equal messages added up; the most frequent are kept apart, the others become one for each kind."""
    merged = merge_errors(counts)
    if len(merged) <= MAX_MESSAGES:
        return merged
    rest = (
        ErrorCount(field=None if one.field is None else "*", message=OTHER_MESSAGES, count=one.count)
        for one in merged[MAX_MESSAGES:]
    )
    return (*merged[:MAX_MESSAGES], *merge_errors(rest))
