"""A run store in memory: what tests of importers, services and operators use instead of a database."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.runs import status as states
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import (
    ChunkRecord,
    NewRun,
    Page,
    RowRecord,
    RunFilter,
    RunRecord,
    RunRejects,
    RunTotals,
    released_name,
)
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.testing.memory_work import MemoryWork

if TYPE_CHECKING:
    from collections.abc import Callable

COMPLETED = (RunStatus.COMPLETED, RunStatus.COMPLETED_WITH_ERRORS)


@dataclass
class Ledger:
    """Everything a memory store knows about one run."""

    run: RunRecord
    chunks: dict[int, ChunkRecord] = field(default_factory=dict)
    rows: dict[int, tuple[int, str | None, RowRecord]] = field(default_factory=dict)
    """By row number: chunk, general message, row."""
    warnings: list[str] = field(default_factory=list)

    def record(self) -> RunRecord:
        """The run with what its chunks add up to."""
        return replace(
            self.run,
            counts=Counts.total(chunk.counts for chunk in self.chunks.values()),
            chunks_total=len(self.chunks),
            chunks_done=sum(chunk.finished_at is not None for chunk in self.chunks.values()),
        )


class MemoryStore(MemoryWork):
    """:class:`~airflow_provider_ingest.runs.ports.RunStore` in dictionaries, safe between threads.

    It passes the same contract suite as the SQL store.

    >>> store = MemoryStore()
    >>> run = store.create_run(NewRun(key="k", importer="products", dag_id="ingest_products", dag_run_id="r1"))
    >>> store.change_status(run.id, RunStatus.PROCESSING), str(store.get_run(run.id).status)
    (True, 'processing')

    :param clock: gives the current time, aware; for tests of windows and pruning.
    """

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._ledgers: dict[int, Ledger] = {}

    def create_run(self, new: NewRun) -> RunRecord:
        """Record a run, or return the one with its key or DAG run, or the open retry that it would double."""
        with self._lock:
            for same in (
                lambda run: run.key == new.key,
                lambda run: (run.dag_id, run.dag_run_id) == (new.dag_id, new.dag_run_id),
                lambda run: new.retry_of is not None and run.retry_of == new.retry_of and not run.status.is_terminal,
            ):
                if (found := self._newest(same)) is not None:
                    return found
            at = self._clock()
            run = RunRecord(
                **(asdict(new) | {"options": dict(new.options)}),
                id=len(self._ledgers) + 1,
                status=RunStatus.PENDING,
                started_at=at,
                history=(_change(RunStatus.PENDING, at),),
            )
            self._ledgers[run.id] = Ledger(run)
            return run

    def get_run(self, run_id: int) -> RunRecord:
        """The run; raises :class:`RunNotFound`."""
        with self._lock:
            return self._ledger(run_id).record()

    def find_run(self, dag_id: str, dag_run_id: str) -> RunRecord | None:
        """The run of a DAG run."""
        return self._newest(lambda run: (run.dag_id, run.dag_run_id) == (dag_id, dag_run_id))

    def release_dag_run(self, run_id: int) -> None:
        """Let another run have the id of this one's DAG run, which was deleted."""
        with self._lock:
            ledger = self._ledger(run_id)
            ledger.run = replace(ledger.run, dag_run_id=released_name(ledger.run.dag_run_id, run_id))

    def find_idempotent(self, user_name: str | None, key: str, since: datetime) -> RunRecord | None:
        """The caller's newest run with this idempotency key started after ``since``."""
        return self._newest(
            lambda run: (run.user_name, run.idempotency_key) == (user_name, key) and run.started_at > since
        )

    def find_retry(self, run_id: int) -> RunRecord | None:
        """The open retry of a run, if there is one."""
        return self._newest(lambda run: run.retry_of == run_id and not run.status.is_terminal)

    def find_same_file(self, importer: str, sha256: str, fingerprint: str, before: int) -> RunRecord | None:
        """The newest real, completed run with a lower id of the same importer, file and definition."""
        return self._newest(
            lambda run: (
                (run.importer, (run.file or {}).get("sha256"), run.fingerprint) == (importer, sha256, fingerprint)
                and run.id < before
                and not run.is_dry_run
                and run.status in COMPLETED
            )
        )

    def rivals(self, run: RunRecord, sha256: str, fingerprint: str) -> Sequence[RunRecord]:
        """The other real runs of the importer with the same file and definition, staged or completed."""
        same = (run.importer, sha256, fingerprint)
        return [
            other
            for other in reversed(self._runs())
            if (other.importer, (other.file or {}).get("sha256"), other.fingerprint) == same
            and other.id != run.id
            and not other.is_dry_run
            and (other.status in COMPLETED or not other.status.is_terminal)
        ]

    def list_runs(self, which: RunFilter, page: int, per_page: int) -> Page[RunRecord]:
        """Runs, most recent first."""
        found = [run for run in self._runs() if _matches(which, run)]
        start = (page - 1) * per_page
        return Page(items=tuple(found[start : start + per_page]), number=page, size=per_page, total=len(found))

    def totals(self, which: RunFilter) -> RunTotals:
        """What became of the rows of these runs."""
        found = [run for run in self._runs() if _matches(which, run)]
        real = [run for run in found if not run.is_dry_run]
        return RunTotals(
            runs=len(found),
            imported=sum(run.counts.created + run.counts.updated for run in real),
            failed=sum(self._left(run) for run in real if run.retry_of is None),
        )

    def _left(self, first: RunRecord) -> int:
        """How many failed rows no retry of the family got through."""
        family = [run for run in self._runs() if run.root_run == first.id and not run.is_dry_run]
        return max(0, first.counts.failed - sum(run.counts.successful for run in family))

    def latest_runs(self, importers: Iterable[str]) -> dict[str, RunRecord]:
        """The newest run of each importer that has one."""
        wanted = set(importers)
        return {run.importer: run for run in reversed(self._runs()) if run.importer in wanted}

    def recent_rejects(self, importers: Iterable[str], most: int = 20) -> dict[str, tuple[RunRejects, ...]]:
        """The rejects of the newest runs of each importer that has any, newest first."""
        found: dict[str, tuple[RunRejects, ...]] = {}
        for run in self._runs():
            if run.importer in set(importers) and len(found.get(run.importer, ())) < most:
                counts = run.counts
                rejects = RunRejects(run_id=run.id, status=run.status, processed=counts.processed, failed=counts.failed)
                found[run.importer] = (*found.get(run.importer, ()), rejects)
        return found

    def importers(self) -> Sequence[str]:
        """The slugs of all importers that have runs, those that are gone included."""
        return tuple(sorted({run.importer for run in self._runs()}))

    def count_starts(self, user_name: str | None, since: datetime) -> int:
        """How many runs the user started since."""
        return sum(run.user_name == user_name and run.started_at >= since for run in self._runs())

    def open_runs(self) -> Sequence[RunRecord]:
        """All runs that have not ended, oldest first."""
        return tuple(run for run in reversed(self._runs()) if not run.status.is_terminal)

    def change_status(
        self,
        run_id: int,
        target: RunStatus,
        *,
        origins: Iterable[RunStatus] | None = None,
        summary: Mapping[str, Any] | None = None,
    ) -> bool:
        """Change the status if the run is in one of ``origins``; raises :class:`IllegalTransition`."""
        allowed = states.origins(target) if origins is None else frozenset(origins)
        for origin in allowed:
            states.check_transition(origin, target)
        with self._lock:
            ledger = self._ledger(run_id)
            if ledger.run.status not in allowed:
                return False
            at = self._clock()
            run = replace(ledger.run, status=target, history=(*ledger.run.history, _change(target, at)))
            if target is RunStatus.CANCELLING:
                run = replace(run, cancel_requested_at=at)
            if target.is_terminal:
                run = replace(run, completed_at=at, summary=None if summary is None else dict(summary))
            ledger.run = run
            return True

    def record_file(self, run_id: int, file: Mapping[str, Any]) -> None:
        """Keep the facts of the staged file; ``name`` also becomes the original file name if none is set."""
        with self._lock:
            ledger = self._ledger(run_id)
            name = ledger.run.original_filename
            name = file.get("name") if name is None else name
            ledger.run = replace(ledger.run, file=dict(file), original_filename=name)

    def record_definition(self, run_id: int, fingerprint: str) -> None:
        """Keep the fingerprint of the definition that works the run."""
        with self._lock:
            ledger = self._ledger(run_id)
            ledger.run = replace(ledger.run, fingerprint=fingerprint)

    def _runs(self) -> list[RunRecord]:
        """All runs, most recent first."""
        with self._lock:
            return [ledger.record() for ledger in reversed(self._ledgers.values())]

    def _newest(self, matches: Callable[[RunRecord], bool]) -> RunRecord | None:
        return next(filter(matches, self._runs()), None)


def _change(status: RunStatus, at: datetime) -> dict[str, Any]:
    return {"status": str(status), "at": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")}


def _matches(which: RunFilter, run: RunRecord) -> bool:
    return (
        (which.importers is None or run.importer in which.importers)
        and (which.importer is None or run.importer == which.importer)
        and (which.statuses is None or run.status in which.statuses)
        and (which.user_name is None or run.user_name == which.user_name)
        and (which.dag_run_id is None or run.dag_run_id == which.dag_run_id)
        and (which.root_run is None or which.root_run in (run.id, run.root_run))
        and (which.started_after is None or run.started_at >= which.started_after)
        and (which.started_before is None or run.started_at < which.started_before)
    )
