"""UPLOAD: a file that the API has put into staging already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.base import BLOCK, SourceHook, Stream


class UploadHook(SourceHook):
    """Reads an uploaded file where it lies.

    :param path: the staged file.
    :param name: the name the client gave it.
    """

    def __init__(self, path: Any, name: str) -> None:
        self.path = path
        self.name = name

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """Open the staged file."""
        try:
            size = self.path.stat().st_size
            file = self.path.open("rb")
        except FileNotFoundError as error:
            raise SourceError(f"The uploaded file {self.name!r} is no longer in staging; upload it again.") from error
        with file:
            yield Stream(name=self.name, blocks=iter(lambda: file.read(BLOCK), b""), size=size)
