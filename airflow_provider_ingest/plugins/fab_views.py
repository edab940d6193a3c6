"""Read-only tables of runs and logged rows in FAB's own pages, where FAB's auth manager runs.

Airflow mounts Flask-AppBuilder views of plugins under ``/pluginsv2``, in a Flask app that does not share the session of
FAB's login (its default keeps sessions in the database, and only the login's app reads them there). The views
therefore take the user from the token of Airflow's UI, as every other page of it does, so that nobody logs in twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode, urlsplit

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.base_auth_manager import COOKIE_NAME_JWT_TOKEN
from airflow.configuration import conf
from flask import Response, g, redirect, request, session, url_for
from flask_appbuilder import ModelView
from flask_appbuilder.models.filters import BaseFilter
from flask_appbuilder.models.sqla.interface import SQLAInterface
from jwt import InvalidTokenError
from markupsafe import Markup
from sqlalchemy import select
from sqlalchemy.orm.attributes import set_committed_value

from airflow_provider_ingest.fab import ACTION, RESOURCE
from airflow_provider_ingest.models import IngestRow, IngestRun
from airflow_provider_ingest.plugins.api.dependencies import User, ingest
from airflow_provider_ingest.storage.row_documents import named

if TYPE_CHECKING:
    from flask import Blueprint
    from werkzeug.wrappers import Response as AnyResponse

PAGE_SIZE = 50


def sign_in() -> AnyResponse | None:
    """Make the user of Airflow's token the user of this request; without a token to Airflow's login.

    Not left to FAB, which would send those who may not see the tables to a login of its own.
    """
    token = request.cookies.get(COOKIE_NAME_JWT_TOKEN)
    try:
        user = asyncio.run(get_auth_manager().get_user_from_token(token)) if token else None
    except InvalidTokenError:
        user = None
    if user is None:
        base = (conf.get("api", "base_url", fallback="") or "").rstrip("/")
        back = f"{base.removesuffix(urlsplit(base).path)}{request.script_root}{request.full_path}"
        return redirect(f"{base}/api/v2/auth/login?{urlencode({'next': back})}")
    if not get_auth_manager().is_authorized_custom_view(method="GET", resource_name=RESOURCE, user=user):
        return Response(
            f"These tables need {ACTION} on {RESOURCE!r}. An administrator gives it to your role with "
            "'airflow ingest fab-permissions --role ROLE'.",
            status=403,
            mimetype="text/plain",
        )
    g.user = g._login_user = user  # where FAB and Flask-Login look for the user of a request
    return None


def keep_session(response: Response) -> Response:
    """Write no session: the cookie has the name of FAB's own, and who is logged in there would be logged out."""
    session.modified = False
    return response


def end_session(error: BaseException | None) -> None:
    """Give the database connection back: nothing else does so for views below ``/pluginsv2``."""
    from airflow import settings

    settings.Session.remove()


def readable(*, rows: bool) -> list[str]:
    """The importers whose runs, or rows, the user of this request may see."""
    user = User(g.user)
    may = user.may_read_rows if rows else lambda slug: user.may("GET", slug)
    with ingest() as service:
        return [slug for slug in service.known_importers() if may(slug)]


class OfReadableImporters(BaseFilter):  # type: ignore[misc]  # Flask-AppBuilder is untyped to mypy here
    """Only what belongs to importers that the user may read."""

    name = "of importers that may be read"
    arg_name = "readable"

    def apply(self, query: Any, value: Any) -> Any:
        """Narrow the query of runs, or of rows."""
        if self.model is IngestRun:
            return query.filter(IngestRun.importer.in_(readable(rows=False)))
        runs = select(IngestRun.id).where(IngestRun.importer.in_(readable(rows=True)))
        return query.filter(IngestRow.run_id.in_(runs))


class StatusView(ModelView):  # type: ignore[misc]  # Flask-AppBuilder is untyped to mypy here
    """A list that nobody can change, for those with ``can_read`` on :data:`RESOURCE`.

    The resource is one of our own: FAB takes away every permission on a view's resource that the view does not know.
    """

    class_permission_name = RESOURCE
    method_permission_name: ClassVar[dict[str, str]] = {"list": "read"}
    include_route_methods: ClassVar[set[str]] = {"list"}
    page_size = PAGE_SIZE

    def create_blueprint(self, *args: Any, **kwargs: Any) -> Blueprint:
        """The view's blueprint, behind Airflow's own login."""
        blueprint: Blueprint = super().create_blueprint(*args, **kwargs)
        blueprint.before_request(sign_in)
        blueprint.after_request(keep_session)
        blueprint.teardown_request(end_session)
        return blueprint


