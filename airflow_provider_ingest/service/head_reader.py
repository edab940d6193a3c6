"""Reads the beginning of a file for a look at it, in a process of its own where the format's library may end it.

The columnar formats are read by native code that trusts what a file says of itself: a crafted footer can abort the
process. That may cost a task a try; it must not cost the API server its other requests.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import MIB

COLUMNAR = frozenset({"parquet", "arrow"})
SECONDS = 30
"""How long the other process may take."""

MAX_INFLATED = 16 * MIB
"""How far a workbook, or a compressed file that cannot be cut, is inflated: half a megabyte may hold hundreds."""

_CHUNK_ROWS, _BATCH_ROWS = 1_000_000, 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a file as a table.

    :param rows: the first ones, by column.
    :param malformed: number of records that are no rows.
    """

    columns: list[str]
    rows: list[dict[str, Any]]
    malformed: int
    facts: dict[str, Any]
    warnings: list[str]


def read_head(path: Path, name: str, options: Mapping[str, Any], rows: int) -> Head:
    """Read a file.

    :param name: of its format.
    :param rows: most rows that are wanted.
    :raises FormatError: it cannot be read; for a columnar file also if that ended or blocked the process.
    """
    return _read_apart(path, options, rows) if name in COLUMNAR else _read(path, options, rows)


def _read(path: Path, options: Mapping[str, Any], rows: int) -> Head:
    from airflow_provider_ingest.formats import read_chunk
    from airflow_provider_ingest.formats.limits import Limits
    from airflow_provider_ingest.formats.plan import plan_any_file

    limits = Limits(workbook_bytes=MAX_INFLATED, inflated_bytes=MAX_INFLATED)
    with tempfile.TemporaryDirectory(prefix="ingest-") as scratch:
        plan = plan_any_file(path, options=options, chunk_rows=_CHUNK_ROWS, scratch=Path(scratch), limits=limits)
        batches = (each for chunk in plan.chunks for each in read_chunk(plan.reader, chunk, batch_rows=_BATCH_ROWS))
        most = 1 if plan.reader["format"] == "parquet" else None  # a file that is small can state millions of rows
        shown: list[dict[str, Any]] = []
        malformed = 0
        for batch in islice(batches, most):
            shown += batch.frame.select(plan.columns).head(rows - len(shown)).to_dicts()
            malformed += batch.malformed.height
    return Head(
        columns=list(plan.columns),
        rows=shown,
        malformed=malformed,
        facts={key: value for key, value in plan.facts.items() if isinstance(value, str | int | float | bool)},
        warnings=list(plan.warnings),
    )


def _read_apart(path: Path, options: Mapping[str, Any], rows: int) -> Head:
    command = [sys.executable, "-m", __name__, str(path), json.dumps(dict(options)), str(rows)]
    try:
        done = subprocess.run(  # noqa: S603 - the path is our own, the options are the importer's
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise FormatError(f"The file takes longer than {SECONDS} seconds to read: it is damaged.") from None
    if done.returncode:
        raise FormatError("The file is damaged: what it says of itself ended the process that read it.")
    told = json.loads(done.stdout)
    if "error" in told:
        raise FormatError(told["error"])
    return Head(**told)


def main(path: str, options: str, rows: str) -> None:
    """Print the head as JSON, or why there is none."""
    try:
        told = asdict(_read(Path(path), json.loads(options), int(rows)))
    except FormatError as error:
        told = {"error": str(error)}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
