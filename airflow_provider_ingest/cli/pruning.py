"""Deleting what has expired: files of the staging area, logged rows."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow_provider_ingest.cli.entry import command, ingest
from airflow_provider_ingest.cli.output import print_as
from airflow_provider_ingest.settings import load_settings


@command
def prune_files(args: Any) -> None:
    """Delete expired uploads and temporary files, never those of open runs."""
    from airflow_provider_ingest import bootstrap

    before = datetime.now(UTC) - timedelta(hours=load_settings().prune_hours if args.hours is None else args.hours)
    with ingest() as service:
        open_runs = service.open_runs()
    keep = [name for run in open_runs for name in (run.key, run.payload, (run.file or {}).get("reference")) if name]
    removed = bootstrap.staging().prune(before, keep=keep, dry_run=args.dry_run)
    document = [{"file": file.reference, "bytes": file.size} for file in removed]
    print_as(args.output, document, document)
    verb = "would be deleted" if args.dry_run else "deleted"
    print(f"{len(removed):,} files, {sum(file.size for file in removed):,} bytes {verb}.", file=sys.stderr)


@command
def prune_rows(args: Any) -> None:
    """Delete the logged rows of runs that ended long ago."""
    before = datetime.now(UTC) - timedelta(days=load_settings().prune_days if args.days is None else args.days)
    with ingest() as service:
        removed = service.prune_rows(before, dry_run=args.dry_run)
    document = {"rows": removed, "dry_run": args.dry_run}
    print_as(args.output, document, [document])
