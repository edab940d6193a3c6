"""A look at the first bytes of a file before it is sent: its rows, and how its columns fit the importer."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_provider_ingest.exceptions import InflatesTooFar, UnsupportedFile
from airflow_provider_ingest.formats.compression import open_inflated
from airflow_provider_ingest.formats.detect import Format, detect_format
from airflow_provider_ingest.formats.limits import MIB
from airflow_provider_ingest.importers.source import FORMAT_OPTIONS
from airflow_provider_ingest.importers.suggestions import look_alikes
from airflow_provider_ingest.service.head_reader import MAX_INFLATED, read_head

MAX_HEAD = 512 * 1024
"""Most bytes that are looked at, of text that was compressed once it is inflated."""

TEXTS = frozenset({"csv", "ndjson", "json"})
"""The formats that can be cut where a row ends."""

ROWS = 10
CELL = 200


class NoPreview(UnsupportedFile):
    """The format cannot be read from its beginning alone."""

    code = "no_preview"


def preview(manifest: Mapping[str, Any], head: bytes, name: str | None, size: int) -> dict[str, Any]:
    """What a file would be taken for.

    :param head: the file's first bytes, all of them if it is small.
    :param size: the whole file's size in bytes.
    :raises NoPreview: the file is larger than ``head`` and of a format that is no stream of rows, or it holds more
        than is looked at.
    """
    found = detect_format(head, name)
    options = {key: value for key, value in manifest["source"].get("options", {}).items() if key in FORMAT_OPTIONS}
    plain, is_partial = _plain_rows(head, found, size)
    with tempfile.TemporaryDirectory(prefix="ingest-preview-") as directory:
        path = Path(directory) / "head"
        path.write_bytes(plain)
        try:
            table = read_head(path, found.name, options, ROWS)
        except InflatesTooFar as error:
            raise _too_large(found) from error
    return {
        "format": found.name,
        "format_label": str(found),
        "facts": {**table.facts, **({"compression": found.compression} if found.compression else {})},
        "columns": [{"name": column, "attributes": _attributes(manifest, column)} for column in table.columns],
        "missing": _missing(manifest, table.columns),
        "rows": [{key: _short(value) for key, value in row.items()} for row in table.rows],
        "malformed": table.malformed,
        "warnings": table.warnings,
        "is_partial": is_partial,
    }


def _plain_rows(head: bytes, found: Format, size: int) -> tuple[bytes, bool]:
    """What of a file can be looked at, inflated, and whether that is its beginning only."""
    is_partial = size > len(head)
    if is_partial and (found.compression is not None or found.name not in TEXTS):
        raise NoPreview(f"A file of format {found} can only be previewed whole, up to {MAX_HEAD // 1024} KiB.")
    if found.compression is not None:
        most = MAX_HEAD if found.name in TEXTS else MAX_INFLATED
        with open_inflated(io.BytesIO(head), found.compression) as content:
            head = content.read(most + 1)
        is_partial = len(head) > most
        if is_partial and found.name not in TEXTS:
            raise _too_large(found)
        head = head[:most]
    return (_whole_rows(head, found) if is_partial else head), is_partial


def _too_large(found: Format) -> NoPreview:
    return NoPreview(f"A file of format {found} that inflates to more than {MAX_INFLATED // MIB} MiB has no preview.")


def _whole_rows(head: bytes, found: Format) -> bytes:
    """The beginning of a file, cut where a row ends."""
    if found.name == "json":
        end = head.rfind(b"}")
        while end > 0 and not head[end + 1 :].lstrip().startswith(b","):
            end = head.rfind(b"}", 0, end)
        return head[: end + 1] + b"]"
    end = max(head.rfind(b"\n"), head.rfind(b"\r"))
    return head[: end + 1] if end > 0 else head


def _attributes(manifest: Mapping[str, Any], column: str) -> list[str]:
    """The target attributes that a column of the file fills."""
    mapped = [entry["attribute"] for entry in manifest["mappings"] if column in (*entry["fields"], *entry["reads"])]
    related = [entry["attribute"] for entry in manifest.get("relations", ()) if entry["field"] == column]
    nested = [entry["path"] for entry in manifest.get("nested", ()) if entry["path"] == column]
    return list(dict.fromkeys([*mapped, *related, *nested]))


def _missing(manifest: Mapping[str, Any], columns: list[str]) -> list[dict[str, Any]]:
    """The fields that the importer maps or requires and that the file has under none of their names."""
    unused = [column for column in columns if not _attributes(manifest, column)]
    required = [[name] for name, entry in manifest.get("schema", {}).items() if entry["required"]]
    aliases = [entry["fields"] for entry in manifest["mappings"] if entry["fields"]]
    missing: dict[str, dict[str, Any]] = {}
    for names in [*aliases, *required]:
        known = next((entry for entry in aliases if names[0] in entry), names)
        if not set(known) & set(columns):
            looks = look_alikes(known[0], unused, most=1)
            missing.setdefault(known[0], {"field": known[0], "did_you_mean": looks[0] if looks else None})
    return list(missing.values())


def _short(value: Any) -> Any:
    return value[: CELL - 1] + "…" if isinstance(value, str) and len(value) > CELL else value
