"""URL: a file behind an http or https address, streamed, resumed where possible, never taken for whole when cut."""

from __future__ import annotations

import base64
import http.client
import logging
import re
import ssl
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.addresses import NetworkRules, connect, credentials_in
from airflow_provider_ingest.hooks.base import BLOCK, SourceHook, Stream

log = logging.getLogger(__name__)

LONGEST = 6 * 3600
"""Seconds that one transfer may take in all: a server that drips does not hold a worker for ever."""

PAUSES = (0.5, 2.0, 5.0)
"""Seconds before each further request after a failure that may pass."""

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TROUBLE = (OSError, http.client.HTTPException, ssl.SSLError)


@dataclass
class Transfer:
    """One file on its way: where it really is, how it is named, how far it came."""

    parts: SplitResult
    response: http.client.HTTPResponse
    connection: http.client.HTTPConnection
    validator: str | None = None
    received: int = 0
    """Bytes of the body as the server sends it, over all requests."""

    expected: int | None = None

    def close(self) -> None:
        """Let go of the connection."""
        self.response.close()
        self.connection.close()


class UrlHook(SourceHook):
    """Reads the file behind an address.

    Credentials come from the Airflow connection ``conn_id`` of type http (login and password, and headers in its
    extra) or from the URL itself; they go to the URL's own origin and to no other that it redirects to.

    :param timeout: seconds without an answer, or without a byte, after which a request is given up.
    :param context: for HTTPS; by default certificates are verified against the system's authorities.
    """

    def __init__(
        self,
        url: str,
        *,
        conn_id: str | None = None,
        timeout: float = 60.0,
        max_redirects: int = 5,
        allowed_hosts: tuple[str, ...] = (),
        allow_private: bool = False,
        context: ssl.SSLContext | None = None,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self.url = url
        self.conn_id = conn_id
        self.timeout = timeout
        self.max_redirects = max_redirects
        self.rules = NetworkRules(allowed_hosts=allowed_hosts, allow_private=allow_private)
        self.context = context
        self.pauses = pauses

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """Follow redirects to the file and begin to read it."""
        transfer = self._begin()
        try:
            response = transfer.response
            facts = {
                "url": _shown(transfer.parts),
                "content_type": response.headers.get("Content-Type"),
                "etag": response.headers.get("ETag"),
                "last_modified": response.headers.get("Last-Modified"),
            }
            coding = (response.headers.get("Content-Encoding") or "identity").lower().strip()
            blocks = _decoded(self._received(transfer), coding)
            name = _file_name(response, transfer.parts)
            yield Stream(name=name, blocks=blocks, facts={key: value for key, value in facts.items() if value})
        finally:
            transfer.close()

    def _begin(self) -> Transfer:
        """The first good answer; failures that may pass are tried again."""
        for pause in (*self.pauses, None):
            try:
                return self._request({})
            except SourceError as error:
                if not error.retryable or pause is None:
                    raise
                log.info("%s Trying again in %s s", error, pause)
                time.sleep(pause)
        raise AssertionError("the last round raises or returns")

    def _request(self, more: Mapping[str, str], at: SplitResult | None = None) -> Transfer:
        """Send the request and follow redirects, each target checked anew."""
        parts = at or self.rules.check_url(self.url)
        secret = self._credentials()
        origin = _origin(self.rules.check_url(self.url))
        for _ in range(self.max_redirects + 1):
            headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "airflow-provider-ingest", **more}
            if _origin(parts) == origin:
                headers.update(secret)
            connection = connect(parts, self.rules, self.timeout, self.context)
            try:
                target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request("GET", target, headers=headers)
                response = connection.getresponse()
            except ssl.SSLCertVerificationError as error:
                connection.close()
                raise SourceError(
                    f"The certificate of {parts.hostname} is not valid: {error.verify_message}."
                ) from error
            except _TROUBLE as error:
                connection.close()
                raise SourceError(
                    f"{parts.hostname} does not answer ({type(error).__name__}).", retryable=True
                ) from error
            if response.status in _REDIRECTS:
                location = response.headers.get("Location")
                connection.close()
                if not location:
                    raise SourceError(f"{_shown(parts)} redirects to nowhere.")
                parts = self.rules.check_url(urljoin(parts._replace(fragment="").geturl(), location))
                continue
            if response.status != (206 if "Range" in more and response.status == 206 else 200):
                connection.close()
                raise _refusal(parts, response.status)
            return self._transfer(parts, response, connection)
        raise SourceError(f"{_shown(parts)} redirects more than {self.max_redirects} times.")

    def _transfer(
        self, parts: SplitResult, response: http.client.HTTPResponse, connection: http.client.HTTPConnection
    ) -> Transfer:
        length = response.headers.get("Content-Length")
        etag = response.headers.get("ETag")
        strong = etag if etag and not etag.startswith("W/") else None
        return Transfer(
            parts=parts,
            response=response,
            connection=connection,
            validator=strong or response.headers.get("Last-Modified"),
            expected=int(length) if length and length.isdigit() else None,
        )

    def _received(self, transfer: Transfer) -> Iterator[bytes]:
        """The body as it is sent; where the connection breaks off it is resumed, or the transfer fails."""
        pauses = iter(self.pauses)
        end = time.monotonic() + LONGEST
        while True:
            try:
                while block := transfer.response.read1(BLOCK):
                    if time.monotonic() > end:
                        raise SourceError(f"{_shown(transfer.parts)} was still not through after {LONGEST:,} seconds.")
                    transfer.received += len(block)
                    yield block
                if transfer.expected is None or transfer.received >= transfer.expected:
                    return
                problem = "the connection was closed"
            except _TROUBLE as error:
                problem = type(error).__name__
            pause = next(pauses, None)
            if pause is None or transfer.validator is None:
                raise SourceError(
                    f"{_shown(transfer.parts)}: the transfer broke off after {transfer.received:,} bytes ({problem}) "
                    "and cannot be resumed.",
                    retryable=True,
                )
            time.sleep(pause)
            self._resume(transfer)

    def _resume(self, transfer: Transfer) -> None:
        """Ask for the rest of the very same version of the file."""
        transfer.close()
        log.info("Resuming after %s bytes", f"{transfer.received:,}")
        headers = {"Range": f"bytes={transfer.received}-", "If-Range": str(transfer.validator)}
        again = self._request(headers, at=transfer.parts)
        found = re.match(r"bytes (\d+)-", again.response.headers.get("Content-Range") or "")
        if again.response.status != 206 or not found or int(found[1]) != transfer.received:
            again.close()
            raise SourceError(
                f"{_shown(transfer.parts)}: the transfer broke off after {transfer.received:,} bytes and the server "
                "does not resume it.",
                retryable=True,
            )
        transfer.response, transfer.connection = again.response, again.connection

    def _credentials(self) -> dict[str, str]:
        """The headers that prove who asks."""
        own = credentials_in(self.rules.check_url(self.url))
        if self.conn_id is None:
            return {"Authorization": _basic(*own)} if own else {}
        conn = _connection(self.conn_id)
        headers = {str(name): str(value) for name, value in (conn.extra_dejson.get("headers") or {}).items()}
        if conn.login or conn.password:
            headers.setdefault("Authorization", _basic(conn.login or "", conn.password or ""))
        return headers


