"""CSV files: :func:`plan_csv` cuts them, :func:`read_csv_chunk` reads a chunk."""

from airflow_provider_ingest.formats.csv_plan import plan_csv
from airflow_provider_ingest.formats.csv_read import read_csv_chunk

__all__ = ["plan_csv", "read_csv_chunk"]
