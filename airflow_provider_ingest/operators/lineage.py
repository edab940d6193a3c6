"""OpenLineage: which file went into which table and how many rows of it, where that provider is installed and sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_provider_ingest.importers.source import SourceType

if TYPE_CHECKING:
    from sqlalchemy import URL

    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.runs.records import RunRecord

DEFAULT_PORTS = {"postgresql": 5432, "mysql": 3306}
SCHEMES = {"postgresql": "postgres"}
"""Where OpenLineage's naming of datasets differs from SQLAlchemy's of databases."""

DatasetName = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """What is told of a run, looked up while the task can still reach its connections.

    :param columns: target attribute to the columns of the file that it is made of.
    """

    run: RunRecord
    source: DatasetName
    table: DatasetName
    columns: dict[str, tuple[str, ...]]


def is_told() -> bool:
    """Whether the OpenLineage provider is installed and has somewhere to send to."""
    try:
        from airflow.providers.openlineage.conf import is_disabled
    except ImportError:
        return False
    return not is_disabled()


def lineage_of(config: IngestConfig, run: RunRecord) -> Lineage | None:
    """The lineage of a run, or ``None`` if nobody wants to know; looks up the target's connection."""
    if config.target is None or not is_told():
        return None
    from airflow_provider_ingest.storage.connections import connection, database_url

    conn = connection(config.target.conn_id)
    if conn is None:
        return None
    known = (run.file or {}).get("columns") or ()
    columns = {
        mapping.attribute: tuple(field for field in mapping.fields if field in known) for mapping in config.mappings
    }
    return Lineage(
        run=run,
        source=source_name(config, run),
        table=table_name(database_url(conn), config.target.label),
        columns={attribute: fields for attribute, fields in columns.items() if fields},
    )


def table_name(url: URL, table: str) -> DatasetName:
    """The dataset of a table, named as OpenLineage asks for.

    >>> from sqlalchemy import make_url
    >>> table_name(make_url("postgresql+psycopg://me@db/shop"), "products")
    ('postgres://db:5432', 'shop.public.products')
    >>> table_name(make_url("sqlite:////data/shop.db"), "products")
    ('sqlite', '/data/shop.db.products')
    """
    backend = url.get_backend_name()
    if url.host is None:
        return backend, f"{url.database}.{table}"
    port = url.port or DEFAULT_PORTS.get(backend)
    if backend == "postgresql" and "." not in table:
        table = f"public.{table}"
    host = f"{url.host}:{port}" if port else url.host
    return f"{SCHEMES.get(backend, backend)}://{host}", f"{url.database}.{table}" if url.database else table


def source_name(config: IngestConfig, run: RunRecord) -> DatasetName:
    """The dataset of the file that was read."""
    source = config.source
    name = run.original_filename or run.importer
    if source is None or source.type is SourceType.UPLOAD or run.retry_of is not None:
        return "ingest-upload", name
    if source.type is SourceType.URL:
        url = urlsplit(source.options["url"])
        return f"{url.scheme}://{url.hostname}", url.path or "/"
    path = run.payload or source.options.get("path") or name
    disk = source.options.get("disk")
    if source.type in (SourceType.FTP, SourceType.SFTP):
        return f"{source.type.lower()}://{disk}", path
    if source.type is SourceType.CUSTOM:
        return "ingest-source", run.importer
    return "file", f"{disk}/{path}" if disk else path


def facets_of(lineage: Lineage) -> Any:
    """The lineage as the provider takes it."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.generated.column_lineage_dataset import ColumnLineageDatasetFacet, Fields, InputField
    from openlineage.client.generated.error_message_run import ErrorMessageRunFacet
    from openlineage.client.generated.input_statistics_input_dataset import InputStatisticsInputDatasetFacet
    from openlineage.client.generated.output_statistics_output_dataset import OutputStatisticsOutputDatasetFacet

    run = lineage.run
    (from_namespace, from_name), (to_namespace, to_name) = lineage.source, lineage.table
    written = 0 if run.is_dry_run else run.counts.created + run.counts.updated
    read = InputStatisticsInputDatasetFacet(rowCount=run.total, size=(run.file or {}).get("size"))
    fields = {
        attribute: Fields(
            inputFields=[InputField(namespace=from_namespace, name=from_name, field=field) for field in fields]
        )
        for attribute, fields in lineage.columns.items()
    }
    error = (run.summary or {}).get("error")
    return OperatorLineage(
        inputs=[InputDataset(namespace=from_namespace, name=from_name, inputFacets={"inputStatistics": read})],
        outputs=[
            OutputDataset(
                namespace=to_namespace,
                name=to_name,
                facets={"columnLineage": ColumnLineageDatasetFacet(fields=fields)} if fields else {},
                outputFacets={"outputStatistics": OutputStatisticsOutputDatasetFacet(rowCount=written)},
            )
        ],
        run_facets=(
            {"errorMessage": ErrorMessageRunFacet(message=error["message"], programmingLanguage="python")}
            if error
            else {}
        ),
    )
