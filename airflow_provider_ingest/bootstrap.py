"""The one place that joins the ports to what stands behind them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import SetupError, SourceError
from airflow_provider_ingest.importers.source import SourceType
from airflow_provider_ingest.settings import load_settings

BLOCK = 1 << 20

if TYPE_CHECKING:
    from sqlalchemy import URL
    from sqlalchemy.orm import Session

    from airflow_provider_ingest.hooks.base import SourceHook
    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.importers.source import SourceSpec
    from airflow_provider_ingest.runs.events import IngestRun
    from airflow_provider_ingest.runs.ports import RunStore, Target
    from airflow_provider_ingest.runs.records import RunRecord
    from airflow_provider_ingest.service.requests import Caller
    from airflow_provider_ingest.service.service import IngestService
    from airflow_provider_ingest.storage.files import Staging, StoredFile
    from airflow_provider_ingest.storage.sql_store import SqlStore

NO_CONNECTION = """\
Tasks cannot reach the ingest tables: there is no Airflow connection {conn_id!r}. \
With SQLite `airflow db migrate` creates it. With PostgreSQL give tasks a role with rights on these tables alone:
  CREATE ROLE ingest_tasks LOGIN PASSWORD '...';
  GRANT USAGE ON SCHEMA public TO ingest_tasks;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ingest_runs, ingest_chunks, ingest_error_counts, ingest_rows TO ingest_tasks;
  GRANT USAGE, SELECT ON SEQUENCE ingest_runs_id_seq, ingest_error_counts_id_seq TO ingest_tasks;
and then
  airflow connections add {conn_id} --conn-type postgres --conn-host HOST --conn-schema DATABASE \
--conn-login ingest_tasks --conn-password '...'
"""


def staging() -> Staging:
    """The storage for uploads and temporary files."""
    from airflow_provider_ingest.storage.files import Staging

    return Staging(load_settings().storage_path)


def task_store(conn: Any | None = None) -> SqlStore:
    """The run store as tasks reach it: through the Airflow connection ``ingest_db``.

    :param conn: that connection, where the caller has looked it up (outside of tasks it is in the metadata database).
    :raises SetupError: the connection, the tables or the rights on them are missing; says how to mend it.
    """
    from airflow_provider_ingest.storage.connections import connection, database_url

    conn_id = load_settings().db_conn_id
    conn = conn or connection(conn_id)
    if conn is None:
        raise SetupError(NO_CONNECTION.format(conn_id=conn_id))
    return _store(database_url(conn), conn_id)


@lru_cache(maxsize=4)
def _store(url: URL, conn_id: str) -> SqlStore:
    """One store per database and process, checked once."""
    from sqlalchemy import text
    from sqlalchemy.exc import DBAPIError, OperationalError, ProgrammingError

    from airflow_provider_ingest.storage.connections import engine_for
    from airflow_provider_ingest.storage.sql_store import SqlStore

    engine = engine_for(url)
    try:
        with engine.connect() as database:
            database.execute(text("SELECT id FROM ingest_runs WHERE id = 0"))
    except (OperationalError, ProgrammingError) as error:
        reason = str(error.orig).strip().splitlines()[0] if error.orig else type(error).__name__
        raise SetupError(
            f"The ingest tables cannot be read through the connection {conn_id!r}: {reason}. "
            "Run `airflow db migrate` if they are missing; check host, password and GRANTs otherwise."
        ) from error
    except DBAPIError as error:
        raise SetupError(f"The database of the connection {conn_id!r} does not answer.") from error
    return SqlStore.on_engine(engine)


def session_store(session: Session) -> RunStore:
    """The run store on Airflow's own session, for the API server and the command line."""
    from airflow_provider_ingest.storage.sql_store import SqlStore

    return SqlStore.in_session(session)


def ingest_service(session: Session) -> IngestService:
    """The use cases on Airflow's own session; the caller commits."""
    from airflow_provider_ingest.launcher import AirflowLauncher
    from airflow_provider_ingest.service.requests import Limits
    from airflow_provider_ingest.service.service import IngestService
    from airflow_provider_ingest.storage.catalog import DagCatalog

    return IngestService(
        store=session_store(session),
        launcher=AirflowLauncher(session),
        catalog=DagCatalog(session),
        limits=Limits(starts=load_settings().starts_per_minute),
    )


def reconcile(session: Session) -> list[RunRecord]:
    """End the open runs that nobody works on any more, on Airflow's own session; the caller commits."""
    from datetime import timedelta

    from airflow_provider_ingest.launcher import AirflowLauncher
    from airflow_provider_ingest.service.reconciling import reconcile_open_runs

    lost_after = timedelta(minutes=load_settings().lost_after_minutes)
    return reconcile_open_runs(session_store(session), AirflowLauncher(session).state_of, lost_after=lost_after)


def target_for(config: IngestConfig) -> Target:
    """The table that receives the importer's rows.

    :raises SetupError: its connection is missing or is no database.
    """
    from airflow_provider_ingest.storage.connections import connection, database_url
    from airflow_provider_ingest.targets import open_target

    assert config.target is not None, "check() refuses an importer without a target"
    conn = connection(config.target.conn_id)
    if conn is None:
        raise SetupError(f"The target's Airflow connection {config.target.conn_id!r} is not there; create it.")
    return open_target(database_url(conn), config)


