"""Task ``stage``: find or record the run, say that it begins, bring its file into staging."""

from __future__ import annotations

import json
import logging
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_provider_ingest.exceptions import HookFailed, RunFailed, SourceError
from airflow_provider_ingest.operators.base import IngestTask, skip_if_ended
from airflow_provider_ingest.operators.configuration import check_configuration
from airflow_provider_ingest.operators.definition import CHANGED_BEFORE, warn_of_another_target
from airflow_provider_ingest.operators.staging import stage_source
from airflow_provider_ingest.operators.telemetry import name_in_logs
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.runs.summary import event_of
from airflow_provider_ingest.service.reconciling import end_lost_run

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.importers.source import SourceSpec
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord
    from airflow_provider_ingest.storage.files import Staging

log = logging.getLogger(__name__)


class StageOperator(IngestTask):
    """First task of a run. It carries the importer: the config for the other tasks, the manifest in ``doc_json``."""

    def __init__(self, *, slug: str, config: IngestConfig, **kwargs: Any) -> None:
        super().__init__(slug=slug, **kwargs)
        self._config = config

    @property
    def importer_config(self) -> IngestConfig:
        """The importer's definition; not serialized, there wherever the DAG file is parsed."""
        return self._config

    def work(self, context: Context, store: RunStore) -> dict[str, Any]:
        """Stage the file; returns references and counts for people who look at the XCom."""
        from airflow.sdk.exceptions import AirflowSkipException

        from airflow_provider_ingest import bootstrap

        run = self._run(context, store)
        name_in_logs(run)
        store.change_status(run.id, RunStatus.PROCESSING, origins={RunStatus.PENDING})
        run = store.get_run(run.id)
        skip_if_ended(run)
        if run.status is not RunStatus.PROCESSING:
            raise AirflowSkipException(f"Ingest run {run.id} is {run.status}; nothing is staged.")
        check_configuration(context, run)
        run = self._take_definition(run, store)
        log.info("Ingest run %s of importer %s%s", run.id, run.importer, " (dry run)" if run.is_dry_run else "")
        staging = bootstrap.staging()
        self._before_import(run, store, staging)
        warn_of_another_target(self._config, run, store)
        if self._config.may_double:
            _warn_of_earlier_retries(run, store)
        if run.retry_of is not None and not run.payload:
            return {"ingest_run_id": run.id, "retry_of": run.retry_of}
        file = stage_source(self._source, run, store, staging)
        self._look_for_twin(run, store, file)
        return {"ingest_run_id": run.id, "file": file["reference"], "bytes": file["size"]}

    def _run(self, context: Context, store: RunStore) -> RunRecord:
        """The recorded run of this DAG run; a DAG run that Airflow started by itself records its own."""
        from airflow_provider_ingest.runs.records import NewRun

        dag_run = context["dag_run"]
        found = store.find_run(dag_run.dag_id, dag_run.run_id)
        if found is not None and _is_of_deleted_dag_run(found, context):
            end_lost_run(store, found, "Its DAG run was deleted before the run had ended.")
            store.release_dag_run(found.id)
            found = None
        if found is not None:
            return found
        params = context["params"]
        payload = str(params.get("payload") or "") or None
        return store.create_run(
            NewRun(
                key=str(uuid.uuid4()),
                importer=self.slug,
                dag_id=dag_run.dag_id,
                dag_run_id=dag_run.run_id,
                payload=payload if self._source.type.takes_path else None,
                original_filename=self._file_name(payload),
                is_dry_run=bool(params.get("dry_run")),
                user_name=dag_run.triggering_user_name,
                fingerprint=self._fingerprint(),
                options={"force": True} if params.get("force") else {},
            )
        )

    @property
    def _source(self) -> SourceSpec:
        if self._config.source is None:
            raise RunFailed(f"The importer {self.slug!r} has no source.")
        return self._config.source

    def _file_name(self, payload: str | None) -> str | None:
        """The last part of the path or URL that will be read."""
        location = payload or self._source.options.get("path") or urlsplit(self._source.options.get("url") or "").path
        return location.rstrip("/").rsplit("/", 1)[-1] or None

    def _fingerprint(self) -> str | None:
        fingerprint = json.loads(self.doc_json or "{}").get("fingerprint")
        return str(fingerprint) if fingerprint else None

    def _take_definition(self, run: RunRecord, store: RunStore) -> RunRecord:
        """Let the run have the fingerprint of the definition that works it, not that it was started with."""
        own = self._fingerprint()
        if own is None or own == run.fingerprint:
            return run
        store.record_definition(run.id, own)
        if run.fingerprint is not None:
            store.add_warning(run.id, CHANGED_BEFORE)
        return store.get_run(run.id)

    def _before_import(self, run: RunRecord, store: RunStore, staging: Staging) -> None:
        """Call ``before_import`` of each handler, once: a note in staging outlives a retry of the task."""
        from airflow_provider_ingest.runs.events import overrides

        handlers = [handler for handler in self._config.handlers if overrides(handler, "before_import")]
        note = staging.temp(run.key, "before_import.done")
        if not handlers or staging.has(note):
            return
        for handler in handlers:
            try:
                handler.before_import(event_of(run))
            except Exception as error:  # the user's code may raise anything
                raise HookFailed(
                    f"before_import of {type(handler).__name__} raised {type(error).__name__}: {error}"
                ) from error
        with staging.create(note):
            pass

    def _look_for_twin(self, run: RunRecord, store: RunStore, file: dict[str, Any]) -> None:
        """The same file by the same definition again: a warning, or a refusal if the importer says so."""
        fingerprint = run.fingerprint
        if run.is_dry_run or run.retry_of is not None or run.options.get("force") or not fingerprint:
            return
        if self._config.refuses_duplicates:
            for rival in store.rivals(run, file["sha256"], fingerprint):
                _refuse_beside(run, rival)
            return
        twin = store.find_same_file(run.importer, file["sha256"], fingerprint, run.id)
        if twin is not None:
            store.add_warning(run.id, f"The same file was imported by run {twin.id} already.")


