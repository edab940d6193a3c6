"""The compiled plan of an importer: from batches of source rows to records, failures and traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import polars as pl

from airflow_provider_ingest.engine.compiling import compile_table, masked_columns
from airflow_provider_ingest.engine.distinct import Memory
from airflow_provider_ingest.engine.expected import check_schema
from airflow_provider_ingest.engine.failures import found, in_order, malformed_failures
from airflow_provider_ingest.engine.header import check_header, expected_fields
from airflow_provider_ingest.engine.mapped import Findings
from airflow_provider_ingest.engine.nested import places_of, work_nested
from airflow_provider_ingest.engine.relations import Lookup
from airflow_provider_ingest.engine.stretch import Stretch
from airflow_provider_ingest.engine.table import TablePlan, work_table
from airflow_provider_ingest.engine.trace import Trace
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.importers.mapping import Tracing
from airflow_provider_ingest.importers.schema import SchemaField
from airflow_provider_ingest.importers.table import TableShape
from airflow_provider_ingest.runs.frames import ROW_NUMBER, RecordBatch, RowBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Processed:
    """What became of a batch.

    :param records: the rows that passed everything.
    :param failures: schema :data:`~airflow_provider_ingest.runs.frames.FAILURES`: all reasons of all other rows,
        malformed ones included, by row number.
    :param trace: ``None`` unless the importer traces.
    """

    records: RecordBatch
    failures: pl.DataFrame
    trace: Trace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An importer compiled for its target: immutable and usable from several threads."""

    table: TablePlan
    schema: Mapping[str, SchemaField] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sensitive: frozenset[str] = frozenset()
    tracing: Tracing = field(default_factory=Tracing)

    def check_columns(self, columns: Sequence[str], *, is_sparse: bool = False) -> tuple[str, ...]:
        """Raise :class:`SchemaMismatch` if the file lacks fields that the importer reads, with look-alikes.

        :param is_sparse: fields may be absent from rows (JSON, custom sources): one that no row has is null
            everywhere, unless the expected schema requires it; returned as a warning.
        """
        return check_header(self.table, self.schema, self.aliases, columns, is_sparse=is_sparse)

    def masked_columns(self, columns: Sequence[str]) -> frozenset[str]:
        """The source columns whose values may not be shown: sensitive ones, and those that hold a sensitive part."""
        return masked_columns(self.table, self.sensitive, columns)

    def keys_only(self, attributes: Sequence[str]) -> Plan:
        """A plan that makes the key's attributes alone, to find rows of equal keys before they are worked."""
        wanted = set(attributes)
        columns = tuple(column for column in self.table.columns if column.mapping.attribute in wanted)
        relations = tuple(column for column in self.table.relations if column.relation.attribute in wanted)
        return Plan(table=TablePlan(columns=columns, relations=relations))

    def process(self, batch: RowBatch, lookup: Lookup | None = None, memory: Memory | None = None) -> Processed:
        """Work a batch: schema, conditions, transformers, validators, nested collections, conversion.

        :param lookup: finds the foreign keys of relations.
        :param memory: the same for all batches of a chunk, so that values which come back are worked once.
        """
        frame, numbers = batch.frame.select(batch.columns), batch.frame[ROW_NUMBER]
        stretch = Stretch(frame, numbers, batch.kinds, may_hold_nul=batch.may_hold_nul)
        findings = Findings(is_traced=self.tracing.is_on, memory=memory or Memory())
        if self.schema:
            findings.bad = check_schema(stretch, self.schema, self.aliases, self.sensitive, findings.failures)
        frame = work_table(self.table, stretch, findings, lookup)
        children = work_nested(self.table.nested, stretch, findings, lookup)
        failures = in_order([malformed_failures(batch.malformed), found(findings.failures)])
        records = pl.DataFrame([stretch.numbers.alias(ROW_NUMBER), *frame.get_columns()])
        valid = ~stretch.numbers.is_in(failures[ROW_NUMBER].implode()) if failures.height else ~stretch.none()
        places = places_of(valid) if children else None
        return Processed(
            records=RecordBatch(
                # each column by itself: a frame's filter is handed to another thread, and waited for
                records=pl.DataFrame([column.filter(valid) for column in records]) if failures.height else records,
                conditional=self.table.conditional,
                children=tuple(one.kept(valid, places) for one in children) if places is not None else (),
            ),
            failures=failures,
            trace=self._trace(findings) if self.tracing.is_on else None,
        )

    def _trace(self, findings: Findings) -> Trace:
        return Trace(findings.traces, transformations=self.tracing.transformations, with_mappings=self.tracing.mappings)


_COMPILED: WeakKeyDictionary[IngestConfig, tuple[TableShape, Mapping[str, TableShape], Plan]] = WeakKeyDictionary()


def compile_plan(config: IngestConfig, shape: TableShape, child_shapes: Mapping[str, TableShape] | None = None) -> Plan:
    """The plan of an importer for the table as it is; kept with the definition while both stay the same.

    :param child_shapes: of the tables of nested collections, by dotted path.
    :raises TargetError: if the table lacks a column, or has one that must be set and is not.
    """
    children = dict(child_shapes or {})
    known = _COMPILED.get(config)
    if known is not None and known[0] == shape and known[1] == children:
        return known[2]
    schema = expected_fields(config)
    plan = Plan(
        table=compile_table(config, shape, children),
        schema=schema,
        aliases={name: mapping.fields for name in schema for mapping in config.mappings if name in mapping.fields},
        sensitive=config.sensitive_fields,
        tracing=config.tracing,
    )
    _COMPILED[config] = (shape, children, plan)
    return plan
