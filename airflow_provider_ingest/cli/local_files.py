"""Files of the machine that the command line runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from airflow_provider_ingest import bootstrap
from airflow_provider_ingest.exceptions import InvalidParameter, SourceError, UnsupportedFile
from airflow_provider_ingest.formats.detect import HEAD_BYTES, detect_format
from airflow_provider_ingest.hooks.disk import Disk, local_path
from airflow_provider_ingest.importers.manifest import Manifest
from airflow_provider_ingest.service import StagedUpload
from airflow_provider_ingest.settings import load_settings

BLOCK = 1024 * 1024


@contextmanager
def staged(name: str) -> Iterator[StagedUpload]:
    """Copy a local file into the staging area; the copy goes away again if the block raises.

    Raises :class:`InvalidParameter` for a file that cannot be read and :class:`UnsupportedFile` for one in no known
    format.
    """
    path = Path(name).expanduser()
    staging = bootstrap.staging()
    try:
        source = path.open("rb")
    except OSError as error:
        raise InvalidParameter(f"The file {name!r} cannot be read: {error.strerror}.") from error
    with source:
        head = source.read(HEAD_BYTES)
        if not head:
            raise UnsupportedFile(f"The file {name!r} is empty.")
        found = detect_format(head, path.name)
        with staging.receive(path.name, max_bytes=load_settings().max_upload_bytes) as upload:
            upload.write(head)
            while block := source.read(BLOCK):
                upload.write(block)
    stored = upload.stored
    try:
        yield StagedUpload(
            ref=stored.reference, name=path.name, size=stored.size, sha256=stored.sha256, format=str(found)
        )
    except BaseException:
        staging.remove(stored.reference)
        raise


def reads_it_there(manifest: Manifest, name: str) -> bool:
    """Whether the workers read this path themselves; else it is a file of this machine that has to be staged.

    A path below an ``fs`` disk or an allowed directory is read there. On any other disk a path is one of that disk,
    unless it names a file of this machine in full.
    """
    settings = load_settings()
    disk = manifest.source_options.get("disk") or settings.default_disk
    roots = _local_roots(disk) if disk else tuple(Path(root) for root in settings.allowed_paths)
    local = Path(name).expanduser()
    if roots is None:
        return not (local.is_absolute() and local.is_file())
    try:
        local_path(roots, name)
    except SourceError:
        return not local.is_file()
    return True


def _local_roots(disk: str) -> tuple[Path, ...] | None:
    """The directory of an ``fs`` disk, ``None`` for a disk of another kind."""
    from airflow.exceptions import AirflowNotFoundException
    from airflow.models import Connection

    parsed = Disk.parse(disk)
    try:
        connection = Connection.get_connection_from_secrets(parsed.conn_id)
    except AirflowNotFoundException:
        raise SourceError(
            f"The disk {parsed.conn_id!r} is not there: create an Airflow connection of this id."
        ) from None
    base = connection.extra_dejson.get("path")
    if connection.conn_type != "fs" or not base:
        return None
    return (Path(base) / parsed.root.lstrip("/"),)
