"""FTP: a file of an FTP server, plain or over TLS."""

from __future__ import annotations

import ftplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.base import BLOCK, SourceHook, Stream
from airflow_provider_ingest.hooks.disk import Disk, below_root

TIMEOUT = 60.0
"""Seconds without an answer or a byte, unless the connection's extra has a ``timeout``."""


class _OneSession(ftplib.FTP_TLS):
    """Data connections go on with the session of the commands: many servers refuse others, which might be a thief's."""

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        data, size = ftplib.FTP.ntransfercmd(self, cmd, rest)  # noqa: S321
        session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
        return self.context.wrap_socket(data, server_hostname=self.host, session=session), size


class FtpHook(SourceHook):
    """Reads one file of a disk whose Airflow connection is of type ftp.

    Of the connection's extra it takes ``passive`` (true), ``encoding``, ``timeout``, ``path`` (the root), ``tls``
    (false; true encrypts commands and data) and ``ca_file`` (the authority that signed the server's certificate).

    :param disk: a disk's name.
    :param path: below the disk's root.
    """

    def __init__(self, disk: str, path: str) -> None:
        self.disk = disk
        self.path = path

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """Log in and begin the transfer."""
        disk = Disk.parse(self.disk)
        connection = disk.connection()
        path = below_root(disk.root or connection.extra_dejson.get("path") or "", self.path)
        server = self._login(disk, connection)
        try:
            size = self._size(server, path)
            blocks = self._blocks(server, path)
            yield Stream(name=path.rsplit("/", 1)[-1], blocks=blocks, size=size)
        finally:
            server.close()

    def _login(self, disk: Disk, connection: Any) -> ftplib.FTP:
        extra = connection.extra_dejson
        timeout = float(extra.get("timeout") or TIMEOUT)
        encoding = extra.get("encoding") or "utf-8"
        is_secure = connection.conn_type == "ftps" or _is_true(extra.get("tls"), default=False)
        server: ftplib.FTP
        if is_secure:
            context = ssl.create_default_context(cafile=extra.get("ca_file"))
            server = _OneSession(timeout=timeout, encoding=encoding, context=context)
        else:
            # Plain FTP is what the connection asks for.
            server = ftplib.FTP(timeout=timeout, encoding=encoding)  # noqa: S321
        try:
            server.connect(connection.host or "", connection.port or ftplib.FTP_PORT)
            server.login(connection.login or "", connection.password or "")
            if isinstance(server, ftplib.FTP_TLS):
                server.prot_p()
            server.set_pasv(_is_true(extra.get("passive"), default=True))
            server.voidcmd("TYPE I")
        except ftplib.error_perm as error:
            server.close()
            raise SourceError(f"The FTP server of {disk.conn_id!r} refuses the login: {_reply(error)}") from error
        except ssl.SSLCertVerificationError as error:
            server.close()
            raise SourceError(
                f"The certificate of the FTP server of {disk.conn_id!r} is not valid: {error.verify_message}."
            ) from error
        except (OSError, EOFError, ftplib.Error) as error:
            server.close()
            raise SourceError(
                f"The FTP server of {disk.conn_id!r} does not answer ({type(error).__name__}).", retryable=True
            ) from error
        return server

    def _size(self, server: ftplib.FTP, path: str) -> int | None:
        """The file's size; ``None`` from servers that do not tell sizes."""
        try:
            return server.size(path)
        except ftplib.error_perm as error:
            if str(error).startswith("550"):
                raise SourceError(f"{self.path!r} is not there, or may not be read: {_reply(error)}") from error
            return None
        except (OSError, EOFError, ftplib.Error) as error:
            raise SourceError(
                f"{self.path!r}: the server broke off ({type(error).__name__}).", retryable=True
            ) from error

    def _blocks(self, server: ftplib.FTP, path: str) -> Iterator[bytes]:
        """The file; the server has to say at the end that it was sent completely, and nothing of a change meanwhile."""
        try:
            before = self._changed_at(server, path)
            with server.transfercmd(f"RETR {path}") as data:
                while block := data.recv(BLOCK):
                    yield block
                if isinstance(data, ssl.SSLSocket):
                    data.unwrap()
            server.voidresp()
            after = self._changed_at(server, path)
        except ftplib.error_perm as error:
            raise SourceError(f"{self.path!r} cannot be read: {_reply(error)}") from error
        except (OSError, EOFError, ftplib.Error) as error:
            raise SourceError(
                f"{self.path!r}: the transfer broke off ({type(error).__name__}).", retryable=True
            ) from error
        if before != after:
            raise SourceError(f"{self.path!r} was changed while it was read.", retryable=True)

    def _changed_at(self, server: ftplib.FTP, path: str) -> str | None:
        """When the file was written last; ``None`` from servers that do not tell."""
        try:
            return server.sendcmd(f"MDTM {path}")
        except ftplib.error_perm:
            return None


def _is_true(value: Any, *, default: bool) -> bool:
    """A flag of a connection's extra; from a URI it comes as text."""
    return default if value is None else str(value).strip().lower() not in ("false", "0", "no", "off", "")


def _reply(error: Exception) -> str:
    """The server's own words, one line and not too many."""
    return " ".join(str(error).split())[:200]
