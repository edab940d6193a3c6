"""The test kit for importers: what becomes of a file, without Airflow and without a database."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from airflow_provider_ingest.engine.failures import in_order
from airflow_provider_ingest.engine.plan import Processed, compile_plan
from airflow_provider_ingest.engine.relations import Lookup
from airflow_provider_ingest.formats import plan_file, plan_rows, read_chunk
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.importers.mapping import Relation
from airflow_provider_ingest.runs.failure import RowFailure, Stage
from airflow_provider_ingest.runs.frames import ROW_NUMBER, SET_PREFIX
from airflow_provider_ingest.testing.model_shape import child_shapes, shape_of_target

CHUNK_ROWS = 1_000_000
SHOWN = 10
SPARSE_FORMATS = frozenset({"json", "ndjson", "rows"})

Known = Mapping[str, Mapping[str, Any]]


def check_importer(
    config: IngestConfig,
    given: str | Path | Iterable[Mapping[str, Any]],
    *,
    slug: str = "tested",
    known: Known | None = None,
) -> ImporterCheck:
    """Run an importer over a file or over rows, up to but not including the database.

    >>> from airflow_provider_ingest import IngestConfig, SourceType
    >>> from airflow_provider_ingest.validators import EmailValidator
    >>> config = (
    ...     IngestConfig.for_("customers", conn_id="shop")
    ...     .from_source(SourceType.UPLOAD)
    ...     .map_and_validate("Mail", "email", EmailValidator)
    ... )
    >>> rows = [{"Mail": "ada@example.org"}, {"Mail": "no address"}]
    >>> check = check_importer(config, rows).accepts(1).rejects(row=2, code="email")
    >>> check.record(1)
    {'email': 'ada@example.org'}

    :param given: a path of any supported format, or rows as mappings.
    :param known: for relations: attribute to ``{key: value}`` of the records there are; an attribute that is left out
        takes every key.
    :raises ConfigError: the definition is incomplete or cannot work.
    :raises SchemaMismatch: the columns are not those that the importer reads.
    """
    config.check(slug)
    plan = compile_plan(config, shape_of_target(config), child_shapes(config))
    lookup = _lookup(known)
    processed: list[Processed] = []
    with tempfile.TemporaryDirectory(prefix="ingest-check-") as scratch:
        options = config.source.format_options if config.source else {}
        if isinstance(given, (str, Path)):
            file = plan_file(Path(given), options=options, chunk_rows=CHUNK_ROWS, scratch=Path(scratch))
            is_sparse = file.facts.get("format") in SPARSE_FORMATS
        else:
            file = plan_rows(given, chunk_rows=CHUNK_ROWS, scratch=Path(scratch))
            is_sparse = True
        has_rows = any(batch.frame.height for chunk in file.chunks for batch in read_chunk(file.reader, chunk))
        if has_rows or not is_sparse:  # columns are the keys of rows: where none is a row, none is missing
            plan.check_columns(file.columns, is_sparse=is_sparse)
        for chunk in file.chunks:
            for batch in read_chunk(file.reader, chunk):
                processed.append(plan.process(batch, lookup))  # noqa: PERF401  # two loops read better than one line
    return ImporterCheck(tuple(processed))


def _lookup(known: Known | None) -> Lookup | None:
    if known is None:
        return None

    def find(relation: Relation, keys: pl.Series) -> pl.DataFrame:
        records = known.get(relation.attribute)
        if records is None:
            records = dict.fromkeys(keys.to_list(), 1)
        return pl.DataFrame({"key": [str(key) for key in records], "value": list(records.values())}, strict=False)

    return find


@dataclass(frozen=True)
class ImporterCheck:
    """What became of the rows; each assertion returns the check again, so that they can be chained."""

    processed: tuple[Processed, ...]

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The records that would be written, with their ``_row_number``; attributes that are not set are left out."""
        rows = (row for part in self.processed for row in part.records.records.iter_rows(named=True))
        return [
            {
                name: value
                for name, value in row.items()
                if not name.startswith(SET_PREFIX) and row.get(SET_PREFIX + name) is not False
            }
            for row in rows
        ]

    @cached_property
    def failures(self) -> list[RowFailure]:
        """Every reason for which a row fails, by row number."""
        frame = in_order([part.failures for part in self.processed])
        return [
            RowFailure(row_number=row.pop(ROW_NUMBER), stage=Stage(row.pop("stage")), **row)
            for row in frame.iter_rows(named=True)
        ]

    def record(self, row: int) -> dict[str, Any]:
        """The record of one row; an ``AssertionError`` says why there is none."""
        for record in self.records:
            if record[ROW_NUMBER] == row:
                return {name: value for name, value in record.items() if name != ROW_NUMBER}
        raise AssertionError(f"Row {row} gives no record: {self._reasons(row) or 'there is no such row'}.")

    def accepts(self, rows: int) -> ImporterCheck:
        """Assert how many rows pass."""
        assert len(self.records) == rows, f"{len(self.records)} rows pass, not {rows}; {self._summary()}"
        return self

    def rejects(
        self, rows: int | None = None, *, row: int | None = None, code: str | None = None, field: str | None = None
    ) -> ImporterCheck:
        """Assert that rows fail: how many altogether, or one by its number, with a code or for a field."""
        if rows is not None:
            failed = len({failure.row_number for failure in self.failures})
            assert failed == rows, f"{failed} rows fail, not {rows}; {self._summary()}"
        if row is not None or code is not None or field is not None:
            found = any(
                (row is None or failure.row_number == row)
                and (code is None or failure.code == code)
                and (field is None or failure.field == field)
                for failure in self.failures
            )
            wanted = ", ".join(
                f"{name}={value!r}" for name, value in (("row", row), ("code", code), ("field", field)) if value
            )
            assert found, f"No failure has {wanted}; {self._summary(row)}"
        return self

    def _summary(self, row: int | None = None) -> str:
        reasons = self._reasons(row)
        return f"failures: {reasons}" if reasons else "nothing failed" if row is None else f"row {row} does not fail"

    def _reasons(self, row: int | None) -> str:
        listed = [one for one in self.failures if row is None or one.row_number == row]
        shown = "; ".join(f"row {one.row_number} {one.field or ''} {one.code} ({one.text})" for one in listed[:SHOWN])
        return shown + (f"; and {len(listed) - SHOWN} more" if len(listed) > SHOWN else "")
