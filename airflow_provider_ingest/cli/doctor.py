"""Looking for what keeps runs from working, and saying how to mend it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest import bootstrap
from airflow_provider_ingest.cli.entry import REFUSED, command, ingest
from airflow_provider_ingest.cli.importer_findings import Finding, connection, importers
from airflow_provider_ingest.cli.output import print_as
from airflow_provider_ingest.exceptions import IngestError, SetupError
from airflow_provider_ingest.settings import check_keys, load_settings

if TYPE_CHECKING:
    import httpx

    from airflow_provider_ingest.storage.sql_store import SqlStore

PROBE_SECONDS = 10.0
"""How long the API server may take to answer, one that has just been started included."""

HEALTHY = '"healthy"'
"""What the API of the tasks says of itself."""

EXECUTION_API = "[core] execution_api_server_url"
BROWSERS = "under which browsers reach the API server, for example https://airflow.example.com"
TASKS = "under which tasks reach the API server, for example http://airflow-api:8080/execution/"


@command
def doctor(args: Any) -> None:
    """Check settings, tables, the tasks' connection, staging, the APIs, and each importer's DAG and target."""
    findings = list(examine())
    print_as(args.output, [asdict(finding) for finding in findings], [asdict(finding) for finding in findings])
    if any(finding.mend for finding in findings):
        sys.exit(REFUSED)


def examine() -> Iterator[Finding]:
    """All findings; a check that needs an earlier one is left out where that failed."""
    settings = _checked("settings", "the section [ingest] is usable", _look_at_settings)
    yield settings
    if settings.mend:
        return
    tables = _checked("tables", "the ingest tables answer", _look_at_tables)
    yield tables
    yield _checked("ingest_db", "tasks can reach the ingest tables", lambda: _look_as_tasks_do(compare=not tables.mend))
    yield _checked("staging", "the staging storage can be written", lambda: bootstrap.staging().check())
    yield _checked("api", "the API server answers for the service", _look_at_api)
    yield _checked("task_api", "tasks can reach the API server", _look_at_task_api)
    if not tables.mend:
        yield from importers()


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


def _look_at_settings() -> None:
    load_settings()
    check_keys()


def _look_at_tables() -> None:
    with ingest() as service:
        service.open_runs()


def _look_as_tasks_do(*, compare: bool) -> None:
    """Read and write through the connection, and see that what lies behind it is the metadata database.

    :param compare: whether the metadata database can be looked at.
    """
    conn_id = load_settings().db_conn_id
    store = bootstrap.task_store(connection(conn_id))
    store.check_rights()
    if compare:
        _look_for_newest_run(store, conn_id)


def _look_for_newest_run(store: SqlStore, conn_id: str) -> None:
    from airflow_provider_ingest.runs.records import RunFilter

    with ingest() as service:
        newest = service.runs(RunFilter(), per_page=1).items
    if newest and store.find_run(newest[0].dag_id, newest[0].dag_run_id) is None:
        raise SetupError(
            f"The connection {conn_id!r} leads to another database than [database] sql_alchemy_conn: run "
            f"{newest[0].id} is not there. Correct its host and database."
        )


def _look_at_api() -> None:
    """Ask for the API's document without a credential: to be refused is to be answered by the service."""
    from urllib.parse import urlsplit

    from airflow.configuration import conf

    base = _address(str(conf.get("api", "base_url", fallback="") or ""), "[api] base_url", BROWSERS)
    url = f"{base}{load_settings().url_prefix}/openapi.json"
    status = _asked(url, "[api] base_url").status_code
    if status != 401:
        raise SetupError(
            f"{url} answers with {status} instead of 401: restart the API server, which may have been started before "
            "the provider was installed or with another [ingest] url_prefix; else correct [api] base_url"
            + (f", or let the proxy before it pass the path {path} on." if (path := urlsplit(base).path) else ".")
        )


def _look_at_task_api() -> None:
    """Ask where tasks are told to ask, if that is elsewhere than below ``[api] base_url``."""
    from airflow.configuration import conf

    base = str(conf.get("core", "execution_api_server_url", fallback="") or "")
    if not base:
        return
    url = f"{_address(base, EXECUTION_API, TASKS)}/health"
    answer = _asked(url, EXECUTION_API)
    if HEALTHY not in answer.text:  # Airflow's pages answer with 200 at any address
        raise SetupError(
            f"{url} is not where tasks can reach the API server, and each of them fails before its first line: correct "
            f"{EXECUTION_API}. It ends with /execution/, behind the path of [api] base_url if that has one."
        )


def _address(text: str, option: str, meaning: str) -> str:
    """An option that holds an address, without the slash at its end."""
    if not text.startswith(("http://", "https://")):
        raise SetupError(f"{option} = {text!r} cannot be used: it is the address {meaning}")
    return text.rstrip("/")


def _asked(url: str, option: str) -> httpx.Response:
    """What the API server answers."""
    import httpx

    try:
        return httpx.get(url, timeout=PROBE_SECONDS, follow_redirects=False)
    except httpx.ReadTimeout as error:
        raise SetupError(
            f"What listens at {url} does not answer within {PROBE_SECONDS:g} s: the API server may still be starting, "
            "or have too few workers for its load."
        ) from error
    except httpx.HTTPError as error:
        raise SetupError(
            f"Nothing answers at {url} ({type(error).__name__}): start 'airflow api-server', or correct {option}."
        ) from error
