"""Task ``chunk``, mapped: read one range of the file, transform, validate and write its rows."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from airflow_provider_ingest.operators.base import IngestTask, importer_of, run_of, skip_if_ended
from airflow_provider_ingest.operators.definition import check_definition
from airflow_provider_ingest.operators.plan import READER
from airflow_provider_ingest.operators.telemetry import measure_chunk, name_in_logs
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.runs.summary import check_reject_limit, event_of
from airflow_provider_ingest.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from airflow.sdk import Context

    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.runs.outcome import ErrorCount
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import ChunkRecord, RunRecord

log = logging.getLogger(__name__)


class ChunkOperator(IngestTask):
    """Works one chunk; however often it runs, its rows are written once.

    :param chunk_index: which one; the only argument that is mapped.
    """

    def __init__(self, *, chunk_index: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.chunk_index = chunk_index

    def work(self, context: Context, store: RunStore) -> dict[str, Any]:
        """Work the chunk unless the run is to stop; returns its counts."""
        from airflow.sdk.exceptions import AirflowSkipException

        run = run_of(context, store)
        skip_if_ended(run)
        if run.status is not RunStatus.PROCESSING:
            raise AirflowSkipException(f"Ingest run {run.id} is {run.status}; chunk {self.chunk_index} is not worked.")
        chunk = store.chunk(run.id, self.chunk_index)
        if chunk.outcome is not None:
            log.info("Chunk %s was worked before: %s", chunk.index, chunk.outcome.counts.to_dict())
            return chunk.outcome.counts.to_dict()
        return work_planned_chunk(importer_of(context), run, chunk, store).to_dict()


def work_planned_chunk(config: IngestConfig, run: RunRecord, chunk: ChunkRecord, store: RunStore) -> Counts:
    """Work a recorded chunk of a run: one of the mapped ones, or the last one of contested keys."""
    from airflow_provider_ingest import bootstrap
    from airflow_provider_ingest.engine.work import work_chunk
    from airflow_provider_ingest.operators.contested import batches_of

    name_in_logs(run, chunk.index)
    check_definition(config, run, store)
    check_reject_limit(config.reject_limit, run)
    staging = bootstrap.staging()
    reader = orjson.loads(b"".join(staging.blocks(staging.temp(run.key, READER))))
    outcome = work_chunk(
        config=config,
        run=event_of(run),
        run_key=run.key,
        chunk=chunk,
        batches=batches_of(reader, chunk, staging),
        store=store,
        target=bootstrap.target_for(config),
        row_log=load_settings().log_rows,
        check_rejects=_reject_check(config, run, chunk, store),
        # Airflow takes some seconds to kill the tasks of a DAG run that was marked by hand or ran out of its time; what
        # they wrote then would stand in the target uncounted
        before_commit=lambda: skip_if_ended(store.get_run(run.id)),
    )
    measure_chunk(run, outcome)
    log.info("Ingest run %s, chunk %s: %s", run.id, chunk.index, outcome.counts.to_dict())
    return outcome.counts


def _reject_check(
    config: IngestConfig, run: RunRecord, chunk: ChunkRecord, store: RunStore
) -> Callable[[Counts, Sequence[ErrorCount]], None] | None:
    """Stops the chunk in the middle when it and the others together pass the importer's reject limit."""
    if config.reject_limit is None:
        return None

    def check(own: Counts, errors: Sequence[ErrorCount]) -> None:
        others = (other.counts for other in store.chunks(run.id) if other.index != chunk.index)
        check_reject_limit(config.reject_limit, replace(run, counts=Counts.total([own, *others])), errors)

    return check
