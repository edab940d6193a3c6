"""Task ``plan``: check the file's columns, cut it into chunks, record them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import orjson
from airflow.sdk.configuration import conf

from airflow_provider_ingest.exceptions import FormatError, UnsupportedFile
from airflow_provider_ingest.importers.source import SourceType
from airflow_provider_ingest.operators.base import IngestTask, importer_of, run_of, skip_if_ended
from airflow_provider_ingest.operators.definition import DEFINITION, definition_of
from airflow_provider_ingest.operators.sizing import (
    MOST_CHUNKS,
    ChunkSize,
    chunk_size,
    estimated_rows,
    row_wise_python,
    slots_of,
)
from airflow_provider_ingest.runs.records import AWAITS_PUBLICATION, MASKED
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.settings import load_settings

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_provider_ingest.engine.plan import Plan
    from airflow_provider_ingest.formats.contract import FilePlan
    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord
    from airflow_provider_ingest.storage.files import Staging

SPARSE = frozenset({"json", "ndjson", "rows"})
"""Formats whose rows may leave out fields."""

FORMATS = {SourceType.JSON: "json", SourceType.CUSTOM: "ndjson"}
"""What sources of one format give, whatever it looks like."""

READER = "reader.json"
"""What the chunks' readers need beside their range, in the run's temporary directory."""

log = logging.getLogger(__name__)


class PlanOperator(IngestTask):
    """Second task of a run: its return value is the list of chunk indexes that ``chunk`` is mapped over.

    :param slots: how many chunks of a run may work at once, where that is limited.
    """

    def __init__(self, *, slots: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.slots = slots

    def work(self, context: Context, store: RunStore) -> list[int]:
        """Plan the staged file, or the failed rows of the run that is retried."""
        from airflow.sdk.exceptions import AirflowSkipException

        from airflow_provider_ingest import bootstrap
        from airflow_provider_ingest.operators.contested import is_contested, needs_order, set_contested_apart

        run = run_of(context, store)
        skip_if_ended(run)
        if run.status is not RunStatus.PROCESSING:
            raise AirflowSkipException(f"Ingest run {run.id} is {run.status}; nothing is planned.")
        planned = store.chunks(run.id)
        if any(chunk.started_at for chunk in planned):
            log.info("The run was planned before and has begun; its %s chunks stand", len(planned))
            return [chunk.index for chunk in planned if not is_contested(chunk)]
        staging = bootstrap.staging()
        config = importer_of(context)
        plan, size = self._plan(config, run, store, staging)
        compiled, warnings = self._check_columns(config, plan, staging)
        chunks = plan.chunks
        if needs_order(config, chunks):
            chunks = set_contested_apart(config, compiled, plan, staging, staging.temp(run.key, "keys"))
        with staging.create(staging.temp(run.key, READER)) as file:
            file.write(orjson.dumps(dict(plan.reader)))
        facts = {**(run.file or {}), **plan.facts, "columns": list(plan.columns)}
        facts |= {"chunk_rows": size.rows, "chunk_rule": size.rule, DEFINITION: definition_of(config, run)}
        if config.is_atomic and not run.is_dry_run:
            facts[AWAITS_PUBLICATION] = True
        if masked := compiled.masked_columns(plan.columns):
            facts[MASKED] = sorted(masked)
        store.record_file(run.id, facts)
        store.record_plan(run.id, chunks, (*plan.warnings, *warnings))
        log.info("%s rows in %s chunks of %s (%s)", f"{plan.rows:,}", len(chunks), f"{size.rows:,}", size.rule)
        return [chunk.index for chunk in chunks if not is_contested(chunk)]

    def _check_columns(self, config: IngestConfig, plan: FilePlan, staging: Staging) -> tuple[Plan, tuple[str, ...]]:
        """Compare the file's columns with the importer's fields, and those with the table, before any row is worked."""
        compiled = self._compiled(config)
        is_sparse = plan.facts.get("format") in SPARSE
        if is_sparse and not plan.columns and not _has_rows(plan, staging):
            return compiled, ()  # columns are the keys of rows: where none is a row, the records say what they are
        return compiled, compiled.check_columns(plan.columns, is_sparse=is_sparse)

    def _compiled(self, config: IngestConfig) -> Plan:
        from airflow_provider_ingest import bootstrap
        from airflow_provider_ingest.engine.plan import compile_plan

        target = bootstrap.target_for(config)
        return compile_plan(config, target.shape(), target.child_shapes())

    def _plan(
        self, config: IngestConfig, run: RunRecord, store: RunStore, staging: Staging
    ) -> tuple[FilePlan, ChunkSize]:
        """Cut the file; again, with larger chunks, if it has so many more rows than estimated."""
        most, row_wise = load_settings().chunk_size, row_wise_python(config)
        slots = slots_of(conf.getint("core", "parallelism"), conf.get("core", "executor"), self.slots)
        rows = self._estimate(run, store, staging)
        while True:
            size = chunk_size(config.chunk_rows, most, rows=rows, slots=slots, row_wise=row_wise)
            plan = self._cut(config, run, store, staging, size.rows)
            if len(plan.chunks) <= MOST_CHUNKS:
                return plan, size
            rows = plan.rows

    def _estimate(self, run: RunRecord, store: RunStore, staging: Staging) -> int:
        if run.retry_of is not None:
            return store.get_run(run.retry_of).counts.failed
        file = run.file or {}
        with staging.path(file["reference"]).open("rb") as stream:
            return estimated_rows(stream.read(1 << 20), file["size"])

    def _cut(self, config: IngestConfig, run: RunRecord, store: RunStore, staging: Staging, rows: int) -> FilePlan:
        from airflow_provider_ingest.formats import plan_file
        from airflow_provider_ingest.operators.retry_rows import plan_corrected_rows, plan_logged_rows

        scratch = staging.directory(staging.temp(run.key, "chunks"))
        try:
            if run.retry_of is None:
                path = staging.path((run.file or {})["reference"])
                options = dict(config.source.format_options) if config.source else {}
                if config.source and config.source.type in FORMATS:
                    options["format"] = FORMATS[config.source.type]
                return plan_file(path, options=options, chunk_rows=rows, scratch=scratch)
            original = store.get_run(run.retry_of)
            if run.payload is None:
                return plan_logged_rows(store, original, chunk_rows=rows, scratch=scratch)
            compiled = self._compiled(config)
            path = staging.path(run.payload)
            return plan_corrected_rows(path, store, original, compiled, chunk_rows=rows, scratch=scratch)
        except UnsupportedFile as error:
            raise FormatError(str(error)) from error


def _has_rows(plan: FilePlan, staging: Staging) -> bool:
    """Whether any record is a row; looked at only where none has a field."""
    from airflow_provider_ingest.operators.contested import batches_of

    return any(batch.frame.height for chunk in plan.chunks for batch in batches_of(plan.reader, chunk, staging))
