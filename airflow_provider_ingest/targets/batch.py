"""A batch with the collections nested in it: parents first, children with their parents' keys, all or none of a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol

import polars as pl

from airflow_provider_ingest.runs.frames import FAILURES, ROW_NUMBER, ChildBatch, RecordBatch, WriteResult
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.refusals import failures_frame
from airflow_provider_ingest.targets.statements import POSITION
from airflow_provider_ingest.targets.writer import SKIPPED, Prepared, TableWriter, Tally

PARENT = "_parent"


class _ChildRefused(Exception):
    """A nested row was refused: the batch is written again without its root row."""

    def __init__(self, failures: pl.DataFrame) -> None:
        super().__init__("a nested row was refused")
        self.failures = failures


class Attempt(Protocol):
    """A savepoint around one attempt at a batch."""

    def __call__(self) -> AbstractContextManager[None]:
        """Open the savepoint; an exception rolls it back."""


class BatchWriter:
    """Writes record batches over one writer per table.

    :param attempt: opens a savepoint that is rolled back by an exception.
    """

    def __init__(self, plan: TablePlan, writers: Mapping[str, TableWriter], attempt: Attempt) -> None:
        self._plan = plan
        self._writers = writers
        self._attempt = attempt

    def prepare(self, batch: RecordBatch) -> RecordBatch:
        """Number the rows and have their writer do what needs no database, unless others refer to them."""
        if batch.children:
            return batch
        root = _numbered(batch.records)
        rows = root.drop(ROW_NUMBER)
        return replace(batch, ahead=(root, rows, self._writers[""].prepare(rows, batch.conditional)))

    def write(self, batch: RecordBatch, *, want_ends: bool) -> WriteResult:
        """Write a batch. A refused nested row fails its root row as a whole: what was written of it is
        taken back, and the rest is written again.
        """
        # the database waits while these lines run: what can be done ahead of them is done there
        root, rows, prepared = batch.ahead or (_numbered(batch.records), None, None)
        failures = pl.DataFrame(schema=FAILURES)
        while True:
            remaining = root
            if failures.height:
                remaining = root.filter(~pl.col(ROW_NUMBER).is_in(failures.get_column(ROW_NUMBER).implode()))
            try:
                with self._attempt() if batch.children else nullcontext():
                    tally = self._write_root(remaining, rows, batch, want_ends, prepared)
                break
            except _ChildRefused as refused:
                failures = pl.concat([failures, refused.failures])
                for writer in self._writers.values():
                    writer.reset()
        if tally.refused:
            own = failures_frame(tally.refused, root.get_column(ROW_NUMBER), batch.records, self._plan.hidden)
            failures = pl.concat([failures, own])
        ends = None
        if want_ends:
            ends = tally.ends(remaining.get_column(POSITION)).join(root.select(POSITION, ROW_NUMBER), on=POSITION)
            ends = ends.sort(POSITION).select(ROW_NUMBER, "end")
        return WriteResult(
            created=tally.created_count,
            updated=tally.updated_count,
            skipped=tally.skipped_count,
            refused=failures.sort(ROW_NUMBER, maintain_order=True) if failures.height > 1 else failures,
            ends=ends,
        )

    def _write_root(
        self,
        root: pl.DataFrame,
        rows: pl.DataFrame | None,
        batch: RecordBatch,
        want_ends: bool,
        prepared: Prepared | None,
    ) -> Tally:
        has_children = bool(batch.children)
        tally = self._writers[""].write(
            root.drop(ROW_NUMBER) if rows is None else rows,
            batch.conditional,
            want_ends=want_ends or has_children,
            references=_referred(self._plan, batch.children),
            prepared=prepared,
        )
        if has_children:
            self._write_children(self._plan, batch.children, _surviving(root.get_column(POSITION), tally))
        return tally

    def _write_children(self, plan: TablePlan, children: Iterable[ChildBatch], parents: pl.DataFrame) -> None:
        """Write nested rows whose parents were written.

        :param parents: ``_pos`` of each written parent and the columns that foreign keys refer to.
        """
        for child in children:
            below = plan.child(child.name)
            if below is None or child.records.is_empty():
                continue
            numbered = _numbered(child.records)
            keys = parents.select(
                pl.col(POSITION).alias(PARENT), *(pl.col(there).alias(here) for here, there in below.parent)
            )
            clash = [here for here, _ in below.parent if here in numbered.columns]
            frame = (
                numbered.drop(clash)
                .with_columns(pl.col(PARENT).cast(pl.Int64))
                .join(keys, on=PARENT, how="inner", maintain_order="left")
            )
            if frame.is_empty():
                continue
            tally = self._writers[child.name].write(
                frame.drop(ROW_NUMBER, PARENT),
                child.conditional,
                want_ends=bool(child.children),
                references=_referred(below, child.children),
            )
            if tally.refused:
                numbers = child.records.get_column(ROW_NUMBER)
                raise _ChildRefused(failures_frame(tally.refused, numbers, child.records, below.hidden, child.name))
            if child.children:
                self._write_children(below, child.children, _surviving(frame.get_column(POSITION), tally))


def _numbered(records: pl.DataFrame) -> pl.DataFrame:
    """The rows with their positions in the batch."""
    positions = pl.int_range(records.height, dtype=pl.Int64, eager=True).alias(POSITION)
    return positions.to_frame().hstack(records.get_columns())


def _referred(plan: TablePlan, children: Sequence[ChildBatch]) -> tuple[str, ...]:
    """The columns of this table that the foreign keys of its nested collections refer to."""
    below = [plan.child(child.name) for child in children]
    return tuple(dict.fromkeys(there for child in below if child for _, there in child.parent))


def _surviving(positions: pl.Series, tally: Tally) -> pl.DataFrame:
    """The references of the rows that were written: neither refused nor skipped."""
    written = tally.ends(positions).filter(pl.col("end") != SKIPPED).select(POSITION)
    if tally.references is None:
        return written
    return written.join(tally.references.with_columns(pl.col(POSITION).cast(pl.Int64)), on=POSITION)
