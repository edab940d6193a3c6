"""SFTP: a file of an SSH server."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.base import BLOCK, SourceHook, Stream
from airflow_provider_ingest.hooks.disk import Disk, below_root

REQUESTS, REQUEST_BYTES = 128, 32 << 10
"""Read requests that are sent together and what each asks for: without them each block waits for a round trip.
Paramiko's own way of asking for the whole file keeps all that came and was not yet read, however large that is."""


class SftpHook(SourceHook):
    """Reads one file of a disk whose Airflow connection is of type sftp (or ssh).

    Everything is as in Airflow's SFTP hook: password, ``key_file`` or ``private_key``, and the host key, which is
    compared with ``host_key`` of the connection's extra or the worker's known hosts; an unknown one is refused unless
    the extra says ``no_host_key_check``. ``path`` in the extra is the disk's root.

    :param disk: a disk's name.
    :param path: below the disk's root.
    """

    def __init__(self, disk: str, path: str) -> None:
        self.disk = disk
        self.path = path

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """Connect and open the file."""
        disk = Disk.parse(self.disk)
        root = disk.root or disk.connection().extra_dejson.get("path") or ""
        path = below_root(root, self.path)
        client = self._connect(disk)
        try:
            file, size = self._open(client, path, root)
            with file:
                yield Stream(name=path.rsplit("/", 1)[-1], blocks=self._blocks(file, size or 0), size=size)
        finally:
            client.close()

    def _open(self, client: Any, path: str, root: str) -> tuple[Any, int | None]:
        """The opened file and its size; a symbolic link that leads out of the root is refused."""
        import paramiko

        try:
            sftp = client.open_sftp()
            if root and not f"{sftp.normalize(path)}/".startswith(sftp.normalize(root).rstrip("/") + "/"):
                raise SourceError(f"{self.path!r} leads out of the disk's root {root!r}.")
            facts = sftp.stat(path)
            if not stat.S_ISREG(facts.st_mode or stat.S_IFREG):
                raise SourceError(f"{self.path!r} is no ordinary file.")
            file = sftp.open(path, "rb")
        except FileNotFoundError as error:
            raise SourceError(f"{self.path!r} is not there.") from error
        except PermissionError as error:
            raise SourceError(f"{self.path!r} may not be read with this login.") from error
        except (OSError, EOFError, paramiko.SSHException) as error:
            raise SourceError(
                f"{self.path!r}: the server broke off ({type(error).__name__}).", retryable=True
            ) from error
        return file, facts.st_size

    def _connect(self, disk: Disk) -> Any:
        import paramiko
        from airflow.providers.sftp.hooks.sftp import SFTPHook
        from airflow.providers.ssh.hooks.ssh import SSHHook

        server = f"The SFTP server of {disk.conn_id!r}"
        hook = SFTPHook(ssh_conn_id=disk.conn_id, conn_retry_attempts=1)
        try:
            return SSHHook.get_conn(hook)
        except paramiko.BadHostKeyException as error:
            raise SourceError(
                f"{server} shows another host key than the one that is known: it may be another server."
            ) from error
        except paramiko.AuthenticationException as error:
            raise SourceError(f"{server} refuses the login.") from error
        except paramiko.SSHException as error:
            if "not found in known_hosts" in str(error):
                raise SourceError(
                    f"{server} has a host key that is not known: put it as 'host_key' into the connection's extra."
                ) from error
            raise SourceError(f"{server} breaks off ({error}).", retryable=True) from error
        except (OSError, EOFError) as error:
            raise SourceError(f"{server} does not answer ({type(error).__name__}).", retryable=True) from error

    def _blocks(self, file: Any, size: int) -> Iterator[bytes]:
        import paramiko

        try:
            before = file.stat()
            for start in range(0, size, REQUESTS * REQUEST_BYTES):
                stop = min(start + REQUESTS * REQUEST_BYTES, size)
                yield from file.readv(
                    [(place, min(REQUEST_BYTES, stop - place)) for place in range(start, stop, REQUEST_BYTES)]
                )
            file.seek(size)
            while block := file.read(BLOCK):
                yield block
            after = file.stat()
        except (OSError, EOFError, paramiko.SSHException) as error:
            raise SourceError(
                f"{self.path!r}: the transfer broke off ({type(error).__name__}).", retryable=True
            ) from error
        if (before.st_size, before.st_mtime) != (after.st_size, after.st_mtime):
            raise SourceError(f"{self.path!r} was changed while it was read.", retryable=True)
