"""Importers of files behind addresses of a server that the tests start where the environment says."""

from __future__ import annotations

import os

from gates import product

from airflow_provider_ingest import SourceType, ingest_dag

SERVER = os.environ["FETCHED_FROM"]

cut_off = ingest_dag("cut_off", product(SourceType.URL, url=f"{SERVER}/cut"))
sent_away = ingest_dag("sent_away", product(SourceType.URL, url=f"{SERVER}/away"))
