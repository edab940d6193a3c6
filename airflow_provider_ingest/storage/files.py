"""Staging: where source files wait to be worked, and where a run keeps its temporary files.

Below ``[ingest] storage_path`` lie two directories: ``ingest-uploads/<uuid>/<name>`` receives uploaded files,
``ingest-temp/<run key>/`` holds everything a run makes and is removed when the run ends. A *reference* is a path
relative to the storage, as it is kept with a run; it is the only thing that travels.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import unicodedata
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from airflow_provider_ingest.exceptions import SetupError, SourceError, UploadTooLarge

UPLOADS = "ingest-uploads"
TEMP = "ingest-temp"
BLOCK = 1 << 20
"""Bytes read or written at a time."""

_MAX_NAME_BYTES = 150


def safe_name(name: str | None) -> str:
    r"""A file name that is safe in every storage, made of what a client sent.

    >>> safe_name("../../etc/passwd"), safe_name("C:\\data\\Preisliste März.csv"), safe_name(""), safe_name("..")
    ('passwd', 'Preisliste März.csv', 'file', 'file')
    """
    last = (name or "").replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(c if c.isalnum() or c in " ._-()+" else "_" for c in unicodedata.normalize("NFC", last))
    stem, dot, suffix = kept.strip(" .").rpartition(".")
    if not dot:
        stem, suffix = suffix, ""
    suffix = _cut(suffix, 20)
    stem = _cut(stem, _MAX_NAME_BYTES - len(suffix.encode()))
    return (f"{stem}.{suffix}" if suffix else stem) or "file"


def _cut(text: str, limit: int) -> str:
    """``text``, at most ``limit`` bytes long in UTF-8, no character torn."""
    return text.encode()[:limit].decode(errors="ignore")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file that lies in the storage completely."""

    reference: str
    name: str
    size: int
    sha256: str


class Upload:
    """An upload while it arrives: a context manager that leaves nothing behind unless it ends well.

    >>> with staging.receive("products.csv", max_bytes=10**9) as upload:  # doctest: +SKIP
    ...     for block in request_body:
    ...         upload.write(block)
    >>> upload.stored.reference  # doctest: +SKIP
    'ingest-uploads/1c5d.../products.csv'
    """

    stored: StoredFile

    def __init__(self, staging: Staging, name: str | None, max_bytes: int) -> None:
        self.name = safe_name(name)
        self.reference = f"{UPLOADS}/{uuid.uuid4()}/{self.name}"
        self.size = 0
        self._staging = staging
        self._max_bytes = max_bytes
        self._digest = hashlib.sha256()

    def __enter__(self) -> Upload:
        self._file = self._staging.create(self.reference)
        return self

    def write(self, block: bytes) -> None:
        """Append a block; raises :class:`UploadTooLarge` before it would pass the limit."""
        if self.size + len(block) > self._max_bytes:
            raise UploadTooLarge(f"The file is larger than the {self._max_bytes:,} bytes that an upload may have.")
        self._file.write(block)
        self._digest.update(block)
        self.size += len(block)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None and self._staging.is_local:  # what was accepted outlives a power cut
                self._file.flush()
                os.fsync(self._file.fileno())
            self._file.close()
        except BaseException:
            kind = kind or OSError
            raise
        finally:
            if kind is not None:
                self._staging.remove(self.reference)
        if kind is None:
            self.stored = StoredFile(
                reference=self.reference, name=self.name, size=self.size, sha256=self._digest.hexdigest()
            )


