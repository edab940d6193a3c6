"""Looking for what keeps runs from working, and saying how to mend it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from airflow_provider_ingest import bootstrap
from airflow_provider_ingest.cli.entry import REFUSED, command, ingest
from airflow_provider_ingest.cli.output import print_as
from airflow_provider_ingest.exceptions import IngestError
from airflow_provider_ingest.settings import load_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at; ``mend`` is empty where all is well."""

    check: str
    state: str
    mend: str = ""


@command
def doctor(args: Any) -> None:
    """Check settings, tables, the tasks' connection, staging, and each importer's DAG and target."""
    findings = list(examine())
    print_as(args.output, [asdict(finding) for finding in findings], [asdict(finding) for finding in findings])
    if any(finding.mend for finding in findings):
        sys.exit(REFUSED)


def examine() -> Iterator[Finding]:
    """All findings; a check that needs an earlier one is left out where that failed."""
    settings = _checked("settings", "the section [ingest] is usable", load_settings)
    yield settings
    if settings.mend:
        return
    tables = _checked("tables", "the ingest tables answer", _look_at_tables)
    yield tables
    yield _checked("ingest_db", "tasks can reach the ingest tables", _look_as_tasks_do)
    yield _checked("staging", "the staging storage can be written", lambda: bootstrap.staging().check())
    if not tables.mend:
        yield from _importers()


def _checked(check: str, well: str, look: Callable[[], object]) -> Finding:
    from sqlalchemy.exc import DBAPIError

    try:
        look()
    except IngestError as error:
        return Finding(check=check, state="broken", mend=str(error))
    except DBAPIError as error:
        reason = type(error.orig or error).__name__
        return Finding(check=check, state="broken", mend=f"{reason}: is the database up? Run 'airflow db migrate'.")
    except OSError as error:
        return Finding(check=check, state="broken", mend=f"{error.strerror or error}")
    return Finding(check=check, state=well)


def _look_at_tables() -> None:
    with ingest() as service:
        service.open_runs()


def _look_as_tasks_do() -> None:
    bootstrap.task_store(_connection(load_settings().db_conn_id))


def _connection(conn_id: str) -> Any | None:
    """The Airflow connection out of environment, secrets backends or metadata database."""
    from airflow.exceptions import AirflowNotFoundException
    from airflow.models import Connection

    try:
        return Connection.get_connection_from_secrets(conn_id)
    except AirflowNotFoundException:
        return None


def _importers() -> Iterator[Finding]:
    with ingest() as service:
        manifests = service.importers()
    if not manifests:
        yield Finding(
            check="importers",
            state="none",
            mend="No DAG has an importer: call ingest_dag() in a DAG file, and let the DAG processor run.",
        )
    for manifest in manifests:
        slug, conn_id = manifest["slug"], manifest["target"]["conn_id"]
        if manifest["dag"]["is_paused"]:
            mend = f"airflow dags unpause {manifest['dag_id']}"
            yield Finding(check=f"importer {slug}", state="its DAG is paused", mend=mend)
            continue
        if _connection(conn_id) is None:
            mend = f"Create the Airflow connection {conn_id!r} of its target database."
            yield Finding(check=f"importer {slug}", state="its target's connection is not there", mend=mend)
            continue
        yield Finding(check=f"importer {slug}", state="ready")
