"""Importers whose target is down, or goes down while it is written."""

from __future__ import annotations

from gates import wait_for_gate

from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag


def into(conn_id: str) -> IngestConfig:
    return (
        IngestConfig.for_("goods", conn_id=conn_id)
        .from_source(SourceType.FILESYSTEM, disk="demo_files")
        .map("sku", "sku")
        .map_and_transform("name", "name", [wait_for_gate])
        .keyed_by("sku")
        .chunk_size(2)
    )


unreachable = ingest_dag("unreachable", into("unreachable_db"), retries=1)
dying = ingest_dag("dying", into("dying_db"), retries=1, max_active_tis_per_dagrun=1)