class Staging:
    """The storage below one root: a local directory, or any object storage that Airflow reaches.

    Local paths are :class:`pathlib.Path`, others ``ObjectStoragePath``; both open, stat and iterate alike.

    :param storage_path: as in ``[ingest] storage_path``, e.g. ``/var/lib/ingest`` or ``s3://aws_default@bucket/ingest``.
    """

    def __init__(self, storage_path: str) -> None:
        scheme = urlsplit(storage_path).scheme
        if scheme in ("", "file"):
            local = storage_path if not scheme else urlsplit(storage_path).path
            self.root: Any = Path(local).expanduser().absolute()
        else:
            from airflow.sdk import ObjectStoragePath

            self.root = ObjectStoragePath(storage_path)

    @property
    def is_local(self) -> bool:
        """Whether the storage is a directory of this machine (or mounted on it)."""
        return isinstance(self.root, Path)

    def check(self) -> None:
        """Raise :class:`SetupError` unless the storage can be written."""
        probe = f"{TEMP}/.probe-{uuid.uuid4()}"
        try:
            with self.create(probe) as file:
                file.write(b"")
            self.path(probe).unlink()
        except OSError as error:
            raise SetupError(
                f"The staging storage {self.root} cannot be written ({error.__class__.__name__}); "
                "set [ingest] storage_path to a place that API server and workers share."
            ) from error

    def path(self, reference: str) -> Any:
        """The path behind a reference; refuses one that leads out of the storage."""
        parts = reference.split("/")
        if parts[0] not in (UPLOADS, TEMP) or len(parts) < 2 or any(part in ("", ".", "..") for part in parts):
            raise SourceError(f"{reference!r} is no reference to a staged file.")
        return self.root.joinpath(*parts)

    def locate(self, text: str) -> Any:
        """The path that was written down as text, in a form that can be opened."""
        if self.is_local:
            return text
        from airflow.sdk import ObjectStoragePath

        return ObjectStoragePath(text)

    def create(self, reference: str) -> Any:
        """A new binary file for writing, directories included."""
        path = self.path(reference)
        if self.is_local:
            path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")

    def receive(self, name: str | None, *, max_bytes: int) -> Upload:
        """Take in an upload of a client, under a name of its own."""
        return Upload(self, name, max_bytes)

    def temp(self, run_key: str, *parts: str) -> str:
        """The reference of a temporary file or directory of a run."""
        return "/".join((TEMP, run_key, *parts))

    def directory(self, reference: str) -> Any:
        """The directory behind a reference, made if need be."""
        path = self.path(reference)
        if self.is_local:
            path.mkdir(parents=True, exist_ok=True)
        return path

    def has(self, reference: str, size: int | None = None) -> bool:
        """Whether the file is there, and as large as it should be."""
        try:
            found = self.path(reference).stat().st_size
        except (OSError, SourceError):
            return False
        return size is None or found == size

    def blocks(self, reference: str) -> Iterator[bytes]:
        """The file's content in blocks of :data:`BLOCK` bytes."""
        try:
            with self.path(reference).open("rb") as file:
                while block := file.read(BLOCK):
                    yield block
        except FileNotFoundError as error:
            raise SourceError("The staged file is gone; was it pruned?") from error

    def remove(self, reference: str) -> None:
        """Delete the file, and its directory if that is empty then; no error if it is gone already."""
        path = self.path(reference)
        path.unlink(missing_ok=True)
        if self.is_local and path.parent.exists() and not any(path.parent.iterdir()):
            path.parent.rmdir()

    def remove_run(self, run_key: str) -> None:
        """Delete all temporary files of a run."""
        self._remove_tree(self.path(self.temp(run_key)))

    def prune(self, before: datetime, *, keep: Iterable[str] = (), dry_run: bool = False) -> list[StoredFile]:
        """Delete the directories whose newest file was written before, and say which files went.

        :param keep: references or run keys of open runs: their files stay whatever their age.
        """
        kept = {part for name in keep for part in name.split("/")}
        removed: list[StoredFile] = []
        for area in (UPLOADS, TEMP):
            for entry in self._entries(area):
                if entry.name in kept:
                    continue
                files = list(self._files(entry))
                if any(written >= before for _, _, written in files) or self._is_new(entry, before, files):
                    continue
                removed += [StoredFile(reference=name, name=name.rsplit("/", 1)[-1], size=size, sha256="")
                            for name, size, _ in files]  # fmt: skip
                if not dry_run:
                    self._remove_tree(entry)
        return removed

    def _entries(self, area: str) -> list[Any]:
        try:
            return sorted((self.root / area).iterdir(), key=lambda path: str(path.name))
        except (FileNotFoundError, NotADirectoryError):  # an empty directory of an object store is not there
            return []

    def _is_new(self, entry: Any, before: datetime, files: list[Any]) -> bool:
        """Whether an empty local directory may belong to an upload that is just beginning."""
        return self.is_local and not files and datetime.fromtimestamp(entry.stat().st_mtime, UTC) >= before

    def _files(self, entry: Any) -> Iterator[tuple[str, int, datetime]]:
        for path in [entry] if entry.is_file() else entry.rglob("*"):
            if path.is_file():
                stat = path.stat()
                relative = str(path)[len(str(self.root)) :].lstrip("/")
                yield relative, stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC)

    def _remove_tree(self, path: Any) -> None:
        if self.is_local:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        elif path.exists():
            path.rmdir(recursive=True)
