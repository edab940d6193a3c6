"""Task ``finish``, whatever came before: add up, decide how the run ended, tell everybody, tidy up."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import RunFailed, TargetError
from airflow_provider_ingest.operators.assets import emit_asset_event, was_emitted
from airflow_provider_ingest.operators.base import (
    CHUNK,
    ERROR_KEY,
    FINISH,
    PLAN,
    STAGE,
    START_ANEW,
    IngestTask,
    importer_of,
    run_of,
    skip_if_ended,
)
from airflow_provider_ingest.operators.definition import check_place
from airflow_provider_ingest.operators.lineage import facets_of, lineage_of
from airflow_provider_ingest.operators.telemetry import measure_run
from airflow_provider_ingest.operators.unreported import report_committed_chunks
from airflow_provider_ingest.runs.events import overrides
from airflow_provider_ingest.runs.records import AWAITS_PUBLICATION
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.runs.summary import check_reject_limit, event_of, stats_of, summary_of
from airflow_provider_ingest.service.reconciling import unpublished_counts

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.operators.lineage import Lineage
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord
    from airflow_provider_ingest.storage.files import Staging

log = logging.getLogger(__name__)

OUTCOMES = frozenset({RunStatus.COMPLETED, RunStatus.COMPLETED_WITH_ERRORS})


class FinishOperator(IngestTask):
    """Last task of a run; runs on every ending.

    It fails after its work where the run failed or was cancelled: sensors, dependent DAGs and people take a green
    DAG run for a complete table. Asset events are sent for completed runs only.
    """

    _lineage: Lineage | None = None

    def work(self, context: Context, store: RunStore) -> dict[str, Any]:
        """Bring the run to its terminal status, once."""
        from airflow.sdk.exceptions import AirflowFailException

        from airflow_provider_ingest import bootstrap

        config = importer_of(context)
        staging = bootstrap.staging()
        run = run_of(context, store)
        was_open = not run.status.is_terminal
        if was_open:
            report_committed_chunks(config, run, store)
        if run.status is RunStatus.PROCESSING:
            self._work_contested(context, config, run, store)
            run = store.get_run(run.id)  # with what that added to the counts
        while not run.status.is_terminal:
            run = self._end(context, config, run, store, staging)
        if was_open:
            measure_run(run)
        elif _ended_before_its_tasks(run) and context["ti"].try_number == 1:
            self._after_import(config, run, run.status, store, staging)
        staging.remove_run(run.key)
        self._lineage = lineage_of(config, run)
        log.info("Ingest run %s is %s: %s", run.id, run.status, run.progress.to_dict())
        if not was_open:
            log.warning("Ingest run %s had ended before. %s", run.id, START_ANEW)
        if run.status not in OUTCOMES:
            error = (run.summary or {}).get("error") or {}
            reason = error.get("message") or f"Ingest run {run.id} was {run.status}."
            raise AirflowFailException(reason if was_open else f"{reason} {START_ANEW}")
        is_changed = not run.is_dry_run and run.counts.created + run.counts.updated > 0
        if config.target is not None and is_changed and (was_open or not was_emitted(run)):
            emit_asset_event(context, run, config.target.conn_id, config.target.label)
        elif not was_open and context["dag_run"].clear_number:
            skip_if_ended(run)  # a green task, and its callback, would tell of another import
        return {"ingest_run_id": run.id, "status": str(run.status), **run.progress.to_dict()}

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> Any:
        """The file, the table and the rows of the run, for the OpenLineage provider, which asks when the task ends."""
        return None if self._lineage is None else facets_of(self._lineage)

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> Any:
        """The same of a run that failed, with the reason."""
        return self.get_openlineage_facets_on_complete(task_instance)

    def _end(
        self, context: Context, config: IngestConfig, run: RunRecord, store: RunStore, staging: Staging
    ) -> RunRecord:
        """Decide on the end, call the handlers, and change the status unless it changed meanwhile."""
        error, decided_in = None, run.status
        if decided_in is RunStatus.CANCELLING:
            end = RunStatus.CANCELLED
        else:
            # the run is read behind its chunks: one that reports in between would be missing in the counts
            error = self._error(context, run, store) or self._publish(config, store.get_run(run.id), store)
            run = store.get_run(run.id)
            end = RunStatus.FAILED if error else RunStatus.COMPLETED
            if end is RunStatus.COMPLETED and run.counts.failed:
                end = RunStatus.COMPLETED_WITH_ERRORS
        if (config.is_atomic or _awaits_publication(run)) and end not in OUTCOMES and not run.is_dry_run:
            self._discard(config, run, store)
        if end not in OUTCOMES:
            store.settle_counts(run.id, unpublished_counts(store, store.get_run(run.id)))
        run = store.get_run(run.id)
        self._after_import(config, run, end, store, staging)
        summary = summary_of(run, stats_of(run, end), error=error, warnings=store.warnings(run.id))
        store.change_status(run.id, end, origins={decided_in}, summary=summary)
        return store.get_run(run.id)

    def _work_contested(self, context: Context, config: IngestConfig, run: RunRecord, store: RunStore) -> None:
        """Work the rows whose keys stand in several chunks, once all those chunks are done."""
        from airflow_provider_ingest.operators.chunk import work_planned_chunk
        from airflow_provider_ingest.operators.contested import is_contested

        undone = [chunk for chunk in store.chunks(run.id) if chunk.outcome is None]
        if len(undone) != 1 or not is_contested(undone[0]):
            return
        try:
            work_planned_chunk(config, run, undone[0], store)
        except RunFailed as error:
            if error.retryable:
                raise
            context["ti"].xcom_push(key=ERROR_KEY, value={"message": str(error), "code": error.code})

    def _error(self, context: Context, run: RunRecord, store: RunStore) -> dict[str, str] | None:
        """Why the run failed, as the failed task left it, or what can be seen from here."""
        left = context["ti"].xcom_pull(task_ids=[STAGE, PLAN, CHUNK, FINISH], key=ERROR_KEY) or []
        errors = [error for error in left if error]
        chunks = store.chunks(run.id)
        undone = [chunk.index for chunk in chunks if chunk.outcome is None]
        planned = context["ti"].xcom_pull(task_ids=PLAN)
        if planned is not None and not undone and not errors:
            return None
        if errors:
            return dict(errors[0])
        if undone:
            named = ", ".join(str(index) for index in undone[:5]) + (", …" if len(undone) > 5 else "")
            message = f"{len(undone)} of {len(chunks)} chunks did not finish ({named}); see the logs of their tasks."
        else:
            message = "The file was not staged or planned; see the logs of the tasks 'stage' and 'plan'."
        return {"message": message, "code": "task_failed"}

    def _publish(self, config: IngestConfig, run: RunRecord, store: RunStore) -> dict[str, str] | None:
        """The last checks of a run whose chunks are all done, and making an atomic run visible.

        What publishing did to the rows replaces what their chunks foresaw: others may have written in between.
        """
        from airflow_provider_ingest import bootstrap

        try:
            check_ledger(run)
            if config.is_atomic or _awaits_publication(run):
                check_place(config, run)
            check_reject_limit(config.reject_limit, run)
            if config.is_atomic and not run.is_dry_run:
                published = bootstrap.target_for(config).publish(run.key)
                if published is None and run.counts.successful:
                    raise TargetError("The rows staged in the target are gone; nothing was published.")
                store.settle_counts(run.id, published)
                store.record_file(run.id, {**(run.file or {}), AWAITS_PUBLICATION: False})
        except RunFailed as error:
            if error.retryable:
                raise
            return {"message": str(error), "code": error.code}
        return None

    def _discard(self, config: IngestConfig, run: RunRecord, store: RunStore) -> None:
        """Drop what an atomic run has staged; if that fails the run still ends."""
        from airflow_provider_ingest import bootstrap

        try:
            bootstrap.target_for(config).discard(run.key)
        except RunFailed as error:
            store.add_warning(run.id, f"The rows staged in the target could not be dropped: {error}")

    def _after_import(
        self, config: IngestConfig, run: RunRecord, end: RunStatus, store: RunStore, staging: Staging
    ) -> None:
        """Call ``after_import`` of each handler, once; what it raises is a warning."""
        handlers = [handler for handler in config.handlers if overrides(handler, "after_import")]
        note = staging.temp(run.key, "after_import.done")
        if not handlers or staging.has(note):
            return
        event, stats = event_of(replace(run, status=end)), stats_of(run, end)
        for handler in handlers:
            try:
                handler.after_import(event, stats)
            except Exception as error:  # the user's code may raise anything
                name = type(handler).__name__
                log.warning("after_import of %s raised %s", name, type(error).__name__, exc_info=True)
                store.add_warning(run.id, f"after_import of {name} raised {type(error).__name__}.")
        with staging.create(note):
            pass


def _awaits_publication(run: RunRecord) -> bool:
    """Whether rows of the run may be staged in the target, whatever its importer has become meanwhile."""
    return bool((run.file or {}).get(AWAITS_PUBLICATION))


def _ended_before_its_tasks(run: RunRecord) -> bool:
    """Whether the run was cancelled while it waited: nobody has told its handlers then."""
    return not {change["status"] for change in run.history} & {RunStatus.PROCESSING, RunStatus.CANCELLING}


def check_ledger(run: RunRecord) -> None:
    """Raise if rows of a run whose chunks are all done were lost or counted twice: a bug, never shown as success."""
    if run.counts.processed != run.total:
        raise RunFailed(
            f"The numbers do not add up: {run.total:,} rows were planned, {run.counts.processed:,} were worked. "
            "This is a bug of the ingest provider; please report it."
        )
