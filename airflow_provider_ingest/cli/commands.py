"""Importers and runs on the command line: each command parses, calls one service method and prints."""

from __future__ import annotations

import sys
from typing import Any

from airflow_provider_ingest.cli.entry import REFUSED, caller, command, ingest, refuse
from airflow_provider_ingest.cli.output import error_lines, print_as, run_line
from airflow_provider_ingest.cli.progress import wait_for
from airflow_provider_ingest.exceptions import ImporterNotFound, InvalidParameter
from airflow_provider_ingest.importers.manifest import Manifest
from airflow_provider_ingest.runs.records import RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.service.cancelling import cancel_message
from airflow_provider_ingest.service.resources import importer_resource, row_resource, run_resource

WHERE_IT_MAY_BE = (
    "Airflow may not have read its DAG file yet: 'airflow dags reserialize' does so at once, "
    "'airflow dags list-import-errors' says why it cannot."
)
"""What helps who has just written an importer."""


@command
def list_importers(args: Any) -> None:
    """Print the importers with their newest runs."""
    with ingest() as service:
        manifests = service.importers()
        slugs = [manifest["slug"] for manifest in manifests]
        runs, recent = service.latest_runs(slugs), service.recent_rejects(slugs)
    resources = [importer_resource(each, runs.get(each["slug"]), recent.get(each["slug"], ())) for each in manifests]
    lines = [
        {
            "slug": importer["slug"],
            "source": _source(importer["source"]),
            "target": f"{importer['target']['conn_id']}:{importer['target']['table']}",
            "mappings": len(importer["mappings"]),
            "schedule": importer["schedule"] or "",
            "paused": importer["is_paused"],
            "last run": _last(importer["last_run"]),
        }
        for importer in resources
    ]
    print_as(args.output, resources, lines)


@command
def run(args: Any) -> None:
    """Start a run, with a file or without."""
    from airflow_provider_ingest.cli.local_files import reads_it_there, staged

    user = caller()
    try:
        with ingest() as service:
            manifest = Manifest.from_dict(service.importer(args.slug))
    except ImporterNotFound as error:
        refuse(f"{error} {WHERE_IT_MAY_BE}")
    if manifest.takes_upload and not args.file:
        raise InvalidParameter(f"The importer {args.slug!r} takes an uploaded file: name it with --file.")
    if args.file and (manifest.takes_upload or (manifest.takes_path and not reads_it_there(manifest, args.file))):
        with staged(args.file) as upload, ingest() as service:
            started = service.start_staged(args.slug, upload, user, dry_run=args.dry_run, force=args.force)
    else:
        with ingest() as service:
            started = service.trigger(args.slug, user, payload=args.file, dry_run=args.dry_run, force=args.force)
    _report(started, args)


@command
def status(args: Any) -> None:
    """Show a run, at once or when it has ended."""
    with ingest() as service:
        found = service.run(args.run_id)
    _report(found, args)


@command
def cancel(args: Any) -> None:
    """Ask for the end of a run."""
    with ingest() as service:
        cancelled = service.cancel(args.run_id)
    print(cancel_message(cancelled), file=sys.stderr)
    resource = run_resource(cancelled)
    print_as(args.output, resource, [run_line(resource)])


@command
def retry(args: Any) -> None:
    """Import the failed rows of a run again."""
    from airflow_provider_ingest.cli.local_files import staged

    if args.file:
        with ingest() as service:
            service.check_retry(args.run_id, dry_run=args.dry_run, corrected=True)
        with staged(args.file) as upload, ingest() as service:
            started = service.retry(args.run_id, caller(), dry_run=args.dry_run, corrected=upload)
    else:
        with ingest() as service:
            started = service.retry(args.run_id, caller(), dry_run=args.dry_run)
    _report(started, args)


@command
def explain(args: Any) -> None:
    """Show one logged row: its fields, what was wrong, and its trace."""
    with ingest() as service:
        service.run(args.run_id)
        row = service.row(args.run_id, args.row)
    if row is None:
        refuse(f"Row {args.row} of run {args.run_id} is not logged; mostly only failed rows are.")
    resource = row_resource(row)
    validation = (resource["errors"] or {}).get("validation", {})
    lines = [
        {"field": name, "value": _short(value), "errors": "; ".join(validation.get(name, ()))}
        for name, value in resource["data"].items()
    ]
    lines += [
        {"field": name, "value": "", "errors": "; ".join(texts)}
        for name, texts in validation.items()
        if name not in resource["data"]
    ]
    print_as(args.output, resource, lines)
    if args.output in ("table", "plain"):
        _print_reasons(resource)


def _report(started: RunRecord, args: Any) -> None:
    """Print a run, at its end if asked to wait for it; the exit code says how it ended."""

    def look() -> RunRecord:
        with ingest() as service:
            return service.run(started.id)

    if args.wait:
        try:
            found = wait_for(look)
        except KeyboardInterrupt:
            print(f"Run {started.id} goes on; see 'airflow ingest status {started.id}'.", file=sys.stderr)
            raise
    else:
        found = look()
    resource = run_resource(found)
    print_as(args.output, resource, [run_line(resource)])
    _print_end(found)
    if args.wait and not _went_well(found, strict=args.fail_on_errors):
        sys.exit(REFUSED)


def _print_end(run: RunRecord) -> None:
    """What people should know of the run beside its numbers, on stderr."""
    summary = run.summary or {}
    if not run.status.is_terminal:
        with ingest() as service:
            if reason := service.standstill(run):
                print(f"Warning: {reason}", file=sys.stderr)
    for warning in summary.get("warnings", ()):
        print(f"Warning: {warning}", file=sys.stderr)
    if run.counts.failed:
        with ingest() as service:
            lines = error_lines(service.error_summary(run.id))
        print("\n".join(lines), file=sys.stderr)
    if error := summary.get("error"):
        print(f"Error: {error['message']}", file=sys.stderr)


def _went_well(run: RunRecord, *, strict: bool) -> bool:
    return run.status is RunStatus.COMPLETED or (run.status is RunStatus.COMPLETED_WITH_ERRORS and not strict)


def _source(source: dict[str, Any]) -> str:
    place = next((source["options"][name] for name in ("url", "path", "disk") if source["options"].get(name)), None)
    return f"{source['type']} {place}" if place else str(source["type"])


def _last(run: dict[str, Any] | None) -> str:
    return f"{run['id']} {run['status']}" if run else ""


def _print_reasons(row: dict[str, Any]) -> None:
    line = f", line {row['line_number']}" if row["line_number"] else ""
    print(f"Row {row['row_number']}{line}: {row['status']}")
    if errors := row["errors"]:
        print(f"{errors['stage']}: {errors['message']} ({errors['code']})")
    trace = row["trace"] or {}
    for name, steps in (trace.get("transformations") or {}).items():
        print(f"{name}: " + " → ".join(f"{step['step']} {_short(step['value'])}" for step in steps))
    for mapping in trace.get("mappings") or ():
        print(_mapping_line(mapping))


def _mapping_line(mapping: dict[str, Any]) -> str:
    where = f" when {mapping['condition']}" if mapping["condition"] else ""
    idle = "" if mapping["active"] else ": not in this row"
    return f"{mapping['field'] or '(the row)'} → {mapping['attribute']}{where}{idle}"


def _short(value: Any) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= 200 else text[:199] + "…"