def source_hook(source: SourceSpec, run: RunRecord, place: Staging) -> SourceHook:
    """The hook that reads the run's file.

    :raises SourceError: the run has no file and the importer no default one.
    """
    settings = load_settings()
    options = source.options
    if run.retry_of is not None or source.type is SourceType.UPLOAD or run.options.get("staged"):
        from airflow_provider_ingest.hooks.upload import UploadHook

        if not run.payload:
            raise SourceError(
                "The importer reads uploads: start it with a file, by REST, the Ingest page or the command line."
            )
        return UploadHook(place.path(run.payload), run.original_filename or "upload")
    if source.type in (SourceType.FILESYSTEM, SourceType.JSON):
        from airflow_provider_ingest.hooks.filesystem import FilesystemHook
        from airflow_provider_ingest.hooks.json_file import JsonFileHook

        path = run.payload or options.get("path")
        if not path:
            raise SourceError("The importer has no default path: name the file as 'payload'.")
        kind = JsonFileHook if source.type is SourceType.JSON else FilesystemHook
        return kind(path, options.get("disk") or settings.default_disk, settings.allowed_paths)
    if source.type is SourceType.FTP:
        from airflow_provider_ingest.hooks.ftp import FtpHook

        return FtpHook(options["disk"], options["path"])
    if source.type is SourceType.SFTP:
        from airflow_provider_ingest.hooks.sftp import SftpHook

        return SftpHook(options["disk"], options["path"])
    if source.type is SourceType.URL:
        from airflow_provider_ingest.hooks.url import UrlHook

        return UrlHook(
            options["url"],
            conn_id=options.get("conn_id"),
            timeout=settings.url_timeout,
            max_redirects=settings.max_redirects,
            allowed_hosts=settings.allowed_url_hosts,
            allow_private=settings.allow_private_networks,
        )
    from airflow_provider_ingest.hooks.custom import CustomHook

    assert source.custom is not None, "a custom source always has its object"
    return CustomHook(source.custom)


def start_run(
    slug: str,
    payload: str | None = None,
    user: str | None = None,
    dry_run: bool = False,
    *,
    force: bool = False,
) -> IngestRun:
    """Start a run from a program and return it at once; its DAG run does the work.

    >>> run = start_run("customers", payload="incoming/customers.csv")  # doctest: +SKIP
    >>> run.id, run.status  # doctest: +SKIP
    (42, 'pending')

    Needs the metadata database, so it works in scripts and services beside Airflow. In a task use
    :class:`~airflow_provider_ingest.operators.trigger.IngestOperator`.

    :param payload: the path a source takes; for an importer of uploads a local file.
    :param user: the name that is recorded as starter.
    :param force: import a file again although the importer refuses duplicates.
    :raises RequestError: the start is refused.
    :raises SetupError: the metadata database cannot be reached from here.
    """
    from airflow import settings as airflow_settings
    from airflow.utils.session import create_session

    from airflow_provider_ingest.runs.summary import event_of
    from airflow_provider_ingest.service.requests import Caller

    if str(airflow_settings.SQL_ALCHEMY_CONN or "").startswith("airflow-db-not-allowed"):
        raise SetupError(
            "start_run() needs Airflow's metadata database, which tasks cannot reach: use IngestOperator there."
        )
    with create_session() as session:
        service = ingest_service(session)
        caller = Caller(name=user)
        if service.importer(slug)["source"]["type"] == SourceType.UPLOAD:
            run = _start_with_file(service, slug, payload, caller, dry_run=dry_run, force=force)
        else:
            run = service.trigger(slug, caller, payload=payload, dry_run=dry_run, force=force)
    return event_of(run)


def _start_with_file(
    service: IngestService, slug: str, path: str | None, caller: Caller, *, dry_run: bool, force: bool
) -> RunRecord:
    """Start with a local file, which is put into staging first and taken out again if the start is refused."""
    from airflow_provider_ingest.service.requests import StagedUpload

    service.check_upload(slug, caller)
    stored = stage_file(path)
    upload = StagedUpload(ref=stored.reference, name=stored.name, size=stored.size, sha256=stored.sha256)
    try:
        return service.start_upload(slug, upload, caller, dry_run=dry_run, force=force)
    except Exception:  # whatever refused the start, no run will ever read or prune the file by its own name
        staging().remove(stored.reference)
        raise


def stage_file(path: str | None) -> StoredFile:
    """Put a local file into staging as an upload.

    :raises SourceError: there is no such file.
    """
    if not path:
        raise SourceError("The importer reads uploads: name a local file.")
    try:
        with (
            Path(path).open("rb") as file,
            staging().receive(Path(path).name, max_bytes=load_settings().max_upload_bytes) as upload,
        ):
            while block := file.read(BLOCK):
                upload.write(block)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise SourceError(f"{path!r} cannot be read ({error.strerror}).") from error
    return upload.stored
