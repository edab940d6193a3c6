"""Keys that stand in several chunks: their rows are taken out while planning and worked last, in file order."""

from __future__ import annotations

import io
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.formats import read_chunk
from airflow_provider_ingest.runs.columns import ROW_NUMBER, pl
from airflow_provider_ingest.runs.records import ChunkPlan

if TYPE_CHECKING:
    from airflow_provider_ingest.engine.plan import Plan
    from airflow_provider_ingest.formats.contract import FilePlan
    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.importers.mapping import Relation
    from airflow_provider_ingest.runs.frames import RowBatch
    from airflow_provider_ingest.storage.files import Staging

log = logging.getLogger(__name__)

WITHOUT = "without"
"""In a chunk's location: the staged list of rows that it leaves to the last chunk."""

RECORDS = "records"
"""In a chunk's location: how many records its range holds, those that it leaves included."""

CONTESTED = "contested"
"""In the last chunk's location: index and location of the chunks it takes rows from."""


def needs_order(config: IngestConfig, chunks: Sequence[ChunkPlan]) -> bool:
    """Whether the order of the chunks could matter: a key, several chunks, and no promise that keys are unique."""
    return config.key is not None and not config.key.assume_unique and len(chunks) > 1


def set_contested_apart(
    config: IngestConfig, compiled: Plan, plan: FilePlan, staging: Staging, prefix: str
) -> Sequence[ChunkPlan]:
    """The chunks without the rows whose keys they share, and a last chunk of those rows; unchanged if there are none.

    :param prefix: reference in staging below which the lists of rows are kept.
    """
    from airflow_provider_ingest.engine.key_order import contested_rows, store_keys

    assert config.key is not None, "needs_order() was asked"
    attributes = config.key.attributes
    keys = compiled.keys_only(attributes)
    with tempfile.TemporaryDirectory(prefix="ingest-keys-") as folder:
        stored = [
            store_keys(chunk.index, _keys(keys, attributes, plan.reader, _located(chunk, staging)), Path(folder))
            for chunk in plan.chunks
        ]
        contested = contested_rows(stored)
    if not contested:
        return plan.chunks
    chunks: list[ChunkPlan] = []
    sources: list[dict[str, Any]] = []
    for chunk in plan.chunks:
        numbers = contested.get(chunk.index)
        if numbers is None:
            chunks.append(chunk)
            continue
        reference = f"{prefix}/contested-{chunk.index}.arrow"
        _keep(staging, reference, pl.DataFrame({ROW_NUMBER: numbers}))
        location = {**chunk.location, WITHOUT: reference, RECORDS: chunk.rows}
        sources.append({"index": chunk.index, "first_row": chunk.first_row, "location": location})
        chunks.append(replace(chunk, rows=chunk.rows - len(numbers), location=location))
    rows = sum(len(numbers) for numbers in contested.values())
    first = min(int(numbers[0]) for numbers in contested.values())
    log.info("%s rows share their keys with rows of other chunks; they are worked last, in order", f"{rows:,}")
    last = ChunkPlan(index=len(chunks), first_row=first, rows=rows, location={CONTESTED: sources})
    return (*chunks, last)


def is_contested(chunk: ChunkPlan) -> bool:
    """Whether this is the chunk that is worked after all others."""
    return CONTESTED in chunk.location


def batches_of(reader: Mapping[str, Any], chunk: ChunkPlan, staging: Staging) -> Iterator[RowBatch]:
    """The rows of a chunk as it was planned: its own without contested ones, or the contested ones of all."""
    if not is_contested(chunk):
        numbers = _numbers(staging, chunk.location.get(WITHOUT))
        for batch in read_chunk(reader, _located(chunk, staging)):
            yield batch if numbers is None else replace(batch, frame=batch.frame.filter(~_among(numbers)))
        return
    from airflow_provider_ingest.runs.frames import MALFORMED

    for source in chunk.location[CONTESTED]:
        origin = ChunkPlan(rows=0, **source)
        numbers = _numbers(staging, origin.location[WITHOUT])
        assert numbers is not None, "written with the plan"
        for batch in read_chunk(reader, _located(origin, staging)):
            frame = batch.frame.filter(_among(numbers))
            if not frame.is_empty():
                yield replace(batch, frame=frame, malformed=pl.DataFrame(schema=MALFORMED))


def _keys(plan: Plan, attributes: Sequence[str], reader: Mapping[str, Any], chunk: ChunkPlan) -> Iterator[pl.DataFrame]:
    """The keys of a chunk's good rows, as they would be written, and those alike that the database may call equal."""
    loose = [column.mapping.attribute for column in plan.table.columns if column.convert.column.is_loose]
    for batch in read_chunk(reader, chunk):
        made = plan.process(batch, _stand_in).records.records.select(ROW_NUMBER, *attributes)
        yield made.with_columns(_folded(made[name]) for name in loose)


def _folded(text: pl.Series) -> pl.Series:
    """Texts without what a collation may ignore: two that are taken for equal and are not are only worked later."""
    plain = text.str.to_lowercase().str.strip_chars_end(" ")
    if plain.str.len_bytes().sum() == plain.str.len_chars().sum():
        return plain
    plain = plain.str.replace_all("ß", "ss", literal=True).str.replace_all("ς", "σ", literal=True)
    return plain.str.normalize("NFKD").str.replace_all(r"\p{M}", "")


def _stand_in(relation: Relation, keys: pl.Series) -> pl.DataFrame:
    """Instead of a looked-up foreign key a number that is equal for equal keys; nothing is created by planning."""
    distinct = keys.drop_nulls().unique()
    return pl.DataFrame({"key": distinct, "value": (distinct.hash(seed=1) % 2**31).cast(pl.Int64)})


def _located(chunk: ChunkPlan, staging: Staging) -> ChunkPlan:
    """The chunk as the reader of its format knows it."""
    location = {**chunk.location, "path": staging.locate(chunk.location["path"])}
    location.pop(WITHOUT, None)
    return replace(chunk, rows=location.pop(RECORDS, chunk.rows), location=location)


def _among(numbers: pl.Series) -> pl.Expr:
    return pl.col(ROW_NUMBER).is_in(numbers.implode())


def _keep(staging: Staging, reference: str, frame: pl.DataFrame) -> None:
    held = io.BytesIO()
    frame.write_ipc(held, compression="zstd")
    with staging.create(reference) as file:
        file.write(held.getvalue())


def _numbers(staging: Staging, reference: str | None) -> pl.Series | None:
    if reference is None:
        return None
    return pl.read_ipc(io.BytesIO(b"".join(staging.blocks(reference)))).get_column(ROW_NUMBER)
