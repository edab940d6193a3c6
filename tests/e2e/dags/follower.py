"""DAGs that start an importer, wait for it, and follow its table."""

from __future__ import annotations

from airflow.sdk import DAG, task

from airflow_provider_ingest.operators.assets import table_asset
from airflow_provider_ingest.operators.trigger import IngestOperator, IngestRunSensor

with DAG("starts_numbers", schedule=None, is_paused_upon_creation=False) as starts:
    load = IngestOperator(task_id="load", slug="numbers", poke_interval=1)
    load >> IngestRunSensor(
        task_id="wait",
        slug="numbers",
        dag_run_id="{{ ti.xcom_pull(task_ids='load')['dag_run_id'] }}",
        poke_interval=1,
        deferrable=True,
    )

with DAG("follows_customers", schedule=[table_asset("demo_db", "customers")], is_paused_upon_creation=False) as follows:

    @task
    def counts(triggering_asset_events=None):
        return [event.extra for events in triggering_asset_events.values() for event in events]

    counts()
