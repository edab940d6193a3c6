"""A run, its chunks and its rows as frozen values, whatever store they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts, Progress
from airflow_provider_ingest.runs.status import RunStatus

T = TypeVar("T")

MOST_DAG_RUN_ID = 250
"""Characters that Airflow, and the table of runs, have for the id of a DAG run."""

AWAITS_PUBLICATION = "awaits_publication"
"""Among the facts of a run's file: nothing that its chunks accepted is in the target yet."""

MASKED = "masked"
"""Member of a run's file: the columns whose values its row log hides, as the definition was then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What is known when a run is recorded.

    :param key: a UUID, unique over all installations: names the run in target databases.
    :param payload: the path a source takes, or the staging reference of an upload.
    :param fingerprint: of the importer's definition (see the manifest).
    """

    key: str
    importer: str
    dag_id: str
    dag_run_id: str
    payload: str | None = None
    original_filename: str | None = None
    is_dry_run: bool = False
    user_id: int | None = None
    user_name: str | None = None
    retry_of: int | None = None
    root_run: int | None = None
    attempt: int = 1
    idempotency_key: str | None = None
    request_fingerprint: str | None = None
    fingerprint: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(NewRun):
    """A recorded run. Times are aware and in UTC; ``file`` holds the facts of the staged file
    (``name, size, sha256, format, dialect, …``), ``summary`` is null until the run ends.
    """

    id: int
    status: RunStatus
    total: int = 0
    counts: Counts = field(default_factory=Counts)
    chunks_total: int = 0
    chunks_done: int = 0
    file: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    started_at: datetime
    completed_at: datetime | None = None
    cancel_requested_at: datetime | None = None
    history: tuple[dict[str, Any], ...] = ()
    """Status changes in order: ``{"status", "at"}``."""

    @property
    def progress(self) -> Progress:
        """Counts against the total."""
        return Progress(total=self.total, counts=self.counts, is_terminal=self.status.is_terminal)


def released_name(dag_run_id: str, run_id: int) -> str:
    """What a run calls its DAG run when that was deleted and another one has taken its id.

    >>> released_name("manual__1", 12)
    'manual__1__deleted_12'
    """
    return f"{dag_run_id[: MOST_DAG_RUN_ID - 30]}__deleted_{run_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPlan:
    """One chunk as the planner cut it.

    :param first_row: number of its first data row.
    :param rows: how many records it holds (malformed ones included).
    :param location: what the reader of its format needs to find it: for CSV ``{"path", "start", "end", "line"}``.
    """

    index: int
    first_row: int
    rows: int
    location: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord(ChunkPlan):
    """A planned chunk and how far it is. ``counts`` moves while it works and is final with ``outcome``."""

    counts: Counts = field(default_factory=Counts)
    outcome: ChunkOutcome | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRejects:
    """How many of a run's rows came to an end, and how many of these failed."""

    run_id: int
    status: RunStatus
    processed: int
    failed: int

    @property
    def rate(self) -> float | None:
        """Failed rows as a share of those processed, from 0 to 1; ``None`` where none was."""
        return round(self.failed / self.processed, 6) if self.processed else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTotals:
    """What became of the rows of many runs, each row counted once however often it was tried or retried.

    :param runs: all of them, dry runs and retries too.
    :param imported: rows created or updated; dry runs keep none.
    :param failed: failed rows of first runs, less those that retries got through; of dry runs none.
    """

    runs: int
    imported: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRecord:
    """A logged row; ``errors`` and ``trace`` are the members of the row resource."""

    row_number: int
    line_number: int | None
    status: str
    data: dict[str, Any]
    errors: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs to list; ``importers`` limits to what the caller may read (``None``: no limit)."""

    importers: frozenset[str] | None = None
    importer: str | None = None
    statuses: frozenset[RunStatus] | None = None
    user_name: str | None = None
    started_after: datetime | None = None
    started_before: datetime | None = None
    dag_run_id: str | None = None
    root_run: int | None = None
    """The first run of a family of retries: that run itself and all that came from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One page of a listing; ``number`` counts from 1."""

    items: tuple[T, ...]
    number: int
    size: int
    total: int

    @property
    def last(self) -> int:
        """Number of the last page, at least 1."""
        return max(-(-self.total // self.size), 1)