def counts_text(summary: Mapping[str, Any] | None) -> str:
    """The numbers of a run's summary."""
    names = ("created", "updated", "skipped", "failed", "unprocessed")
    return ", ".join(f"{summary[name]:,} {name}" for name in names if summary.get(name)) if summary else ""


def errors_text(errors: Mapping[str, Any] | None) -> str:
    """What is wrong with a row: its general message, and those of its fields.

    >>> errors_text({"message": "The given data was invalid.", "validation": {"sku": ["Too long.", "Taken."]}})
    'The given data was invalid. sku: Too long. Taken.'
    """
    if not errors:
        return ""
    fields = (f"{name}: {' '.join(reasons)}" for name, reasons in (errors.get("validation") or {}).items())
    return " ".join([str(errors["message"]), *fields])


def time_text(moment: datetime | None) -> str:
    """A time, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else ""


def rows_link(run_id: int) -> Markup:
    """The run's id, leading to its logged rows."""
    return Markup('<a href="{}">{}</a>').format(url_for("IngestRowView.list", _flt_0_run_id=run_id), run_id)


def runs_link(run_id: int) -> Markup:
    """A row's run, leading to its line among the runs."""
    return Markup('<a href="{}">{}</a>').format(url_for("IngestRunView.list", _flt_0_id=run_id), run_id)


class IngestRunView(StatusView):
    """All runs, newest first."""

    route_base = "/ingest-runs"
    datamodel = SQLAInterface(IngestRun)
    list_title = "Ingest runs"
    base_filters: ClassVar[list[list[Any]]] = [["importer", OfReadableImporters, None]]
    base_order = ("id", "desc")
    list_columns: ClassVar[list[str]] = [
        "id",
        "importer",
        "status",
        "is_dry_run",
        "original_filename",
        "user_name",
        "total",
        "summary",
        "started_at",
        "completed_at",
    ]
    order_columns: ClassVar[list[str]] = ["id", "importer", "status", "total", "started_at", "completed_at"]
    search_columns: ClassVar[list[str]] = ["id", "importer", "status", "user_name", "original_filename", "is_dry_run"]
    label_columns: ClassVar[dict[str, str]] = {
        "is_dry_run": "Dry run",
        "original_filename": "File",
        "user_name": "User",
    }
    formatters_columns: ClassVar[dict[str, Any]] = {
        "id": rows_link,
        "summary": counts_text,
        "started_at": time_text,
        "completed_at": time_text,
    }


class NamedRows(SQLAInterface):  # type: ignore[misc]  # Flask-AppBuilder is untyped to mypy here
    """Logged rows, each with the names of its fields."""

    def query(self, *args: Any, **kwargs: Any) -> tuple[int, list[IngestRow]]:
        """A page of rows; the names of all their fields come by one query more."""
        count, rows = super().query(*args, **kwargs)
        runs = select(IngestRun.id, IngestRun.fields).where(IngestRun.id.in_({row.run_id for row in rows}))
        fields = dict(self.session.execute(runs).all())
        for row in rows:
            set_committed_value(row, "data", named(row.data, fields.get(row.run_id) or ()))
        return count, rows


class IngestRowView(StatusView):
    """Logged rows, by run and row number."""

    route_base = "/ingest-rows"
    datamodel = NamedRows(IngestRow)
    list_title = "Logged rows"
    base_filters: ClassVar[list[list[Any]]] = [["run_id", OfReadableImporters, None]]
    base_order = ("run_id", "desc")
    list_columns: ClassVar[list[str]] = ["run_id", "row_number", "line_number", "status", "errors", "data"]
    formatters_columns: ClassVar[dict[str, Any]] = {"run_id": runs_link, "errors": errors_text}
    order_columns: ClassVar[list[str]] = ["run_id", "row_number", "status"]
    search_columns: ClassVar[list[str]] = ["run_id", "row_number", "status", "message"]


def status_views() -> list[dict[str, Any]]:
    """What the plugin registers: without names, so without entries in FAB's own menu."""
    return [{"view": IngestRunView()}, {"view": IngestRowView()}]
