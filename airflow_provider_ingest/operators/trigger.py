"""For other DAGs: start a run, and wait for one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.configuration import conf
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk.bases.sensor import BaseSensorOperator, PokeReturnValue
from airflow.sdk.exceptions import AirflowFailException

from airflow_provider_ingest.operators.run_trigger import IngestRunTrigger, find_run, result_of
from airflow_provider_ingest.runs.progress import in_rows
from airflow_provider_ingest.runs.records import NewRun, RunRecord
from airflow_provider_ingest.runs.status import RunStatus

if TYPE_CHECKING:
    from airflow.sdk import Context

DAG_PREFIX = "ingest_"


def check_result(result: dict[str, Any], *, fail_on_errors: bool) -> dict[str, Any]:
    """The result of an ended run; raises ``AirflowFailException`` unless it is good enough."""
    status = result["status"]
    if status in (RunStatus.FAILED, RunStatus.CANCELLED):
        reason = f": {result['error']}" if result.get("error") else "."
        raise AirflowFailException(f"Ingest run {result['ingest_run_id']} is {status}{reason}")
    if fail_on_errors and result["failed"]:
        raise AirflowFailException(
            f"Ingest run {result['ingest_run_id']}: {result['failed']:,} of {in_rows(result['total'])} failed."
        )
    return result


class IngestOperator(TriggerDagRunOperator):  # type: ignore[misc]  # Airflow is followed as Any
    """Start a run of an importer from another DAG, and wait for its end in the triggerer, without a worker slot.

    A task that is tried again takes up the run that an earlier try has started, unless that failed.

    >>> IngestOperator(task_id="load", slug="customers", payload="{{ ds }}.csv")  # doctest: +SKIP

    :param slug: of the importer.
    :param payload: the path that the importer's source takes; templated.
    :param file: for an importer of uploads: a file of the worker, which is put into staging; templated.
    :param fail_on_errors: fail the task also where single rows have failed.
    :param wait: ``False`` ends the task as soon as the run is started.
    """

    template_fields: ClassVar[Sequence[str]] = (*TriggerDagRunOperator.template_fields, "slug", "payload", "file")
    ui_color = "#e8f1fd"

    def __init__(
        self,
        *,
        slug: str,
        payload: str | None = None,
        file: str | None = None,
        dry_run: bool = False,
        force: bool = False,
        fail_on_errors: bool = False,
        wait: bool = True,
        poke_interval: int = 5,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trigger_dag_id=f"{DAG_PREFIX}{slug}",
            fail_when_dag_is_paused=True,
            wait_for_completion=wait,
            poke_interval=poke_interval,
            deferrable=True,
            logical_date=None,
            **kwargs,
        )
        self.slug = slug
        self.payload = payload
        self.file = file
        self.is_dry_run = dry_run
        self.force = force
        self.fail_on_errors = fail_on_errors

    def execute(self, context: Context) -> dict[str, Any] | None:
        """Take up an earlier try's run or start one."""
        ti: Any = context["ti"]
        self.trigger_dag_id = f"{DAG_PREFIX}{self.slug}"
        base = f"ingest__{ti.dag_id}__{ti.task_id}__{ti.map_index}__{uuid.uuid5(uuid.NAMESPACE_OID, ti.run_id)}"
        for number in range(1, ti.try_number):
            run = find_run(self.trigger_dag_id, f"{base}__{number}")
            if run is not None and run.status not in (RunStatus.FAILED, RunStatus.CANCELLED):
                return self._take_up(run)
        self.trigger_run_id = f"{base}__{ti.try_number}"
        options: dict[str, Any] = {"dry_run": self.is_dry_run, "force": self.force}
        if self.payload is not None:
            options["payload"] = self.payload
        if self.file is not None:
            options = {"ingest_run_id": self._record(self.trigger_run_id).id}
        self.conf = options
        super().execute(context)
        return None

    def _record(self, dag_run_id: str) -> RunRecord:
        """Stage the file and record the run; ``stage`` finds it by its DAG run."""
        from airflow_provider_ingest import bootstrap

        stored = bootstrap.stage_file(self.file)
        return bootstrap.task_store().create_run(
            NewRun(
                key=str(uuid.uuid4()),
                importer=self.slug,
                dag_id=self.trigger_dag_id,
                dag_run_id=dag_run_id,
                payload=stored.reference,
                original_filename=stored.name,
                is_dry_run=self.is_dry_run,
                options={"force": True} if self.force else {},
            )
        )

    def _take_up(self, run: RunRecord) -> dict[str, Any] | None:
        """Wait for a run that is under way already."""
        self.log.info("Ingest run %s was started by an earlier try", run.id)
        if run.status.is_terminal or not self.wait_for_completion:
            return check_result(result_of(run), fail_on_errors=self.fail_on_errors)
        self.defer(
            trigger=IngestRunTrigger(run.dag_id, run.dag_run_id, self.poke_interval), method_name="execute_complete"
        )
        return None

    def execute_complete(self, context: Context, event: Any) -> dict[str, Any]:
        """Come back from waiting: the run has ended."""
        dag_run_id = event["dag_run_id"] if isinstance(event, dict) else event[1]["run_ids"][0]
        run = find_run(self.trigger_dag_id, dag_run_id)
        if run is None:
            raise AirflowFailException(f"No ingest run is recorded for the DAG run {dag_run_id!r}.")
        return check_result(result_of(run), fail_on_errors=self.fail_on_errors)


class IngestRunSensor(BaseSensorOperator):  # type: ignore[misc]  # Airflow is followed as Any
    """Wait until the run of a DAG run has ended; succeeds with its counts, fails if it failed or was cancelled.

    >>> IngestRunSensor(task_id="wait", slug="customers", dag_run_id="{{ params.run }}")  # doctest: +SKIP

    :param fail_on_errors: fail also where single rows have failed.
    :param deferrable: wait without a worker slot.
    """

    template_fields: ClassVar[Sequence[str]] = ("slug", "dag_run_id")
    ui_color = "#e8f1fd"

    def __init__(
        self,
        *,
        slug: str,
        dag_run_id: str,
        fail_on_errors: bool = False,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        poke_interval: float = 5.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(poke_interval=poke_interval, **kwargs)
        self.slug = slug
        self.dag_run_id = dag_run_id
        self.fail_on_errors = fail_on_errors
        self.deferrable = deferrable

    def execute(self, context: Context) -> Any:
        """Wait in this slot, or leave it and come back."""
        if not self.deferrable:
            return super().execute(context)
        if (result := self._result()) is not None:
            return result
        self.defer(
            timeout=timedelta(seconds=self.timeout),
            trigger=IngestRunTrigger(f"{DAG_PREFIX}{self.slug}", self.dag_run_id, self.poke_interval),
            method_name="execute_complete",
        )
        return None

    def poke(self, context: Context) -> PokeReturnValue:
        """Look once."""
        result = self._result()
        return PokeReturnValue(is_done=result is not None, xcom_value=result)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> dict[str, Any]:
        """Come back from waiting: the run has ended."""
        return check_result(event, fail_on_errors=self.fail_on_errors)

    def _result(self) -> dict[str, Any] | None:
        run = find_run(f"{DAG_PREFIX}{self.slug}", self.dag_run_id)
        if run is None or not run.status.is_terminal:
            return None
        return check_result(result_of(run), fail_on_errors=self.fail_on_errors)
