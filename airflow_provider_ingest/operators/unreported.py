"""Chunks that committed and could not say so: they were killed in between, or their tasks were marked by hand."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from airflow_provider_ingest.exceptions import IngestError

if TYPE_CHECKING:
    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord

log = logging.getLogger(__name__)


def report_committed_chunks(config: IngestConfig, run: RunRecord, store: RunStore) -> None:
    """Report what the target has of chunks that began and did not report, before anybody counts without them.

    A chunk whose task was marked by hand may still be at work; it is waited for as a second attempt would. A target
    that does not answer is no reason to end the run otherwise.
    """
    from airflow_provider_ingest import bootstrap

    begun = [chunk for chunk in store.chunks(run.id) if chunk.started_at is not None and chunk.outcome is None]
    try:
        target = bootstrap.target_for(config) if begun else None
        for chunk in begun:
            assert target is not None
            with target.open_chunk(run.key, chunk.index, dry_run=run.is_dry_run) as transaction:
                outcome = transaction.recorded
            if outcome is not None:
                log.info("Chunk %s was committed and not reported: %s", chunk.index, outcome.counts.to_dict())
                store.finish_chunk(run.id, chunk.index, outcome)
    except IngestError as error:
        log.warning("The target does not tell whether chunks were committed that did not report: %s", error)
