"""Once a day: expired files and row logs go, runs that lost their DAG run are ended."""

from airflow_provider_ingest import ingest_prune_dag

dag = ingest_prune_dag()
