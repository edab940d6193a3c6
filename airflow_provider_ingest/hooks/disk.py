"""A disk: the id of an Airflow connection plus an optional root path, and paths that must stay below it."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.importers.source import pattern_hint

OBJECT_STORES = {
    "aws": "s3",
    "s3": "s3",
    "google_cloud_platform": "gs",
    "wasb": "abfs",
    "adls": "abfs",
    "azure_data_lake": "abfs",
}
"""Connection types that are object stores, and the scheme Airflow reads them with."""

LONGEST_PATH = 4096
"""Bytes of a path; file systems and object stores take no longer ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A disk as named in an importer: ``"warehouse_files"`` or, with a root, ``"warehouse_files:incoming/shop"``.

    >>> Disk.parse("files:incoming")
    Disk(conn_id='files', root='incoming')
    """

    conn_id: str
    root: str = ""

    @classmethod
    def parse(cls, name: str) -> Disk:
        """Split a disk's name at its first colon."""
        conn_id, _, root = name.partition(":")
        return cls(conn_id=conn_id, root=root)

    def connection(self) -> Any:
        """The Airflow connection behind the disk."""
        from airflow.sdk import Connection
        from airflow.sdk.exceptions import AirflowNotFoundException

        try:
            return Connection.get(self.conn_id)
        except AirflowNotFoundException as error:
            raise SourceError(
                f"The disk {self.conn_id!r} is not there: create an Airflow connection of this id "
                "(type fs with an extra 'path', aws, ftp or sftp)."
            ) from error


def check_path(path: str) -> str:
    """The path of one file, checked: not empty, no pattern, no way up, no control characters."""
    if not path or path.endswith("/"):
        raise SourceError(f"{path!r} names no file.")
    try:
        size = len(path.encode())
    except UnicodeEncodeError as error:
        raise SourceError(f"The path {path[:100]!a} is no valid text.") from error
    if size > LONGEST_PATH:
        raise SourceError(f"The path is longer than {LONGEST_PATH:,} bytes.")
    if any(ord(character) < 32 for character in path):
        raise SourceError("The path holds control characters.")
    if (hint := pattern_hint(path)) is not None:
        raise SourceError(hint)
    if ".." in path.replace("\\", "/").split("/"):
        raise SourceError(f"{path!r} leads out of the disk: '..' is not allowed.")
    return path


def below_root(root: str, path: str) -> str:
    """A remote path (of a server or bucket) below the disk's root; a full path is accepted if it lies there."""
    check_path(path)
    if not root:
        return path
    base = posixpath.normpath(root)
    full = posixpath.normpath(
        path if path.startswith("/") and base.startswith("/") else posixpath.join(base, path.lstrip("/"))
    )
    if not full.startswith(base.rstrip("/") + "/"):
        raise SourceError(f"{path!r} does not lie below the disk's root {root!r}.")
    return full


def local_path(roots: tuple[Path, ...], path: str) -> Path:
    """The real path of a local file, symbolic links followed, that lies below one of the roots.

    :raises SourceError: it lies outside, is not there, or is no ordinary file.
    """
    check_path(path)
    is_inside = False
    for root in (Path(os.path.realpath(root)) for root in roots):
        candidate = Path(os.path.realpath(root / path))
        if not candidate.is_relative_to(root):
            continue
        is_inside = True
        try:
            if candidate.is_file():
                return candidate
            if candidate.exists():
                raise SourceError(f"{path!r} is no ordinary file.")
        except PermissionError as error:
            raise SourceError(f"{path!r} may not be read by the worker's user.") from error
        except OSError:  # a link that leads to itself, or a name that no file can have
            continue
    if is_inside:
        raise SourceError(f"{path!r} is not there.")
    raise SourceError(
        f"{path!r} lies outside of the directories from which files may be read; "
        "name a disk, or add its directory to [ingest] allowed_paths."
    )
