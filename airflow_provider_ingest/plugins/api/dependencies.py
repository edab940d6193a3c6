"""Who asks, whether they may, and the service on a session of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from urllib.parse import urlsplit

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep
from airflow.configuration import conf
from airflow.utils.session import create_session
from fastapi import Depends, Request

from airflow_provider_ingest import bootstrap
from airflow_provider_ingest.exceptions import ImporterNotFound, RunNotFound
from airflow_provider_ingest.plugins.api.problems import Forbidden, ForeignOrigin
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.service import Caller, IngestService

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def same_origin(request: Request) -> None:
    """Refuse a state-changing request of a foreign page, before any credential is looked at.

    Clients that are no browsers send neither header and pass.
    """
    if request.method in SAFE_METHODS:
        return
    origin = request.headers.get("origin")
    if origin and origin in conf.getlist("api", "access_control_allow_origins", fallback=[]):
        return
    site = request.headers.get("sec-fetch-site")  # browsers send it to https and localhost only
    own = (request.headers.get("host"), urlsplit(conf.get("api", "base_url", fallback="") or "").netloc)
    foreign = site not in ("same-origin", "none") if site else bool(origin) and urlsplit(origin).netloc not in own
    if foreign:
        raise ForeignOrigin("Requests from pages of another origin are refused.")


@contextmanager
def ingest() -> Iterator[IngestService]:
    """The service in a transaction that is committed before the answer is sent."""
    with create_session(scoped=False) as session:
        yield bootstrap.ingest_service(session)


class User:
    """The authenticated caller and what they may do: an importer is its DAG."""

    def __init__(self, user: GetUserDep) -> None:
        self._user: BaseUser = user

    @property
    def caller(self) -> Caller:
        """The caller for the service; the integer id only where the auth manager has one."""
        identity, name = str(self._user.get_id()), self._user.get_name()
        return Caller(name=name, id=int(identity) if identity.isdecimal() and identity != name else None)

    def may(self, method: Any, slug: str, entity: DagAccessEntity = DagAccessEntity.RUN) -> bool:
        """Whether the caller has this right on the importer's DAG."""
        details = DagDetails(id=f"ingest_{slug}")
        allowed = get_auth_manager().is_authorized_dag(
            method=method, access_entity=entity, details=details, user=self._user
        )
        return bool(allowed)

    def may_read_rows(self, slug: str) -> bool:
        """Whether the caller may see the importer's row data: the right to read task logs."""
        return self.may("GET", slug) and self.may("GET", slug, DagAccessEntity.TASK_LOGS)

    def check_importer(self, slug: str, method: Any = "GET") -> None:
        """Raise unless the caller has the right; an importer that may not even be read is not found."""
        if not self.may("GET", slug):
            raise ImporterNotFound(f"There is no importer {slug!r}.")
        self._check(method, slug)

    def check_run(self, run: RunRecord, method: Any = "GET") -> RunRecord:
        """The run, if the caller has the right on its importer; a run that may not be read is not found."""
        if not self.may("GET", run.importer):
            raise RunNotFound(f"There is no run {run.id}.")
        self._check(method, run.importer)
        return run

    def check_rows(self, run: RunRecord) -> None:
        """Raise unless the caller may see the run's row data."""
        if not self.may_read_rows(run.importer):
            raise Forbidden("Row data need the right to read the task logs of the importer's DAG.")

    def _check(self, method: Any, slug: str) -> None:
        if method != "GET" and not self.may(method, slug):
            raise Forbidden(f"You may not start, retry or cancel runs of the importer {slug!r}.")


CurrentUser = Annotated[User, Depends(User)]
GUARD = [Depends(same_origin), Depends(User)]
"""Dependencies of the whole app: no route without them."""
