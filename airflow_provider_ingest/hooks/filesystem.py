"""FILESYSTEM: a file on a disk – a local directory, an object store, an SFTP or FTP server."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.base import BLOCK, SourceHook, Stream
from airflow_provider_ingest.hooks.disk import OBJECT_STORES, Disk, below_root, local_path


class FilesystemHook(SourceHook):
    """Reads one file of a disk.

    :param path: below the disk's root; without a disk a local path below one of ``allowed_paths``.
    :param disk: a disk's name, ``None`` for local paths.
    :param allowed_paths: local directories from which files may be read without a disk.

    >>> FilesystemHook("incoming/products.csv", disk="shop_files").fetch(sink)  # doctest: +SKIP
    """

    def __init__(self, path: str, disk: str | None = None, allowed_paths: tuple[str, ...] = ()) -> None:
        self.path = path
        self.disk = disk
        self.allowed_paths = allowed_paths

    def open(self) -> AbstractContextManager[Stream]:
        """Open the file by the kind of its disk's connection."""
        if self.disk is None:
            if not self.allowed_paths:
                raise SourceError(
                    "Local files need a disk (an Airflow connection of type fs), given in the importer or as "
                    "[ingest] default_disk, or their directory in [ingest] allowed_paths."
                )
            return self._local(tuple(Path(root) for root in self.allowed_paths))
        disk = Disk.parse(self.disk)
        connection = disk.connection()
        if connection.conn_type == "fs":
            base = connection.extra_dejson.get("path")
            if not base:
                raise SourceError(f"The connection {disk.conn_id!r} has no 'path' in its extra.")
            root = Path(base) / disk.root.lstrip("/") if disk.root else Path(base)
            return self._local((root,))
        if connection.conn_type in OBJECT_STORES:
            return self._object(disk, connection)
        if connection.conn_type in ("sftp", "ssh"):
            from airflow_provider_ingest.hooks.sftp import SftpHook

            return SftpHook(self.disk, self.path).open()
        if connection.conn_type in ("ftp", "ftps"):
            from airflow_provider_ingest.hooks.ftp import FtpHook

            return FtpHook(self.disk, self.path).open()
        raise SourceError(
            f"The connection {disk.conn_id!r} is of type {connection.conn_type!r}; a disk is one of "
            f"fs, ftp, sftp, {', '.join(sorted(OBJECT_STORES))}."
        )

    @contextmanager
    def _local(self, roots: tuple[Path, ...]) -> Iterator[Stream]:
        path = local_path(roots, self.path)
        with _opened_where_it_lies(path, self.path) as file:
            yield Stream(name=path.name, blocks=_unchanged(file, self.path), size=os.fstat(file.fileno()).st_size)

    @contextmanager
    def _object(self, disk: Disk, connection: Any) -> Iterator[Stream]:
        from airflow.sdk import ObjectStoragePath

        scheme = OBJECT_STORES[connection.conn_type]
        root = "/".join(part.strip("/") for part in (connection.extra_dejson.get("path") or "", disk.root) if part)
        if not root:
            raise SourceError(
                f"The disk {self.disk!r} has no root: write it as '{disk.conn_id}:bucket/prefix', or give the "
                "connection's extra a 'path'."
            )
        path = ObjectStoragePath(f"{scheme}://{disk.conn_id}@{below_root(root, self.path)}")
        with opened(path, self.path) as stream:
            yield stream


def _opened_where_it_lies(path: Path, label: str) -> BinaryIO:
    """Open a path that was checked; what takes its place between the check and here is refused, a link above all."""
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
        is_same = Path(os.path.realpath(path)) == path and os.path.samestat(os.fstat(file.fileno()), path.stat())
    except PermissionError as error:
        raise SourceError(f"{label!r} may not be read by the worker's user.") from error
    except OSError as error:
        raise _changed(label) from error
    if not is_same or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise _changed(label)
    return file


def _unchanged(file: BinaryIO, label: str) -> Iterator[bytes]:
    """The file's blocks; a file that is written meanwhile is refused: half of it would be another version."""
    before = os.fstat(file.fileno())
    while block := file.read(BLOCK):
        yield block
    after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise _changed(label)


@contextmanager
def opened(path: Any, label: str) -> Iterator[Stream]:
    """Open an object of an object store; its library's errors, of whatever kind, become :class:`SourceError`."""
    try:
        version = _version(path)
        size = path.stat().st_size
        file = path.open("rb", block_size=8 * BLOCK)
    except FileNotFoundError as error:
        raise SourceError(f"{label!r} is not there.") from error
    except PermissionError as error:
        raise SourceError(f"{label!r} may not be read with this connection.") from error
    except Exception as error:  # each store's library has errors of its own
        raise SourceError(f"{label!r} cannot be reached ({type(error).__name__}: {error}).", retryable=True) from error
    with file:
        yield Stream(name=path.name, blocks=_object_blocks(path, file, version, label), size=size)


def _object_blocks(path: Any, file: Any, version: tuple[str, ...], label: str) -> Iterator[bytes]:
    """The object's blocks; one that is replaced meanwhile is refused."""
    try:
        while block := file.read(BLOCK):
            yield block
        is_replaced = version != _version(path)
    except Exception as error:  # as above
        raise _broken_off(path, version, label, error) from error
    if is_replaced:
        raise _changed(label)


def _broken_off(path: Any, version: tuple[str, ...], label: str, error: Exception) -> SourceError:
    """What became of the transfer: libraries refuse a replaced object each in their own way."""
    is_replaced = False
    with suppress(Exception):
        is_replaced = version != _version(path)
    if is_replaced:
        return _changed(label)
    return SourceError(f"{label!r}: the transfer broke off ({type(error).__name__}).", retryable=True)


def _changed(label: str) -> SourceError:
    return SourceError(f"{label!r} was changed while it was read.", retryable=True)


def _version(path: Any) -> tuple[str, ...]:
    """What tells one version of an object from another, as far as its store says."""
    path.fs.invalidate_cache()
    facts = path.fs.info(path.path)
    return tuple(str(facts.get(name)) for name in ("size", "ETag", "etag", "LastModified", "mtime", "generation"))