def _is_of_deleted_dag_run(run: RunRecord, context: Context) -> bool:
    """Whether a run belongs to an earlier DAG run under the id of this one, which was deleted.

    Nothing but ``stage`` begins a run, so one that has begun before this DAG run's first try is another one's.
    """
    is_first_try = context["ti"].try_number == 1 and not context["dag_run"].clear_number
    return is_first_try and any(change["status"] == RunStatus.PROCESSING for change in run.history)


def _warn_of_earlier_retries(run: RunRecord, store: RunStore) -> None:
    """Say which retries of the same run have imported rows: these are now there twice."""
    from airflow_provider_ingest.runs.records import RunFilter

    if run.retry_of is None or run.is_dry_run:
        return
    for other in store.list_runs(RunFilter(root_run=run.root_run), 1, 100).items:
        written = other.counts.created + other.counts.updated
        if other.retry_of == run.retry_of and other.id != run.id and not other.is_dry_run and written:
            store.add_warning(run.id, f"Run {other.id} has imported {written:,} of these rows already.")


def _refuse_beside(run: RunRecord, rival: RunRecord) -> None:
    """Raise, since another run has imported the file or is about to: of two at once one goes on.

    Both were recorded with their file before they look. A later run that is not planned yet has either looked before
    this one was there, and will be planned, or will see it and give way: the next try of the task knows.
    """
    force = "start with 'force' to import it again."
    if rival.status.is_terminal:
        raise SourceError(f"The same file was imported by run {rival.id} already; {force}")
    is_undecided = rival.id > run.id and not rival.total
    raise SourceError(f"The same file is being imported by run {rival.id}; {force}", retryable=is_undecided)
