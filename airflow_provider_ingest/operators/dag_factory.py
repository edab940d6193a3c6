"""Making the DAG of an importer: this is what registers it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import DAG, Param, TriggerRule

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.operators.assets import importer_alias
from airflow_provider_ingest.operators.base import CHUNK, FINISH, PLAN, STAGE
from airflow_provider_ingest.operators.callbacks import Callback, run_callbacks
from airflow_provider_ingest.operators.chunk import ChunkOperator
from airflow_provider_ingest.operators.dag_docs import dag_docs
from airflow_provider_ingest.operators.finish import FinishOperator
from airflow_provider_ingest.operators.plan import PlanOperator
from airflow_provider_ingest.operators.stage import StageOperator
from airflow_provider_ingest.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.importers.manifest import Manifest

TAG = "ingest"
"""The tag by which importers are found among the DAGs."""

OWN_OPTIONS = frozenset({"dag_id", "params", "is_paused_upon_creation", "render_template_as_native_obj"})
"""DAG options that the service sets itself."""


def ingest_dag(
    slug: str,
    config: IngestConfig,
    *,
    schedule: Any = None,
    pool: str | None = None,
    max_active_tis_per_dagrun: int | None = None,
    retries: int | None = None,
    retry_delay: timedelta | None = None,
    on_success_callback: Callback | Sequence[Callback] | None = None,
    on_failure_callback: Callback | Sequence[Callback] | None = None,
    tags: Iterable[str] = (),
    **dag_options: Any,
) -> DAG:
    """Register an importer: make the DAG ``ingest_<slug>`` that runs it.

    Call it at the top level of a file in the DAGs folder and keep the result in a variable there.

    >>> dag = ingest_dag("products", config, schedule="@daily")  # doctest: +SKIP

    :param schedule: as for any DAG; for sources that fetch their file themselves.
    :param pool: of the chunk tasks; default ``[ingest] pool``.
    :param max_active_tis_per_dagrun: how many chunks of one run work at once; default as many as there are slots.
    :param retries: how often a failed task is tried again; default ``[ingest] retries``.
    :param on_success_callback: called by the task ``finish`` of a completed run (single rows may have failed): a
        function of the context, a notifier, or several. The context holds ``ingest_run``: the run, counts and error.
    :param on_failure_callback: the same for a run that failed or was cancelled.
    :param dag_options: anything else that ``DAG`` takes, e.g. ``max_active_runs``, ``access_control``; by
        ``dag_display_name`` and ``description`` people find the importer among others.
    :raises ConfigError: for a definition that cannot work, or an option that the service sets itself.
    """
    manifest = config.manifest(slug)
    document = manifest.to_dict()
    if taken := sorted(OWN_OPTIONS & set(dag_options)):
        raise ConfigError(f"ingest_dag({slug!r}): {taken[0]!r} is set by the service; leave it out.")
    if schedule is not None and manifest.takes_upload:
        raise ConfigError(f"ingest_dag({slug!r}): an importer of uploads has no schedule; each run needs a file.")
    settings = load_settings()
    tries = {
        "retries": settings.retries if retries is None else retries,
        "retry_delay": retry_delay or timedelta(seconds=settings.retry_delay),
    }
    options: dict[str, Any] = {
        "max_active_runs": settings.max_active_runs,
        "catchup": False,
        "description": f"Ingest into {manifest.target_label}",
        "doc_md": dag_docs(document),
        **dag_options,
    }
    with DAG(
        dag_id=manifest.dag_id,
        schedule=schedule,
        tags=sorted({TAG, *tags}),
        params=trigger_params(manifest),
        is_paused_upon_creation=False,
        **options,
    ) as dag:
        stage = StageOperator(task_id=STAGE, slug=slug, config=config, doc_json=manifest.to_json(), **tries)
        plan = PlanOperator(task_id=PLAN, slug=slug, slots=max_active_tis_per_dagrun, **tries)
        chunk = ChunkOperator.partial(
            task_id=CHUNK,
            slug=slug,
            pool=pool or settings.pool,
            max_active_tis_per_dagrun=max_active_tis_per_dagrun,
            **tries,
        ).expand(chunk_index=plan.output)
        finish = FinishOperator(
            task_id=FINISH,
            slug=slug,
            trigger_rule=TriggerRule.ALL_DONE,
            outlets=[importer_alias(slug)],
            on_success_callback=run_callbacks(on_success_callback),
            on_failure_callback=run_callbacks(on_failure_callback),
            **tries,
        )
        stage >> plan >> chunk >> finish
    return dag


def trigger_params(manifest: Manifest) -> dict[str, Param]:
    """The fields of Airflow's trigger form, which are also what a configuration given to the DAG may hold."""
    params: dict[str, Param] = {}
    if manifest.takes_path:
        default = manifest.default_path
        params["payload"] = Param(
            None,
            type=["null", "string"],
            title="File",
            description="Path of the file on the importer's disk."
            + (f" Left empty, `{default}` is read." if default else " It has no default: name one."),
        )
    params["dry_run"] = Param(
        False,
        type="boolean",
        title="Dry run",
        description="Work all rows and report every failure, but keep nothing in the target.",
    )
    params["force"] = Param(
        False,
        type="boolean",
        title="Import again",
        description="Take the file even if a completed run has imported the same one.",
    )
    return params
