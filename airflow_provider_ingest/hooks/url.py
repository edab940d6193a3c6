"""URL: a file behind an http or https address, streamed, resumed where possible, never taken for whole when cut."""

from __future__ import annotations

import http.client
import logging
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Timer
from urllib.parse import SplitResult, unquote, urljoin

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.addresses import NetworkRules, connect, credentials_in, may_know, origin_of
from airflow_provider_ingest.hooks.base import BLOCK, SourceHook, Stream
from airflow_provider_ingest.hooks.content_coding import decoded
from airflow_provider_ingest.hooks.http_connection import HttpAccess, access_by, basic

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

    Credentials come from the Airflow connection ``conn_id`` of type http (see :func:`access_by`) or from the URL
    itself; they go to the URL's own origin and to no other that it redirects to.

    :param timeout: seconds without an answer, or without a byte, after which a request is given up; the head of an
        answer may take five times as long.
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
            blocks = decoded(self._received(transfer), coding)
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
        access = self._access()
        origin = origin_of(self.rules.check_url(self.url))
        for _ in range(self.max_redirects + 1):
            headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "airflow-provider-ingest", **more}
            is_own = may_know(origin, origin_of(parts))
            if is_own:
                headers.update(access.headers)
            context = (access.context if is_own else None) or self.context
            connection = connect(parts, self.rules, self.timeout, context)
            response = self._answer(connection, parts, headers)
            if response.status in _REDIRECTS:
                location = response.headers.get("Location")
                connection.close()
                if not location:
                    raise SourceError(f"{_shown(parts)} redirects to nowhere.")
                parts = self.rules.check_url(_joined(parts, location))
                continue
            if response.status != (206 if "Range" in more and response.status == 206 else 200):
                connection.close()
                raise _refusal(parts, response.status)
            return self._transfer(parts, response, connection)
        raise SourceError(f"{_shown(parts)} redirects more than {self.max_redirects} times.")

    def _answer(
        self, connection: http.client.HTTPConnection, parts: SplitResult, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """Send one request and wait for the head of its answer, which a server may not send drop by drop for ever."""
        hung_up = Event()
        given_up = Timer(5 * self.timeout, _hang_up, [connection, hung_up])
        given_up.daemon = True
        given_up.start()
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("GET", _ascii(target.encode("utf-8", "replace")), headers=dict(headers))
            response = connection.getresponse()
            if hung_up.is_set():  # a head that ends anywhere would count as complete
                raise TimeoutError
            return response
        except ssl.SSLCertVerificationError as error:
            connection.close()
            raise SourceError(f"The certificate of {parts.hostname} is not valid: {error.verify_message}.") from error
        except _TROUBLE as error:
            connection.close()
            raise SourceError(f"{parts.hostname} does not answer ({type(error).__name__}).", retryable=True) from error
        except ValueError:
            connection.close()
            raise SourceError("A header of the URL source's connection cannot be sent.") from None
        finally:
            given_up.cancel()

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
            expected=int(length) if length and length.isascii() and length.isdigit() else None,
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
                is_told = transfer.expected is not None or transfer.response.chunked
                if transfer.received >= (transfer.expected or 0) and (transfer.received or is_told):
                    return  # an answer cut within its head has neither a body nor its size
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
        try:
            again = self._request(headers, at=transfer.parts)
        except SourceError as error:
            if error.retryable:
                raise
            raise _not_resumed(transfer) from error  # whatever it refuses now, the file was there at first
        found = re.match(r"bytes (\d+)-(\d+)/(\d+|\*)", again.response.headers.get("Content-Range") or "")
        total = (int(found[3]) if found[3] != "*" else int(found[2]) + 1) if found else None
        transfer.expected = total if transfer.expected is None else transfer.expected
        if (
            again.response.status != 206
            or not found
            or int(found[1]) != transfer.received
            or total != transfer.expected
        ):
            again.close()
            raise _not_resumed(transfer)
        transfer.response, transfer.connection = again.response, again.connection

    def _access(self) -> HttpAccess:
        """How the URL's own origin is asked."""
        if self.conn_id is not None:
            return access_by(self.conn_id)
        own = credentials_in(self.rules.check_url(self.url))
        return HttpAccess(headers={"Authorization": basic(*own)} if own else {})


def _refusal(parts: SplitResult, status: int) -> SourceError:
    reason = http.client.responses.get(status, "no reason given")
    return SourceError(f"{_shown(parts)} answers {status} {reason}.", retryable=status in _PASSING)


def _shown(parts: SplitResult) -> str:
    """The URL without credentials, query and fragment: tokens stand there."""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def _joined(parts: SplitResult, location: str) -> str:
    """The URL that a redirect leads to; a location with bytes beyond ASCII means these bytes."""
    try:
        return urljoin(parts._replace(fragment="").geturl(), _ascii(location.strip().encode("latin-1", "replace")))
    except ValueError as error:
        raise SourceError(f"{_shown(parts)} redirects to a malformed URL.") from error


def _ascii(text: bytes) -> str:
    """Text of an URL with what is not ASCII as percent escapes."""
    return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in text)


def _hang_up(connection: http.client.HTTPConnection, hung_up: Event) -> None:
    """Wake up whoever waits for this connection."""
    hung_up.set()
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _not_resumed(transfer: Transfer) -> SourceError:
    return SourceError(
        f"{_shown(transfer.parts)}: the transfer broke off after {transfer.received:,} bytes and the server "
        "does not resume it.",
        retryable=True,
    )


def _file_name(response: http.client.HTTPResponse, parts: SplitResult) -> str:
    """What the server calls the file, else the last part of the path."""
    named = response.headers.get_filename()
    return (named or unquote(parts.path)).rstrip("/").rsplit("/", 1)[-1] or "download"
