"""What an Airflow connection of type http gives a URL source: how it proves who asks, and which authority it trusts."""

from __future__ import annotations

import base64
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_ingest.exceptions import SourceError

log = logging.getLogger(__name__)

NOT_HEADERS = frozenset(
    {
        "allow_redirects",
        "cert",
        "check_response",
        "headers",
        "max_redirects",
        "proxies",
        "proxy",
        "srv_lookup",
        "stream",
        "timeout",
        "trust_env",
        "verify",
        "verify_ssl",
    }
)
"""What an extra holds beside headers: options of Airflow's HTTP hook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAccess:
    """How the URL's own origin is asked; no other origin gets to see it.

    :param context: for HTTPS; ``None`` verifies certificates against the system's authorities.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    context: ssl.SSLContext | None = None


def access_by(conn_id: str) -> HttpAccess:
    """The access that a connection gives, read as Airflow's HTTP hook reads it.

    Login and password make basic authentication. Every key of the extra is a header, except ``verify`` (the file of
    an authority, or false), ``cert`` (a client's certificate, or a list of it and its key) and the hook's other
    options, which play no part here. Headers may also stand under ``headers``.

    :raises SourceError: there is no such connection, or a file that it names cannot be used.
    """
    conn = _connection(conn_id)
    extra = conn.extra_dejson
    headers = {str(name): str(value) for name, value in extra.items() if name not in NOT_HEADERS}
    headers |= {str(name): str(value) for name, value in (extra.get("headers") or {}).items()}
    if (conn.login or conn.password) and "authorization" not in map(str.lower, headers):
        headers["Authorization"] = basic(conn.login or "", conn.password or "")
    return HttpAccess(headers=headers, context=_context(conn_id, extra.get("verify", extra.get("verify_ssl")), extra))


def _connection(conn_id: str) -> Any:
    from airflow.sdk import Connection
    from airflow.sdk.exceptions import AirflowNotFoundException

    try:
        return Connection.get(conn_id)
    except AirflowNotFoundException as error:
        raise SourceError(f"The Airflow connection {conn_id!r} of the URL source is not there.") from error


def _context(conn_id: str, verify: Any, extra: Mapping[str, Any]) -> ssl.SSLContext | None:
    is_verified = str(verify).strip().lower() not in ("false", "0", "no")
    authority = None if verify is None or str(verify).strip().lower() in ("true", "1", "yes", "") else str(verify)
    certificate = extra.get("cert")
    if is_verified and authority is None and not certificate:
        return None
    try:
        context = ssl.create_default_context(cafile=authority if is_verified else None)
        if certificate:
            pair = [certificate] if isinstance(certificate, str) else list(certificate)
            context.load_cert_chain(*pair)
    except (OSError, TypeError) as error:
        raise SourceError(
            f"A certificate file that the connection {conn_id!r} names cannot be used ({type(error).__name__})."
        ) from error
    if not is_verified:
        log.warning("The connection %s says that certificates are not verified", conn_id)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def basic(user: str, password: str) -> str:
    """The value of an Authorization header."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
