"""Starting and stopping the DAG runs behind ingest runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_provider_ingest.exceptions import Conflict, InvalidParameter

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_provider_ingest.runs.records import RunRecord

CHUNK_TASK = "chunk"


def shut_pool(name: str, slots: int | None) -> str:
    """What is to be said of a pool that is not there or has no slots."""
    trouble = "has no slots" if slots == 0 else "is not there"
    return f"Its tasks wait for the pool {name!r}, which {trouble}: 'airflow pools set {name} SLOTS DESCRIPTION'."


class AirflowLauncher:
    """Works through Airflow's own session, so that a run and its DAG run are recorded together or not at all.

    :param session: a session on the metadata database; the caller commits.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def launch(self, run: RunRecord) -> None:
        """Create the DAG run of a recorded run; raises :class:`Conflict` if its DAG is missing or paused."""
        from airflow.api.common.trigger_dag import trigger_dag
        from airflow.exceptions import DagNotFound, DagRunAlreadyExists, ParamValidationError
        from airflow.models.dag import DagModel
        from airflow.utils.types import DagRunTriggeredByType, DagRunType

        dag = self.session.get(DagModel, run.dag_id)
        if dag is None or dag.is_stale:
            raise Conflict(f"The importer's DAG {run.dag_id!r} is not there (any more).", "dag_missing")
        if dag.is_paused:
            raise Conflict(f"The importer's DAG {run.dag_id!r} is paused; unpause it to start runs.", "importer_paused")
        if dag.has_import_errors:
            raise Conflict(f"The file of the importer's DAG {run.dag_id!r} has errors; mend it first.", "dag_broken")
        try:
            trigger_dag(
                dag_id=run.dag_id,
                run_id=run.dag_run_id,
                conf={"ingest_run_id": run.id},
                triggered_by=DagRunTriggeredByType.REST_API,
                run_type=DagRunType.MANUAL,
                triggering_user_name=run.user_name,
                session=self.session,
            )
        except DagNotFound as error:
            raise Conflict(f"The importer's DAG {run.dag_id!r} is not there (any more).", "dag_missing") from error
        except DagRunAlreadyExists as error:
            raise Conflict(f"The DAG run {run.dag_run_id!r} exists already.", "dag_run_exists") from error
        except (ParamValidationError, ValueError) as error:
            raise InvalidParameter(f"Airflow refuses to start {run.dag_id!r}: {error}") from error

    def state_of(self, run: RunRecord) -> str | None:
        """The state of the run's DAG run; ``None`` if it is gone."""
        from airflow.models.dagrun import DagRun
        from sqlalchemy import select

        query = select(DagRun.state).where(DagRun.dag_id == run.dag_id, DagRun.run_id == run.dag_run_id)
        found = self.session.scalar(query)
        return None if found is None else str(getattr(found, "value", found))

    def obstacle(self, run: RunRecord) -> str | None:
        """Why Airflow starts none of the run's tasks that are due: they wait for a pool in which nothing can run."""
        from airflow.models.pool import Pool
        from airflow.models.taskinstance import TaskInstance
        from airflow.utils.state import TaskInstanceState
        from sqlalchemy import or_, select

        query = (
            select(TaskInstance.pool, Pool.slots)
            .outerjoin(Pool, Pool.pool == TaskInstance.pool)
            .where(
                TaskInstance.dag_id == run.dag_id,
                TaskInstance.run_id == run.dag_run_id,
                TaskInstance.state == TaskInstanceState.SCHEDULED,
                or_(Pool.slots.is_(None), Pool.slots == 0),
            )
        )
        found = self.session.execute(query.limit(1)).first()
        return None if found is None else shut_pool(found.pool, found.slots)

    def skip_waiting(self, run: RunRecord) -> None:
        """Set the chunk tasks that no executor has yet to ``skipped``, in one UPDATE.

        Only a help: a chunk that starts nevertheless sees the request itself. Queued ones belong to the executor.
        """
        from airflow.models.taskinstance import TaskInstance
        from airflow.utils.state import TaskInstanceState
        from sqlalchemy import or_, update

        self.session.execute(
            update(TaskInstance)
            .where(
                TaskInstance.dag_id == run.dag_id,
                TaskInstance.run_id == run.dag_run_id,
                TaskInstance.task_id == CHUNK_TASK,
                TaskInstance.map_index >= 0,
                or_(TaskInstance.state.is_(None), TaskInstance.state == TaskInstanceState.SCHEDULED),
            )
            .values(state=TaskInstanceState.SKIPPED)
            .execution_options(synchronize_session=False)
        )
