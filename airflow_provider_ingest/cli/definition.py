"""The arguments of ``airflow ingest``. Every airflow command imports this module, so it imports next to nothing."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable

from airflow.cli.cli_config import (
    ARG_OUTPUT,
    ARG_VERBOSE,
    ActionCommand,
    Arg,
    CLICommand,
    GroupCommand,
    lazy_load_command,
)

from airflow_provider_ingest.settings import MAX_PRUNE_DAYS, MAX_PRUNE_HOURS

PACKAGE = "airflow_provider_ingest.cli"

MAX_NUMBER = 2**63 - 1
"""What a database takes as the id of a run or the number of a row."""


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """The type of an argument: plain digits, from ``least`` to ``most``; anything else is wrong usage."""

    def number(text: str) -> int:
        if text.isascii() and text.isdecimal() and least <= int(text) <= most:
            return int(text)
        raise ArgumentTypeError(f"{text!r} is no whole number from {least} to {most:,}")

    return number


ARG_SLUG = Arg(("slug",), help="Slug of the importer")
ARG_RUN = Arg(("run_id",), metavar="RUN", help="Id of the ingest run", type=whole_number(1, MAX_NUMBER))
ARG_FILE = Arg(
    ("--file",),
    help="File to import: a local one, or a path on the importer's disk. A local file that the workers may not read "
    "where it lies is copied into the staging area first",
)
ARG_DRY_RUN = Arg(("--dry-run",), help="Do everything but keep the rows", action="store_true")
ARG_FORCE = Arg(("--force",), help="Import a file again that was imported before", action="store_true")
ARG_WAIT = Arg(("--wait",), help="Wait for the end of the run and show its progress", action="store_true")
ARG_FAIL_ON_ERRORS = Arg(
    ("--fail-on-errors",), help="With --wait: exit with 1 also if single rows failed", action="store_true"
)
ARG_CORRECTED = Arg(("--file",), help="Corrected failed rows (the download, edited); default: as they were logged")
ARG_HOURS = Arg(
    ("--hours",),
    help="Delete files older than this (default: the setting prune_hours, 24)",
    type=whole_number(0, MAX_PRUNE_HOURS),
)
ARG_DAYS = Arg(
    ("--days",),
    help="Delete rows of runs that ended longer ago (default: the setting prune_days, 30)",
    type=whole_number(0, MAX_PRUNE_DAYS),
)
ARG_ONLY_SHOW = Arg(("--dry-run",), help="Only say what would be deleted", action="store_true")
ARG_ROW = Arg(
    ("--row",), help="Number of the row in the original file", type=whole_number(1, MAX_NUMBER), required=True
)
ARG_SAMPLE = Arg(("file",), metavar="FILE", help="A sample of the files: CSV, XLSX, JSON, NDJSON, Parquet or Arrow")
ARG_NAME = Arg(("--name",), help="Slug of the importer (default: from the file's name)")
ARG_TABLE = Arg(("--table",), help="Target table, e.g. public.products (default: the slug)")
ARG_CONN = Arg(("--conn-id",), help="Airflow connection of the target database (default: ingest_target)")
ARG_SHEET = Arg(("--sheet",), help="Sheet of a workbook (default: the first visible one)")
ARG_DIRECTORY = Arg(("--directory",), help="Where to write (default: here)", default=".")

ARG_ROLE = Arg(
    ("--role",), help="Role that shall see the pages; may be repeated (default: Viewer, User and Op)", action="append"
)


def _command(module: str, name: str, help: str, *arguments: Arg, func: str | None = None) -> ActionCommand:
    body = func or name.replace("-", "_")
    return ActionCommand(
        name=name,
        help=help,
        func=lazy_load_command(f"{PACKAGE}.{module}.{body}"),
        args=(*arguments, ARG_OUTPUT, ARG_VERBOSE),
    )


def get_cli_commands() -> list[CLICommand]:
    """The command group, as named in the provider info."""
    waiting = (ARG_WAIT, ARG_FAIL_ON_ERRORS)
    importer = (ARG_SAMPLE, ARG_NAME, ARG_TABLE, ARG_CONN, ARG_SHEET, ARG_DIRECTORY)
    commands = (
        _command("commands", "list", "List the importers", func="list_importers"),
        _command("commands", "run", "Start a run", ARG_SLUG, ARG_FILE, ARG_DRY_RUN, ARG_FORCE, *waiting),
        _command("commands", "status", "Show a run", ARG_RUN, *waiting),
        _command("commands", "cancel", "Ask for the end of a run", ARG_RUN),
        _command("commands", "retry", "Import failed rows again", ARG_RUN, ARG_DRY_RUN, ARG_CORRECTED, *waiting),
        _command("commands", "explain", "Show what happened to one row of a run", ARG_RUN, ARG_ROW),
        _command("pruning", "prune-files", "Delete expired uploads and temporary files", ARG_HOURS, ARG_ONLY_SHOW),
        _command("pruning", "prune-rows", "Delete expired row logs", ARG_DAYS, ARG_ONLY_SHOW),
        _command("init", "init", "Write an importer and its test from a sample", *importer, func="init_importer"),
        _command("doctor", "doctor", "Check the installation and say how to mend it"),
        _command("fab_permissions", "fab-permissions", "Let FAB's roles see the pages", ARG_ROLE, func="grant_pages"),
    )
    return [GroupCommand(name="ingest", help="Bulk data ingest: importers and their runs", subcommands=commands)]
