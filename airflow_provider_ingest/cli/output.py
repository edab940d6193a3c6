"""How commands print: tables as Airflow's do, JSON and YAML with the types of the REST API."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_provider_ingest.runs.progress import in_rows
from airflow_provider_ingest.service import ErrorSummary


def print_as(output: str, document: Any, lines: Sequence[Mapping[str, Any]]) -> None:
    """Print ``document`` as JSON or YAML, or its short form ``lines`` as a table."""
    if output == "json":
        json.dump(document, sys.stdout, ensure_ascii=False, indent=None if not sys.stdout.isatty() else 2)
        print()
    elif output == "yaml":
        from airflow.utils import yaml

        sys.stdout.write(yaml.dump(document, allow_unicode=True, sort_keys=False))
    else:
        from airflow.cli.simple_table import AirflowConsole

        AirflowConsole().print_as([_plain(line) if output == "table" else dict(line) for line in lines], output)


def _plain(line: Mapping[str, Any]) -> dict[str, Any]:
    """The line as it stands: rich would take ``[ingest]`` for markup."""
    from rich.markup import escape

    return {name: escape(value) if isinstance(value, str) else value for name, value in line.items()}


def run_line(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run resource as one line of a table."""
    progress, summary = run["progress"], run["summary"] or {}
    return {
        "id": run["id"],
        "importer": run["importer"],
        "status": run["status"] + (" (dry run)" if run["is_dry_run"] else ""),
        "total": progress["total"],
        "created": progress["created"],
        "updated": progress["updated"],
        "skipped": progress["skipped"],
        "failed": progress["failed"],
        "unprocessed": progress["unprocessed"],
        "file": run["original_filename"] or "",
        "started": run["started_at"],
        "seconds": summary.get("duration_seconds", ""),
    }


def error_lines(summary: ErrorSummary, most: int = 10) -> list[str]:
    """The error summary in words, the most frequent messages first."""
    if not summary.total_failed_rows:
        return []
    counted = [(error.count, f"{error.field}: {error.message}") for error in summary.validation]
    if not counted:
        counted = [(error.count, error.message) for error in summary.general]
    else:
        groups = {error.message: error.count for error in summary.general}
        groups.pop("The given data was invalid.", None)
        counted += [(count, message) for message, count in groups.items()]
    counted.sort(key=lambda pair: (-pair[0], pair[1]))
    lines = [f"{in_rows(summary.total_failed_rows)} failed:"]
    lines += [f"  {count:>10,}  {message}" for count, message in counted[:most]]
    if len(counted) > most:
        left = len(counted) - most
        lines.append(f"  and {left} more message{'' if left == 1 else 's'}")
    return lines
