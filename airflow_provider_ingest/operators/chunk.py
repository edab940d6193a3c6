"""Task ``chunk``, mapped: read one range of the file, transform, validate and write its rows."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from airflow_provider_ingest.operators.base import IngestTask, importer_of, run_of
from airflow_provider_ingest.operators.plan import READER
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.runs.summary import check_reject_limit, event_of
from airflow_provider_ingest.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from airflow.sdk import Context

    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord

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

        from airflow_provider_ingest import bootstrap
        from airflow_provider_ingest.engine.work import work_chunk
        from airflow_provider_ingest.formats import read_chunk

        run = run_of(context, store)
        if run.status is not RunStatus.PROCESSING:
            raise AirflowSkipException(f"Ingest run {run.id} is {run.status}; chunk {self.chunk_index} is not worked.")
        chunk = store.chunk(run.id, self.chunk_index)
        if chunk.outcome is not None:
            log.info("Chunk %s was worked before: %s", chunk.index, chunk.outcome.counts.to_dict())
            return chunk.outcome.counts.to_dict()
        config = importer_of(context)
        check_reject_limit(config.reject_limit, run)
        staging = bootstrap.staging()
        reader = orjson.loads(b"".join(staging.blocks(staging.temp(run.key, READER))))
        located = replace(chunk, location={**chunk.location, "path": staging.locate(chunk.location["path"])})
        outcome = work_chunk(
            config=config,
            run=event_of(run),
            run_key=run.key,
            chunk=located,
            batches=read_chunk(reader, located),
            store=store,
            target=bootstrap.target_for(config),
            row_log=load_settings().log_rows,
            check_rejects=self._check(config, run, store),
        )
        counts = outcome.counts.to_dict()
        log.info("Ingest run %s, chunk %s: %s", run.id, chunk.index, counts)
        return counts

    def _check(self, config: IngestConfig, run: RunRecord, store: RunStore) -> Callable[[Counts], None] | None:
        """Stops the chunk in the middle when it and the others together pass the importer's reject limit."""
        if config.reject_limit is None:
            return None

        def check(own: Counts) -> None:
            others = (chunk.counts for chunk in store.chunks(run.id) if chunk.index != self.chunk_index)
            check_reject_limit(config.reject_limit, replace(run, counts=Counts.total([own, *others])))

        return check
