"""The rows of a batch as the row log keeps them, built in columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from airflow_provider_ingest.engine.failures import general_messages, is_one_each
from airflow_provider_ingest.engine.json_text import json_arrays, json_objects, json_strings
from airflow_provider_ingest.engine.trace import HIDDEN, Trace
from airflow_provider_ingest.runs.failure import DETAIL_START, INVALID_DATA
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_LOG, ROW_NUMBER, Kind, RowBatch

FAILED, SUCCESS, SKIPPED = "failed", "success", "skipped"
RAW = "_raw"
"""Member of ``data`` that holds the text of a record that is no row."""


def error_documents(failures: pl.DataFrame) -> pl.DataFrame:
    """:data:`ROW_NUMBER`, ``message`` (the general one) and ``errors`` (JSON) of each failed row.

    The documents are those of :func:`~airflow_provider_ingest.runs.failure.errors_document`.
    """
    detail = DETAIL_START + pl.col("detail") + ")"
    text = failures.with_columns(pl.concat_str("message", detail, ignore_nulls=True).alias("text"))
    if is_one_each(failures):
        return _single(text)
    documents = _heads_and_validation(text)
    return documents.select(
        ROW_NUMBER,
        "message",
        pl.concat_str(
            pl.lit('{"message":'),
            json_strings(documents["text"]),
            "," + _reason(documents["code"], documents["stage"]),
            pl.col("validation").fill_null(""),
            pl.lit("}}"),
        ).alias("errors"),
    )


def _single(text: pl.DataFrame) -> pl.DataFrame:
    """The documents of rows with one failure each.

    What stands around the failure's text is the same for all failures of one kind, and there are few kinds.
    """
    kind = ("stage", "code", "field")
    kinds = text.select(kind).unique()
    reason, member = _reason(kinds["code"], kinds["stage"]), json_strings(kinds["field"]) + ":["
    is_general = pl.col("field").is_null()
    kinds = kinds.with_columns(
        pl.when(is_general)
        .then(pl.lit('{"message":'))
        .otherwise('{"message":' + json_strings(pl.Series([INVALID_DATA])) + "," + reason + member)
        .alias("before"),
        pl.when(is_general).then("," + reason + "}}").otherwise(pl.lit("]}}")).alias("after"),
    )
    return text.join(kinds, on=kind, how="left", nulls_equal=True, maintain_order="left").select(
        ROW_NUMBER,
        pl.when(is_general).then("message").otherwise(pl.lit(INVALID_DATA)).alias("message"),
        pl.concat_str("before", json_strings(text["text"]), "after").alias("errors"),
    )


def _reason(code: pl.Series, stage: pl.Series) -> pl.Series:
    """The members behind the message of each document, up to the first one of ``validation``."""
    return '"code":' + json_strings(code) + ',"stage":"' + stage + '","validation":{'


def _heads_and_validation(text: pl.DataFrame) -> pl.DataFrame:
    validation = _validation(text.filter(pl.col("field").is_not_null()))
    return _heads(text).join(validation, on=ROW_NUMBER, how="left", maintain_order="left")


def _validation(failures: pl.DataFrame) -> pl.DataFrame:
    """:data:`ROW_NUMBER` and the members of ``validation`` (JSON) of rows that have failures of fields."""
    entries = failures.select(
        ROW_NUMBER, json_strings(failures["field"]).alias("field"), json_strings(failures["text"]).alias("text")
    )
    member = (pl.col("field") + ":[" + pl.col("text") + "]").alias("validation")
    # grouping costs many times the rest, and most rows have one failure
    is_single = entries[ROW_NUMBER].is_unique()
    single = entries.filter(is_single).select(ROW_NUMBER, member)
    if is_single.all():
        return single
    several = (
        entries.filter(~is_single)
        .group_by(ROW_NUMBER, "field", maintain_order=True)
        .agg(pl.col("text").str.join(","))
        .select(ROW_NUMBER, member)
        .group_by(ROW_NUMBER, maintain_order=True)
        .agg(pl.col("validation").str.join(","))
    )
    return pl.concat([single, several])


def _heads(text: pl.DataFrame) -> pl.DataFrame:
    """The failure that gives each row its code, and the row's message without and with detail."""
    first = text.unique(ROW_NUMBER, keep="first", maintain_order=True)
    general = text.filter(pl.col("field").is_null()).unique(ROW_NUMBER, keep="first", maintain_order=True)
    heads = first.with_columns(pl.lit(INVALID_DATA).alias("message"), pl.lit(INVALID_DATA).alias("text"))
    if not general.is_empty():
        heads = pl.concat([heads.join(general, on=ROW_NUMBER, how="anti"), general]).sort(ROW_NUMBER)
    return heads.select(ROW_NUMBER, "stage", "code", "message", "text")


