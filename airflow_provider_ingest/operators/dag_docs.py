"""The documentation of an importer's DAG, written from its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def dag_docs(manifest: Mapping[str, Any]) -> str:
    """Markdown that tells an operator what the importer reads, does and writes, and how to start it."""
    parts = [
        f"### Importer `{manifest['slug']}`",
        f"Reads {_source(manifest['source'])} into the table `{manifest['target']['table']}` "
        f"of the connection `{manifest['target']['conn_id']}`.{_key(manifest)}",
        _start(manifest),
        _mappings(manifest["mappings"]),
        _schema(manifest.get("schema") or {}),
    ]
    return "\n\n".join(part for part in parts if part)


def _source(source: Mapping[str, Any]) -> str:
    options = source.get("options") or {}
    match source["type"]:
        case "upload":
            return "an uploaded file"
        case "url":
            return f"`{options.get('url')}`"
        case "custom":
            return f"the source `{source.get('class')}`"
        case kind:
            place = f"the disk `{options['disk']}`" if options.get("disk") else "the default disk"
            default = f", by default `{options['path']}`" if options.get("path") else ""
            return f"a file of {place} ({kind}{default})"


def _key(manifest: Mapping[str, Any]) -> str:
    key = manifest.get("key")
    if not key:
        return " Every row becomes a new record."
    names = ", ".join(f"`{name}`" for name in key["attributes"])
    return f" Rows are known by {names}; what exists already: **{key['on_duplicate'].replace('_', ' ')}**."


def _start(manifest: Mapping[str, Any]) -> str:
    slug = manifest["slug"]
    if manifest["source"]["type"] == "upload":
        return (
            f"Start it with a file: the *Ingest* page, `POST …/upload/{slug}`, "
            f"or `airflow ingest run {slug} --file FILE`."
        )
    return f"Start it here, with `airflow ingest run {slug}`, with `POST …/trigger/{slug}`, or by a schedule."


def _mappings(mappings: list[Mapping[str, Any]]) -> str:
    lines = ["| source field | steps | attribute | checks |", "|---|---|---|---|"]
    for mapping in mappings:
        cells = (
            " or ".join(f"`{_cell(field)}`" for field in mapping["fields"]) or "–",
            " → ".join(_cell(step["name"]) for step in mapping["transformers"]) or "–",
            f"`{_cell(mapping['attribute'])}`",
            ", ".join(_cell(step["name"]) for step in mapping["validators"]) or "–",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _schema(schema: Mapping[str, Mapping[str, Any]]) -> str:
    if not schema:
        return ""
    fields = (
        f"* `{_cell(name)}`: {field['type']}{', required' if field['required'] else ''}"
        f"{'' if field['nullable'] else ', not empty'}"
        for name, field in schema.items()
    )
    return "Expected input:\n\n" + "\n".join(fields)


def _cell(text: str) -> str:
    """Text that cannot end a table cell or a code span."""
    return str(text).replace("|", "¦").replace("`", "'").replace("\n", " ")
