"""Writes the OpenAPI document: ``python -m airflow_provider_ingest.plugins.api.write_openapi FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from airflow_provider_ingest.plugins.api import documents
from airflow_provider_ingest.plugins.api.app import make_app
from airflow_provider_ingest.plugins.ingest_plugin import DEFAULT_PREFIX


def document_text() -> str:
    """The document as it is kept in ``docs/reference/openapi.json``."""
    return json.dumps(documents.openapi(make_app(), DEFAULT_PREFIX), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(document_text(), encoding="utf-8")
