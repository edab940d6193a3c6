"""From exceptions to RFC 9457 problem documents: the only place where the API decides what an error looks like."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from airflow_provider_ingest.exceptions import InvalidParameter, RequestError, SetupError, TooManyStarts

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

CODES = {
    400: "bad_request",
    401: "not_authenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "upload_too_large",
    415: "unsupported_file",
    422: "invalid_parameter",
    500: "internal_error",
    503: "not_available",
}
"""The code of a problem that no :class:`IngestError` stands behind."""

NOT_AVAILABLE = "The ingest tables or the staging storage cannot be reached; try again later or ask an administrator."
INTERNAL = "The request could not be answered because of an error of the server; its log has the details."


class Forbidden(RequestError):
    """The caller may not do this."""

    status = 403
    code = "forbidden"


class ForeignOrigin(RequestError):
    """A page of another site sent a state-changing request."""

    status = 403
    code = "foreign_origin"


def problem(
    status: int, detail: str, code: str | None = None, headers: Mapping[str, str] | None = None, **members: Any
) -> JSONResponse:
    """A problem document."""
    document = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code or CODES.get(status, "error"),
        **members,
    }
    return JSONResponse(document, status_code=status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def refused(request: Request, error: RequestError) -> JSONResponse:
    """A refusal by the service."""
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, TooManyStarts) else None
    members = {"errors": list(error.errors)} if isinstance(error, InvalidParameter) else {}
    return problem(error.status, str(error), error.code, headers, **members)


def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
    """Parameters that are not what the schema says."""
    return problem(422, "The request has malformed parameters.", errors=validation_errors(error.errors()))


def validation_errors(errors: Any) -> list[dict[str, str]]:
    """``{"field", "message"}`` of each error, without the values that were sent."""
    found = []
    for error in errors:
        location = [str(part) for part in error["loc"] if part not in ("query", "path", "body", "header")]
        message = "A JSON object is expected." if error["type"] == "model_type" else str(error["msg"])
        found.append({"field": ".".join(location) or "body", "message": message})
    return found


def http_error(request: Request, error: HTTPException) -> JSONResponse:
    """What the framework or Airflow's authentication refuses."""
    # A right that is missing is a Forbidden; what Airflow calls forbidden here is a token that is none.
    status = 401 if error.status_code == 403 else error.status_code
    headers = dict(error.headers or {})
    if status == 401:
        headers.setdefault("WWW-Authenticate", "Bearer")
    return problem(status, str(error.detail), None, headers)


def cut_off(request: Request, error: Exception) -> JSONResponse:
    """The client went away in the middle of its body; nobody reads the answer."""
    return problem(400, "The body ends before its announced length.")


def not_available(request: Request, error: Exception) -> JSONResponse:
    """Tables or staging that cannot be reached; the reason goes to the log alone."""
    log.error("Ingest API: %s %s is not available", request.method, request.url.path, exc_info=error)
    return problem(503, NOT_AVAILABLE, headers={"Retry-After": "30"})


def internal_error(request: Request, error: Exception) -> JSONResponse:
    """Anything else: the server logs the stack, the client learns nothing of it."""
    return problem(500, INTERNAL)


def install(app: FastAPI) -> None:
    """Make every error of the app a problem document."""
    handlers: dict[Any, Any] = {
        RequestError: refused,
        RequestValidationError: malformed,
        HTTPException: http_error,
        ClientDisconnect: cut_off,
        SetupError: not_available,
        OperationalError: not_available,
        ProgrammingError: not_available,
        InterfaceError: not_available,
        PoolTimeout: not_available,
        OSError: not_available,
        Exception: internal_error,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
