"""Write ``docs/reference/configuration.md`` from the provider info; ``--check`` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from airflow_provider_ingest.get_provider_info import OPTIONS

FILE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "configuration.md"
INTRODUCTION = """\
# Configuration

The keys of the section `[ingest]` in `airflow.cfg`, or as environment variables `AIRFLOW__INGEST__<KEY>`.
`airflow config list --section ingest --show-values` shows what is in force. A value that cannot be
used is refused with the key's name when the API server or a task starts.

This page is generated from the provider info: `python scripts/document_configuration.py`.

| key | type | default |
|---|---|---|
"""


def render() -> str:
    """The whole page."""
    rows = [f"| [`{key}`](#{key}) | {option['type']} | {_code(option['default'])} |" for key, option in OPTIONS.items()]
    return INTRODUCTION + "\n".join(rows) + "\n" + "".join(_section(key) for key in OPTIONS)


def _section(key: str) -> str:
    option = OPTIONS[key]
    text = option["description"].strip().replace("``", "`")
    return (
        f"\n## `{key}`\n\n{text}\n\n"
        f"Default: {_code(option['default'])}. Example: `AIRFLOW__INGEST__{key.upper()}={option['example']}`\n"
    )


def _code(text: str) -> str:
    return f"`{text}`" if text else "empty"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(0 if FILE.read_text() == render() else f"{FILE} is not what the provider info says; write it anew.")
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(render())