def _connection(conn_id: str) -> Any:
    from airflow.sdk import Connection
    from airflow.sdk.exceptions import AirflowNotFoundException

    try:
        return Connection.get(conn_id)
    except AirflowNotFoundException as error:
        raise SourceError(f"The Airflow connection {conn_id!r} of the URL source is not there.") from error


def _decoded(blocks: Iterator[bytes], coding: str) -> Iterator[bytes]:
    """The file itself, where the server packed it only for the way; a packed body that ends early is refused."""
    if coding in ("identity", ""):
        yield from blocks
        return
    if coding not in ("gzip", "x-gzip"):
        raise SourceError(f"The server sends the file packed as {coding!r}, which was not asked for.")
    inflater = zlib.decompressobj(31)
    is_begun = False
    for block in blocks:
        data = block
        while data:
            if inflater.eof:  # several packed pieces may follow each other
                inflater = zlib.decompressobj(31)
            try:
                piece = inflater.decompress(data, BLOCK)
            except zlib.error as error:
                raise SourceError("The packed file is damaged.", retryable=True) from error
            is_begun = True
            yield piece
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if is_begun and not inflater.eof:
        raise SourceError("The packed file ends before its end.", retryable=True)


def _refusal(parts: SplitResult, status: int) -> SourceError:
    reason = http.client.responses.get(status, "no reason given")
    return SourceError(f"{_shown(parts)} answers {status} {reason}.", retryable=status in _PASSING)


def _shown(parts: SplitResult) -> str:
    """The URL without credentials, query and fragment: tokens stand there."""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _file_name(response: http.client.HTTPResponse, parts: SplitResult) -> str:
    """What the server calls the file, else the last part of the path."""
    named = response.headers.get_filename()
    return (named or unquote(parts.path)).rstrip("/").rsplit("/", 1)[-1] or "download"
