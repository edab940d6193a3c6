"""What Airflow is told about this provider: its tables, commands and configuration."""

from __future__ import annotations

from typing import Any

VERSION = "0.1.0"

_GIB = 1024**3


def _option(kind: str, default: str, example: str, description: str) -> dict[str, Any]:
    return {
        "description": description + "\n",
        "version_added": VERSION,
        "type": kind,
        "example": example,
        "default": default,
    }


OPTIONS: dict[str, dict[str, Any]] = {
    "url_prefix": _option(
        "string",
        "/api/v1/ingest",
        "/ingest",
        "Path under which the REST API and the pages of the service are mounted in Airflow's API server.",
    ),
    "storage_path": _option(
        "string",
        "file://{AIRFLOW_HOME}/ingest",
        "s3://aws_default@my-bucket/ingest",
        "Object storage path that holds uploads (``ingest-uploads``) and files in work (``ingest-temp``). "
        "The API server and all workers must reach it.",
    ),
    "default_disk": _option(
        "string",
        "",
        "landing_zone",
        "Disk (id of an Airflow connection) that FILESYSTEM and JSON sources read from if they name none.",
    ),
    "chunk_size": _option(
        "integer",
        "500000",
        "250000",
        "Most rows in a chunk of an importer that does not say. A run gets as many chunks as there are slots "
        "(with the LocalExecutor: cores), each of 250,000 rows at least; a fifth of both where a user's Python sees "
        "each row. A chunk is one task.",
    ),
    "max_upload_bytes": _option(
        "integer",
        str(10 * _GIB),
        "104857600",
        "Largest upload in bytes. A larger one is refused while it streams in.",
    ),
    "max_source_bytes": _option(
        "integer",
        str(100 * _GIB),
        "1073741824",
        "Largest file in bytes that is fetched from a disk or a URL.",
    ),
    "max_show_rows": _option(
        "integer",
        "100",
        "25",
        "Logged rows that the endpoint of a single run shows on one page.",
    ),
    "log_rows": _option(
        "string",
        "failed",
        "all",
        "Which rows are logged by importers that do not say: ``failed``, ``all`` or ``none``.",
    ),
    "prune_days": _option(
        "integer",
        "30",
        "90",
        "Days after which the logged rows of ended runs are pruned.",
    ),
    "prune_hours": _option(
        "integer",
        "24",
        "72",
        "Hours after which uploads and temporary files of ended runs are pruned.",
    ),
    "allowed_url_hosts": _option(
        "string",
        "",
        "data.example.com, *.example.org",
        "Hosts that URL sources may fetch from, separated by commas; ``*.`` stands for any subdomain. "
        "Empty: any host with a public address.",
    ),
    "allow_private_networks": _option(
        "boolean",
        "False",
        "True",
        "Whether URL sources may fetch from private, loopback and link-local addresses; never from those at which "
        "clouds hand out credentials.",
    ),
    "url_timeout": _option(
        "float",
        "60",
        "10",
        "Seconds after which a URL source that does not answer, or stops sending, is given up.",
    ),
    "max_redirects": _option(
        "integer",
        "5",
        "0",
        "Redirects that a URL source follows.",
    ),
    "allowed_paths": _option(
        "string",
        "",
        "/srv/imports, /mnt/share/inbox",
        "Directories of the workers' own file system that sources without a disk may read, separated by commas. "
        "Empty: none; local files then need a disk.",
    ),
    "db_conn_id": _option(
        "string",
        "ingest_db",
        "ingest_tables",
        "Airflow connection by which tasks reach the ingest tables. It is created by ``airflow db migrate`` where "
        "the metadata database is SQLite.",
    ),
    "max_active_runs": _option(
        "integer",
        "4",
        "1",
        "Runs of one importer that are worked at the same time, for importers that do not say; the others wait in "
        "order. 1 keeps uploads strictly one after the other.",
    ),
    "pool": _option(
        "string",
        "default_pool",
        "ingest",
        "Airflow pool of the chunk tasks of importers that do not say. It limits what imports take from other DAGs; "
        "make it with `airflow pools set`.",
    ),
    "retries": _option(
        "integer",
        "3",
        "1",
        "How often Airflow tries a failed task of a run again. A repeated chunk never writes a row twice.",
    ),
    "retry_delay": _option(
        "float",
        "10",
        "60",
        "Seconds before a failed task is tried again.",
    ),
    "starts_per_minute": _option(
        "integer",
        "120",
        "10",
        "Runs that one user may start in a minute by REST or the command line; more are refused with 429. 0: no limit.",
    ),
    "lost_after_minutes": _option(
        "integer",
        "60",
        "15",
        "Minutes after which an open run whose DAG run is gone or does not start is ended by the periodic sweep.",
    ),
}
"""The keys of the section ``[ingest]``, in the order in which they are documented."""


def get_provider_info() -> dict[str, Any]:
    """Describe the provider in the form of Airflow's ``provider_info.schema.json``."""
    return {
        "package-name": "airflow-provider-ingest",
        "name": "Ingest",
        "description": "Bulk data ingest: importers declared in DAG files, started by REST, UI, CLI or DAG run.",
        "versions": [VERSION],
        "db-managers": ["airflow_provider_ingest.models.db.IngestDBManager"],
        "cli": ["airflow_provider_ingest.cli.definition.get_cli_commands"],
        "config": {
            "ingest": {
                "description": "Bulk data ingest. Importers override what they declare themselves.",
                "options": OPTIONS,
            }
        },
    }
