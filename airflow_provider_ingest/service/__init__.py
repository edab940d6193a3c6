"""The use cases: what the API, the command line and Python code can ask for, over the ports of :mod:`runs.ports`.

Knows no Airflow, no database and no web framework, so that every rule here can be tested in memory.
"""

from airflow_provider_ingest.service.failed_rows import FailedRows
from airflow_provider_ingest.service.reading import ErrorSummary, RowPaging
from airflow_provider_ingest.service.requests import Caller, Limits, Ports, StagedUpload
from airflow_provider_ingest.service.service import IngestService

__all__ = [
    "Caller",
    "ErrorSummary",
    "FailedRows",
    "IngestService",
    "Limits",
    "Ports",
    "RowPaging",
    "StagedUpload",
]