def row_data(
    batch: RowBatch,
    masked: frozenset[str] = frozenset(),
    numbers: pl.Series | None = None,
    *,
    written: Callable[[pl.DataFrame, Mapping[str, Kind]], pl.Series] = json_objects,
) -> pl.DataFrame:
    """:data:`ROW_NUMBER`, :data:`LINE_NUMBER` and ``data`` (JSON) of good and malformed rows.

    :param masked: columns whose values are not shown; malformed records then show nothing, since nobody knows what
        stands where in them.
    :param numbers: only of these rows.
    :param written: how good rows become JSON; malformed ones, of which no field is certain, are objects anyway.
    """
    good, malformed = batch.frame, batch.malformed
    if numbers is not None:
        wanted = numbers.unique().implode()
        good = good.filter(pl.col(ROW_NUMBER).is_in(wanted))
        malformed = malformed.filter(pl.col(ROW_NUMBER).is_in(wanted))
    columns = batch.columns
    hidden = [pl.lit(HIDDEN).alias(name) for name in columns if name in masked]
    kinds: Mapping[str, Kind] = {name: kind for name, kind in batch.kinds.items() if name not in masked}
    documents = written(good.select(columns).with_columns(hidden), kinds)
    rows = good.select(ROW_NUMBER, LINE_NUMBER).with_columns(documents.alias("data"))
    if malformed.is_empty():
        return rows
    return pl.concat([rows, _malformed_data(malformed, is_masked=bool(masked))]).sort(ROW_NUMBER)


def only_rows(batch: RowBatch, numbers: pl.Series) -> RowBatch:
    """The rows of these numbers alone, in memory of their own: a text that is cut out of a column keeps all of it.

    A batch that has no others is returned as it is.
    """
    numbers = numbers.unique()
    if len(numbers) == batch.rows:
        return batch
    wanted = numbers.implode()
    rows, names = batch.frame[ROW_NUMBER].is_in(wanted), batch.frame.columns
    # a column's name may hold NUL, Arrow's must not
    few = pl.DataFrame([column.filter(rows).alias(str(place)) for place, column in enumerate(batch.frame)])
    own = pl.DataFrame(pl.from_arrow(few.to_arrow(compat_level=pl.CompatLevel.oldest())))
    own.columns = names
    malformed = batch.malformed
    if not malformed.is_empty():
        malformed = malformed.filter(pl.col(ROW_NUMBER).is_in(wanted))
    return replace(batch, frame=own, malformed=malformed)


def _malformed_data(malformed: pl.DataFrame, *, is_masked: bool) -> pl.DataFrame:
    if is_masked:
        return malformed.select(ROW_NUMBER, LINE_NUMBER, pl.lit("{}").alias("data"))
    raw = f'"{RAW}":' + json_strings(malformed["raw"])
    known = malformed["data"].fill_null("{}").str.strip_chars().str.strip_suffix("}")
    return malformed.select(
        ROW_NUMBER,
        LINE_NUMBER,
        pl.when(known == "{").then("{" + raw + "}").otherwise(known + "," + raw + "}").alias("data"),
    )


def failed_rows(
    batch: RowBatch, failures: pl.DataFrame, trace: Trace | None, masked: frozenset[str] = frozenset()
) -> pl.DataFrame:
    """The failed rows, schema :data:`ROW_LOG`, with the values of the batch's columns as arrays."""
    documents = error_documents(failures)
    rows = row_data(batch, masked, documents[ROW_NUMBER], written=json_arrays)
    logged = rows.join(documents, on=ROW_NUMBER, how="left", maintain_order="left").with_columns(
        pl.lit(FAILED).alias("status")
    )
    return _in_schema(logged, trace)


def all_rows(
    batch: RowBatch,
    failures: pl.DataFrame,
    ends: pl.DataFrame | None,
    trace: Trace | None,
    masked: frozenset[str] = frozenset(),
) -> pl.DataFrame:
    """All rows, schema :data:`ROW_LOG`, with the values of the batch's columns as arrays.

    :param ends: how the rows that did not fail ended (``created``, ``updated``, ``skipped``), by row number.
    """
    rows = row_data(batch, masked, written=json_arrays)
    rows = rows.join(error_documents(failures), on=ROW_NUMBER, how="left", maintain_order="left")
    skipped = pl.lit(False)
    if ends is not None:
        skipped = pl.col(ROW_NUMBER).is_in(ends.filter(pl.col("end") == SKIPPED)[ROW_NUMBER].implode())
    status = (
        pl.when(pl.col("errors").is_not_null())
        .then(pl.lit(FAILED))
        .when(skipped)
        .then(pl.lit(SKIPPED))
        .otherwise(pl.lit(SUCCESS))
    )
    return _in_schema(rows.with_columns(status.alias("status")), trace)


def first_failures(failures: pl.DataFrame) -> pl.DataFrame:
    """The failure of each row that an event handler is told: the first general one, else the first of all."""
    general = general_messages(failures).select(ROW_NUMBER)
    by_weight = failures.with_columns(pl.col("field").is_null().alias("is_general"))
    ordered = by_weight.sort([ROW_NUMBER, "is_general"], descending=[False, True], maintain_order=True)
    first = ordered.unique(ROW_NUMBER, keep="first", maintain_order=True).drop("is_general")
    return general.join(first, on=ROW_NUMBER, how="left", maintain_order="left")


def _in_schema(rows: pl.DataFrame, trace: Trace | None) -> pl.DataFrame:
    if trace is None:
        rows = rows.with_columns(pl.lit(None, dtype=pl.String).alias("trace"))
    else:
        rows = rows.join(trace.documents(rows[ROW_NUMBER]), on=ROW_NUMBER, how="left", maintain_order="left")
    return rows.select(pl.col(name).cast(dtype) for name, dtype in ROW_LOG.items())
