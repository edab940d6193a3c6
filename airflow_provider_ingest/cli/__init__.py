"""``airflow ingest …``."""
