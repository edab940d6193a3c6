"""Atomic runs: what the chunks accepted waits in a table of its own until the whole run is published."""

from __future__ import annotations

import io
import json
import re
import struct
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import polars as pl
import sqlalchemy as sa

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.runs.frames import ROW_NUMBER, ChildBatch, RecordBatch, WriteResult
from airflow_provider_ingest.runs.progress import Counts, in_rows

SPOOL_BYTES = 32 * 1024 * 1024
"""Staged batches of a chunk wait in memory up to here, then in a temporary file."""

SHOWN_ROWS = 5


class PublishRefused(TargetError):
    """The database refused rows while an atomic run was published; nothing was written.

    ``refused`` has the schema :data:`~airflow_provider_ingest.runs.frames.FAILURES`.
    """

    code = "publish_refused"

    def __init__(self, refused: pl.DataFrame) -> None:
        first = refused.head(SHOWN_ROWS)
        shown = "; ".join(f"row {number}: {message}" for number, message in first.select(ROW_NUMBER, "message").rows())
        more = f"; and {refused.height - first.height} more" if refused.height > first.height else ""
        many = f"{in_rows(refused.height)} {'conflicts' if refused.height == 1 else 'conflict'}"
        super().__init__(f"Nothing was published, since {many}: {shown}{more}")
        self.refused = refused


class Staging:
    """The staging table of one run: ``_ingest_<run key>`` with the batches of each chunk as Arrow streams."""

    def __init__(self, schema: str | None, run_key: str) -> None:
        self.table = sa.Table(
            "_ingest_" + re.sub(r"[^0-9a-z]", "", run_key.lower())[:40],
            sa.MetaData(),
            sa.Column("chunk_index", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("batch", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("payload", sa.LargeBinary(2**32 - 1), nullable=False),
            schema=schema,
        )
        self._spool: IO[bytes] = tempfile.SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - closed by store()

    def drop(self, connection: sa.Connection) -> None:
        """Drop the table if it is there."""
        connection.execute(sa.schema.DropTable(self.table, if_exists=True))

    def keep(self, batch: RecordBatch, refused: pl.DataFrame) -> None:
        """Remember a batch without its refused rows until the chunk commits."""
        data = dump_batch(without(batch, refused.get_column(ROW_NUMBER)))
        self._spool.write(struct.pack(">Q", len(data)))
        self._spool.write(data)

    def store(self, connection: sa.Connection, index: int) -> None:
        """Write what was remembered."""
        self._spool.seek(0)
        number = 0
        while head := self._spool.read(8):
            payload = self._spool.read(struct.unpack(">Q", head)[0])
            connection.execute(self.table.insert().values(chunk_index=index, batch=number, payload=payload))
            number += 1
        self._spool.close()

    def batches(self, connection: sa.Connection) -> Iterator[tuple[int, RecordBatch]]:
        """The staged batches with the index of their chunk, chunk after chunk; one at a time in memory."""
        columns = self.table.c
        order = connection.execute(
            sa.select(columns.chunk_index, columns.batch).order_by(columns.chunk_index, columns.batch)
        ).all()
        for index, number in order:
            payload = connection.scalar(
                sa.select(columns.payload).where(columns.chunk_index == index, columns.batch == number)
            )
            yield index, load_batch(bytes(payload))  # type: ignore[arg-type]  # the row was just listed

    def publish(
        self, connection: sa.Connection, write: Callable[[RecordBatch], WriteResult]
    ) -> dict[int, Counts] | None:
        """Write all staged batches; returns what became of the rows of each chunk.

        Raises :class:`PublishRefused` if the database refuses any row.
        """
        if not sa.inspect(connection).has_table(self.table.name, schema=self.table.schema):
            return None
        counts: dict[int, Counts] = {}
        refused = []
        for index, batch in self.batches(connection):
            result = write(batch)
            ends = Counts(created=result.created, updated=result.updated, skipped=result.skipped)
            counts[index] = counts.get(index, Counts()) + ends
            if result.refused.height:
                refused.append(result.refused)
        if refused:
            raise PublishRefused(pl.concat(refused))
        return counts


def without(batch: RecordBatch, numbers: pl.Series) -> RecordBatch:
    """The batch without these rows and what is nested in them."""
    if numbers.is_empty():
        return batch
    keep = ~pl.col(ROW_NUMBER).is_in(numbers.implode())
    return RecordBatch(
        records=batch.records.filter(keep),
        conditional=batch.conditional,
        children=_children_without(batch.children, batch.records, keep),
    )


def _children_without(children: tuple[ChildBatch, ...], parents: pl.DataFrame, keep: pl.Expr) -> tuple[ChildBatch, ...]:
    """Nested rows with their parents' positions counted anew."""
    places = pl.int_range(parents.height, eager=True).filter(parents.select(keep).to_series())
    moved = pl.DataFrame({"_parent": places, "_new": pl.int_range(len(places), eager=True)})
    made = []
    for child in children:
        records = child.records.filter(keep).with_columns(pl.col("_parent").cast(pl.Int64))
        at = records.columns.index("_parent")
        records = records.join(moved, on="_parent", how="left", maintain_order="left").drop("_parent")
        records = records.rename({"_new": "_parent"})
        records = records.insert_column(at, records.drop_in_place("_parent"))
        made.append(
            ChildBatch(
                name=child.name, records=records, children=_children_without(child.children, child.records, keep)
            )
        )
    return tuple(made)


def dump_batch(batch: RecordBatch) -> bytes:
    """A batch as bytes: a JSON head, then each frame as an Arrow stream."""
    frames: list[pl.DataFrame] = [batch.records]

    def described(children: tuple[ChildBatch, ...]) -> list[dict[str, Any]]:
        out = []
        for child in children:
            frames.append(child.records)
            out.append({"name": child.name, "frame": len(frames) - 1, "children": described(child.children)})
        return out

    children = described(batch.children)
    streams = []
    for frame in frames:
        buffer = io.BytesIO()
        frame.write_ipc(buffer, compression="zstd")
        streams.append(buffer.getvalue())
    head = {"conditional": batch.conditional, "children": children, "sizes": [len(stream) for stream in streams]}
    text = json.dumps(head).encode()
    return b"".join([struct.pack(">I", len(text)), text, *streams])


def load_batch(data: bytes) -> RecordBatch:
    """The inverse of :func:`dump_batch`."""
    size = struct.unpack(">I", data[:4])[0]
    head = json.loads(data[4 : 4 + size])
    frames, at = [], 4 + size
    for length in head["sizes"]:
        frames.append(pl.read_ipc(io.BytesIO(data[at : at + length])))
        at += length

    def built(children: list[dict[str, Any]]) -> tuple[ChildBatch, ...]:
        return tuple(
            ChildBatch(name=one["name"], records=frames[one["frame"]], children=built(one["children"]))
            for one in children
        )

    return RecordBatch(records=frames[0], conditional=tuple(head["conditional"]), children=built(head["children"]))
