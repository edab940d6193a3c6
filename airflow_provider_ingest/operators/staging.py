"""Bringing a run's file into staging, once and for all: every try of every task reads one version of it."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow_provider_ingest.importers.source import SourceSpec
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord
    from airflow_provider_ingest.storage.files import Staging

log = logging.getLogger(__name__)


def stage_source(source: SourceSpec, run: RunRecord, store: RunStore, staging: Staging) -> dict[str, Any]:
    """Copy the source's file into staging and record its facts; a file that a former try staged is kept.

    The first file that was staged completely is the run's, by its SHA-256: if it has to be fetched again, another
    version at the source is refused. An upload stays where the API server put it and is only read for its checksum.

    :returns: ``name``, ``reference``, ``size`` (bytes), ``sha256`` and whatever else the source tells of the file.
    :raises SourceError: the file cannot be fetched, is too large, or is another version than the run's.
    """
    from airflow_provider_ingest import bootstrap
    from airflow_provider_ingest.hooks.base import Sink
    from airflow_provider_ingest.importers.source import SourceType
    from airflow_provider_ingest.settings import load_settings
    from airflow_provider_ingest.storage.files import safe_name

    if run.file and _is_intact(staging, run.file):
        log.info("The file is staged already: %s bytes", f"{run.file['size']:,}")
        return dict(run.file)
    is_uploaded = run.retry_of is not None or source.type is SourceType.UPLOAD or bool(run.options.get("staged"))
    hook = bootstrap.source_hook(source, run, staging)
    if is_uploaded:
        reference, file = str(run.payload), None
    else:
        recorded = (run.file or {}).get("reference")
        reference = recorded or staging.temp(run.key, "source", safe_name(run.original_filename))
        file = staging.create(reference)
    with Sink(file, max_bytes=load_settings().max_source_bytes) as sink:
        stream = hook.fetch(sink)
    expected = run.file["sha256"] if run.file else run.options.get("sha256")
    if expected and sink.sha256 != expected:
        if not is_uploaded:
            staging.remove(reference)
        raise SourceError(
            f"This is another version of the file: the run began with SHA-256 {expected[:12]}…, and now "
            f"{sink.size:,} bytes with {sink.sha256[:12]}… are there. Start a new run to import them."
        )
    facts = {
        **stream.facts,
        "name": run.original_filename or stream.name,
        "reference": reference,
        "size": sink.size,
        "sha256": sink.sha256,
    }
    store.record_file(run.id, facts)
    log.info("Staged %s bytes, SHA-256 %s", f"{sink.size:,}", sink.sha256)
    return facts


def _is_intact(staging: Staging, file: Mapping[str, Any]) -> bool:
    """Whether the staged file is there, to the last byte as it was recorded."""
    if not staging.has(file["reference"], file["size"]):
        return False
    digest = hashlib.sha256()
    for block in staging.blocks(file["reference"]):
        digest.update(block)
    return digest.hexdigest() == str(file["sha256"])
