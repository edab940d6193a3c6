"""The tables of the service in Airflow's metadata database.

>>> from airflow_provider_ingest.models import IngestRun, metadata
>>> IngestRun.__tablename__, sorted(metadata.tables)
('ingest_runs', ['ingest_chunks', 'ingest_error_counts', 'ingest_rows', 'ingest_runs'])
"""

from __future__ import annotations

from airflow_provider_ingest.models.base import Base, metadata
from airflow_provider_ingest.models.ingest_chunk import IngestChunk, IngestErrorCount
from airflow_provider_ingest.models.ingest_row import MESSAGE_LENGTH, IngestRow
from airflow_provider_ingest.models.ingest_run import IngestRun

__all__ = ["MESSAGE_LENGTH", "Base", "IngestChunk", "IngestErrorCount", "IngestRow", "IngestRun", "metadata"]
