"""What the tasks of an importer's DAG share: the config, the run they work on, and how a run fails."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.sdk import BaseOperator

from airflow_provider_ingest.engine.threads import keep_to_own_threads
from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.operators.telemetry import name_in_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airflow.sdk import Context

    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord

STAGE, PLAN, CHUNK, FINISH = "stage", "plan", "chunk", "finish"
"""The ids of the tasks, the same in every importer's DAG."""

ERROR_KEY = "ingest_error"
"""XCom key under which a task leaves why the run failed, as ``{"message", "code"}``."""

START_ANEW = "Its tasks change nothing any more, however often they are cleared; to import again, start a new run."
"""What somebody is told who clears tasks of a run that has ended."""


class IngestTask(BaseOperator):  # type: ignore[misc]  # Airflow is followed as Any
    """Base of the four tasks of a run.

    A :class:`RunFailed` is left for ``finish`` to put on the run. The task then fails at once, or is tried again by
    Airflow if waiting may help.

    :param slug: of the importer; all else is found through the DAG at run time, since arguments of mapped
        tasks are serialized as text.
    """

    template_fields: ClassVar[Sequence[str]] = ()
    ui_color = "#e8f1fd"

    def __init__(self, *, slug: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.slug = slug

    @abstractmethod
    def work(self, context: Context, store: RunStore) -> Any:
        """Do the task's part of the run."""

    def execute(self, context: Context) -> Any:
        """Work, and turn what ends the run into what Airflow understands."""
        from airflow.sdk.exceptions import AirflowFailException

        keep_to_own_threads()
        from airflow_provider_ingest import bootstrap

        try:
            return self.work(context, bootstrap.task_store())
        except RunFailed as error:
            context["ti"].xcom_push(key=ERROR_KEY, value={"message": str(error), "code": error.code})
            if error.retryable:
                raise
            raise AirflowFailException(str(error)) from error

    def on_kill(self) -> None:
        """Nothing to stop: an unfinished chunk rolls back with its connection."""


def importer_of(context: Context) -> IngestConfig:
    """The config of the importer whose DAG is running."""
    config: IngestConfig = context["dag"].get_task(STAGE).importer_config
    return config


def run_of(context: Context, store: RunStore) -> RunRecord:
    """The run of this DAG run, as it was found or recorded by ``stage``."""
    dag_run = context["dag_run"]
    run = store.find_run(dag_run.dag_id, dag_run.run_id)
    if run is None:
        raise RunFailed(f"No ingest run is recorded for the DAG run {dag_run.run_id!r}.")
    name_in_logs(run)
    return run


def skip_if_ended(run: RunRecord) -> None:
    """Skip the task of a run that has ended: it was cleared, or its DAG run was marked by hand."""
    from airflow.sdk.exceptions import AirflowSkipException

    if run.status.is_terminal:
        raise AirflowSkipException(f"Ingest run {run.id} has ended as {run.status}. {START_ANEW}")
