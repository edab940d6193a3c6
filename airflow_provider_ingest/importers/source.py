"""Where an importer's rows come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable


class SourceType(StrEnum):
    """The built-in sources; a custom one is an object with the methods of :class:`Source`."""

    UPLOAD = "upload"
    FILESYSTEM = "filesystem"
    URL = "url"
    JSON = "json"
    FTP = "ftp"
    SFTP = "sftp"
    CUSTOM = "custom"

    @property
    def takes_path(self) -> bool:
        """Whether a start may name the file to read."""
        return self in (SourceType.FILESYSTEM, SourceType.JSON)


_PATTERN = re.compile(r"[*?]|\[.+\]")


def pattern_hint(path: str) -> str | None:
    """What to do instead, if a path is a pattern of many files; ``None`` for the path of one.

    >>> pattern_hint("in/products.csv"), "one run per file" in pattern_hint("in/*.csv")
    (None, True)
    """
    if not _PATTERN.search(path):
        return None
    return (
        f"{path!r} is a pattern; a run reads one file. Start one run per file, "
        "e.g. by mapping an IngestOperator over a list of files."
    )


@runtime_checkable
class Source(Protocol):
    """A source of your own.

    >>> class Numbers:
    ...     def read(self):
    ...         yield from ({"n": n} for n in range(3))
    ...     def get_schema(self):
    ...         return {"n": {"type": "integer", "required": True}}
    ...     def get_source_metadata(self):
    ...         return {"source_type": "numbers"}
    >>> isinstance(Numbers(), Source)
    True
    """

    def read(self) -> Iterator[Mapping[str, Any]]:
        """Yield the rows, each a map of field to value."""

    def get_schema(self) -> Mapping[str, Mapping[str, Any]]:
        """Field to ``{"type", "required"}``; used as the expected schema."""

    def get_source_metadata(self) -> Mapping[str, Any]:
        """Facts to keep on the run; ``source_type`` is one of them."""


FORMAT_OPTIONS = frozenset(
    {
        "format",
        "delimiter",
        "quote",
        "escape",
        "encoding",
        "header_row",
        "skip_rows",
        "has_header",
        "column_names",
        "sheet",
        "header_rows",
        "on_ragged",
    }
)
"""Options of any source that say how to read the file; they override what is found in it."""

SOURCE_OPTIONS: dict[SourceType, tuple[frozenset[str], frozenset[str]]] = {
    SourceType.UPLOAD: (frozenset(), frozenset()),
    SourceType.FILESYSTEM: (frozenset(), frozenset({"path", "disk"})),
    SourceType.URL: (frozenset({"url"}), frozenset({"conn_id"})),
    SourceType.JSON: (frozenset(), frozenset({"path", "disk"})),
    SourceType.FTP: (frozenset({"disk", "path"}), frozenset()),
    SourceType.SFTP: (frozenset({"disk", "path"}), frozenset()),
}
"""Required and optional options of each built-in source, beside :data:`FORMAT_OPTIONS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """A source as an importer declares it; ``custom`` is set exactly for ``SourceType.CUSTOM``."""

    type: SourceType
    options: Mapping[str, Any] = field(default_factory=dict)
    custom: Source | None = None

    @property
    def format_options(self) -> dict[str, Any]:
        """The options that are for the reader."""
        return {name: value for name, value in self.options.items() if name in FORMAT_OPTIONS}
