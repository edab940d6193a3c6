"""Looking for what keeps single importers from working."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_provider_ingest.cli.entry import ingest
from airflow_provider_ingest.cli.importer_files import importer_files
from airflow_provider_ingest.cli.target_tables import NoAnswer, check_target
from airflow_provider_ingest.exceptions import IngestError
from airflow_provider_ingest.launcher import shut_pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at; ``mend`` is empty where all is well."""

    check: str
    state: str
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What was found out about all importers.

    :param files: the files that define each.
    :param pools: the slots of each of Airflow's pools.
    :param silent: what was said of connections whose database did not answer: nobody waits for one again.
    """

    files: Mapping[str, Sequence[str]]
    pools: Mapping[str, int]
    silent: dict[str, str]


def connection(conn_id: str) -> Any | None:
    """The Airflow connection out of environment, secrets backends or metadata database."""
    from airflow.exceptions import AirflowNotFoundException
    from airflow.models import Connection
    from sqlalchemy.exc import DBAPIError

    try:
        return Connection.get_connection_from_secrets(conn_id)
    except (AirflowNotFoundException, DBAPIError):
        return None


def importers() -> Iterator[Finding]:
    """What keeps single importers from working, and those that are ready."""
    with ingest() as service:
        manifests = service.importers()
    if not manifests:
        yield Finding(
            check="importers",
            state="none",
            mend="No DAG has an importer: call ingest_dag() in a DAG file, and let the DAG processor run; "
            "'airflow dags list-import-errors' shows files that it cannot read.",
        )
    yield from _unreadable_files([manifest["dag_id"] for manifest in manifests])
    looked = Surroundings(files=importer_files(), pools=_pools(), silent={})
    for manifest in manifests:
        yield _importer(manifest, looked)


def _importer(manifest: Mapping[str, Any], looked: Surroundings) -> Finding:
    """One importer."""
    slug, conn_id = manifest["slug"], manifest["target"]["conn_id"]
    check = f"importer {slug}"
    if len(files := looked.files.get(slug, ())) > 1:
        mend = f"{' and '.join(files)} define it, and Airflow takes what it has read last: give each its own slug."
        return Finding(check=check, state="several files define it", mend=mend)
    if manifest["dag"]["is_paused"]:
        return Finding(check=check, state="its DAG is paused", mend=f"airflow dags unpause {manifest['dag_id']}")
    if shut := [name for name in manifest["dag"].get("pools", ()) if not looked.pools.get(name)]:
        mend = shut_pool(shut[0], looked.pools.get(shut[0]))
        return Finding(check=check, state="nothing runs in its pool", mend=mend)
    target = connection(conn_id)
    if target is None:
        mend = f"Create the Airflow connection {conn_id!r} of its target database."
        return Finding(check=check, state="its target's connection is not there", mend=mend)
    if conn_id not in looked.silent:
        try:
            check_target(manifest, target)
            return Finding(check=check, state="ready")
        except NoAnswer as error:
            looked.silent[conn_id] = str(error)
        except IngestError as error:
            return Finding(check=check, state="no row could be written", mend=str(error))
    return Finding(check=check, state="its target does not answer", mend=looked.silent[conn_id])


def _unreadable_files(dag_ids: Sequence[str]) -> Iterator[Finding]:
    """DAG files that Airflow cannot read and that hold importers, by their error or by what they held before."""
    from airflow.models.dag import DagModel
    from airflow.models.errors import ParseImportError
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session(scoped=False) as session:
        errors = session.execute(
            select(ParseImportError.bundle_name, ParseImportError.filename, ParseImportError.stacktrace)
        ).all()
        place = select(DagModel.bundle_name, DagModel.relative_fileloc).where(DagModel.dag_id.in_(dag_ids))
        known = {tuple(row) for row in session.execute(place)} if errors else set()
    for bundle, file, trace in errors:
        if "airflow_provider_ingest" in (trace or "") or (bundle, file) in known:
            reason = ((trace or "").strip().splitlines() or ["unknown"])[-1].removeprefix(
                "airflow_provider_ingest.exceptions."
            )
            yield Finding(check=f"file {file}", state="Airflow cannot read it", mend=f"Mend the file: {reason}")


def _pools() -> dict[str, int]:
    """The slots of each of Airflow's pools."""
    from airflow.models.pool import Pool
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session(scoped=False) as session:
        return {row.pool: row.slots for row in session.execute(select(Pool.pool, Pool.slots))}
