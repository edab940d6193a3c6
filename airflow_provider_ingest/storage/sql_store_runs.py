"""Runs in the SQL store: recording, finding, listing, and the guarded change of status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Insert, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from airflow_provider_ingest.runs import status as states
from airflow_provider_ingest.runs.records import NewRun, Page, RunFilter, RunRecord, released_name
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.storage.sql_store_base import (
    CHUNKS,
    LINE,
    RUNS,
    SqlBase,
    each_once,
    lock_run,
    missing_run,
    now,
)

OPEN = tuple(sorted(states.OPEN))
COMPLETED = (RunStatus.COMPLETED, RunStatus.COMPLETED_WITH_ERRORS)


class RunTable(SqlBase):
    """The part of the store that keeps runs."""

    def create_run(self, new: NewRun) -> RunRecord:
        """Record a run as ``pending``.

        If its (dag_id, dag_run_id) or its key is recorded already, that run is returned; if it is a retry of a run
        whose retry is still open, that retry. Compare ``key`` to see whether the run is new.
        """
        values = _values(new)
        with self._transaction() as session:
            session.execute(_insert_unless_there(session, values))
            found = self._recorded(session, new)
            if found is None:  # the open retry that was in the way ended between the two statements
                session.execute(insert(RUNS).values(values))
                found = self._recorded(session, new)
        assert found is not None
        return found

    def _recorded(self, session: Session, new: NewRun) -> RunRecord | None:
        same: list[tuple[ColumnElement[bool], ...]] = [
            (RUNS.c.key == new.key,),
            (RUNS.c.dag_id == new.dag_id, RUNS.c.dag_run_id == new.dag_run_id),
        ]
        if new.retry_of is not None:
            same.append((RUNS.c.open_retry_of == new.retry_of,))
        return next((run for each in same if (run := self._first(session, *each)) is not None), None)

    def get_run(self, run_id: int) -> RunRecord:
        """The run; raises :class:`RunNotFound`."""
        with self._transaction() as session:
            found = self._first(session, RUNS.c.id == run_id)
        if found is None:
            raise missing_run(run_id)
        return found

    def find_run(self, dag_id: str, dag_run_id: str) -> RunRecord | None:
        """The run of a DAG run."""
        with self._transaction() as session:
            return self._first(session, RUNS.c.dag_id == dag_id, RUNS.c.dag_run_id == dag_run_id)

    def release_dag_run(self, run_id: int) -> None:
        """Let another run have the id of this one's DAG run, which was deleted."""
        with self._transaction() as session:
            name = released_name(lock_run(session, run_id)["dag_run_id"], run_id)
            session.execute(update(RUNS).where(RUNS.c.id == run_id).values(dag_run_id=name))

    def find_idempotent(self, user_name: str | None, key: str, since: datetime) -> RunRecord | None:
        """The caller's newest run with this idempotency key started after ``since``."""
        with self._transaction() as session:
            return self._first(session, _is(user_name), RUNS.c.idempotency_key == key, RUNS.c.started_at > since)

    def find_retry(self, run_id: int) -> RunRecord | None:
        """The open retry of a run, if there is one."""
        with self._transaction() as session:
            return self._first(session, RUNS.c.open_retry_of == run_id)

    def find_same_file(self, importer: str, sha256: str, fingerprint: str, before: int) -> RunRecord | None:
        """The newest real, completed run with a lower id of the same importer, file and definition."""
        with self._transaction() as session:
            return self._first(
                session,
                RUNS.c.importer == importer,
                RUNS.c.file_sha256 == sha256,
                RUNS.c.fingerprint == fingerprint,
                RUNS.c.id < before,
                RUNS.c.is_dry_run.is_(False),
                RUNS.c.status.in_(COMPLETED),
            )

    def rivals(self, run: RunRecord, sha256: str, fingerprint: str) -> Sequence[RunRecord]:
        """The other real runs of the importer with the same file and definition, staged or completed."""
        query = select(*LINE).where(
            RUNS.c.importer == run.importer,
            RUNS.c.file_sha256 == sha256,
            RUNS.c.fingerprint == fingerprint,
            RUNS.c.id != run.id,
            RUNS.c.is_dry_run.is_(False),
            RUNS.c.status.in_([*COMPLETED, *OPEN]),
        )
        with self._transaction() as session:
            return self._records(session, query.order_by(RUNS.c.id))

    def list_runs(self, which: RunFilter, page: int, per_page: int) -> Page[RunRecord]:
        """Runs, most recent first."""
        conditions = conditions_of(which)
        query = select(*LINE).where(*conditions).order_by(RUNS.c.id.desc())
        with self._transaction() as session:
            total = session.scalar(select(func.count()).select_from(RUNS).where(*conditions)) or 0
            items = self._records(session, query.limit(per_page).offset((page - 1) * per_page))
        return Page(items=items, number=page, size=per_page, total=total)

    def importers(self) -> Sequence[str]:
        """The slugs of all importers that have runs: hops from one to the next in the index, whatever the runs."""
        slugs = select(func.min(RUNS.c.importer).label("slug")).cte("slugs", recursive=True)
        after = select(func.min(RUNS.c.importer)).where(RUNS.c.importer > slugs.c.slug).scalar_subquery()
        slugs = slugs.union_all(select(after).where(slugs.c.slug.is_not(None)))
        with self._transaction() as session:
            return session.scalars(select(slugs.c.slug).where(slugs.c.slug.is_not(None))).all()

    def latest_runs(self, importers: Iterable[str]) -> dict[str, RunRecord]:
        """The newest run of each importer that has one."""
        newest = (
            select(func.max(RUNS.c.id)).where(RUNS.c.importer.in_(sorted(set(importers)))).group_by(RUNS.c.importer)
        )
        with self._transaction() as session:
            return {run.importer: run for run in self._records(session, select(*LINE).where(RUNS.c.id.in_(newest)))}

    def count_starts(self, user_name: str | None, since: datetime) -> int:
        """How many runs the user started since."""
        query = select(func.count()).select_from(RUNS).where(_is(user_name), RUNS.c.started_at >= since)
        with self._transaction() as session:
            return session.scalar(query) or 0

    def open_runs(self) -> Sequence[RunRecord]:
        """All runs that have not ended, oldest first."""
        with self._transaction() as session:
            return self._records(session, select(*LINE).where(RUNS.c.status.in_(OPEN)).order_by(RUNS.c.id))

    def change_status(
        self,
        run_id: int,
        target: RunStatus,
        *,
        origins: Iterable[RunStatus] | None = None,
        summary: Mapping[str, Any] | None = None,
    ) -> bool:
        """Change the status in one guarded UPDATE; ``False`` if the run was in none of ``origins``.

        Raises :class:`IllegalTransition` for an origin from which the state machine knows no way to ``target``.
        """
        allowed = states.origins(target) if origins is None else frozenset(origins)
        for origin in allowed:
            states.check_transition(origin, target)
        at = now()
        values: dict[str, Any] = {"status": str(target)}
        if target is RunStatus.CANCELLING:
            values["cancel_requested_at"] = at
        if target.is_terminal:
            values |= {"completed_at": at, "summary": None if summary is None else dict(summary), "open_retry_of": None}
        guard = (RUNS.c.id == run_id, RUNS.c.status.in_(sorted(allowed)))
        with self._transaction() as session:
            lock_run(session, run_id)  # by its id alone: MariaDB may go by the status, and many at once into a deadlock
            won = _touched(session.execute(update(RUNS).where(*guard).values(values)))
            if won:  # the line is held, so nobody else appends between reading and writing
                history = session.scalar(select(RUNS.c.history).where(RUNS.c.id == run_id))
                history = [*(history or ()), {"status": str(target), "at": stamp(at)}]
                session.execute(update(RUNS).where(RUNS.c.id == run_id).values(history=history))
        return won

    def record_file(self, run_id: int, file: Mapping[str, Any]) -> None:
        """Keep the facts of the staged file; ``name`` also becomes the original file name if none is set."""
        values = {
            "file": dict(file),
            "file_sha256": file.get("sha256"),
            "original_filename": func.coalesce(RUNS.c.original_filename, file.get("name")),
        }
        with self._transaction() as session:
            if not _touched(session.execute(update(RUNS).where(RUNS.c.id == run_id).values(values))):
                raise missing_run(run_id)

    def record_definition(self, run_id: int, fingerprint: str) -> None:
        """Keep the fingerprint of the definition that works the run."""
        with self._transaction() as session:
            session.execute(update(RUNS).where(RUNS.c.id == run_id).values(fingerprint=fingerprint))

    def add_warning(self, run_id: int, warning: str) -> None:
        """Keep a warning for the run's summary; the same sentence once."""
        with self._transaction() as session:
            known = lock_run(session, run_id)["warnings"]
            if warning not in known:
                session.execute(update(RUNS).where(RUNS.c.id == run_id).values(warnings=[*known, warning]))

    def warnings(self, run_id: int) -> Sequence[str]:
        """The warnings of run and chunks, each once."""
        by_chunk = select(CHUNKS.c.warnings).where(CHUNKS.c.run_id == run_id).order_by(CHUNKS.c.chunk_index)
        with self._transaction() as session:
            own = session.scalar(select(RUNS.c.warnings).where(RUNS.c.id == run_id))
            if own is None:
                raise missing_run(run_id)
            parts = session.scalars(by_chunk).all()
        return each_once([*own, *(warning for part in parts for warning in part or ())])


def stamp(at: datetime) -> str:
    """A time as the history and the API write it: UTC, microseconds, ``Z``."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _values(new: NewRun) -> dict[str, Any]:
    started = now()
    return {
        "key": new.key,
        "importer": new.importer,
        "status": str(RunStatus.PENDING),
        "dag_id": new.dag_id,
        "dag_run_id": new.dag_run_id,
        "payload": new.payload,
        "original_filename": new.original_filename,
        "is_dry_run": new.is_dry_run,
        "user_id": new.user_id,
        "user_name": new.user_name,
        "retry_of": new.retry_of,
        "root_run": new.root_run,
        "open_retry_of": new.retry_of,
        "attempt": new.attempt,
        "idempotency_key": new.idempotency_key,
        "request_fingerprint": new.request_fingerprint,
        "fingerprint": new.fingerprint,
        "options": dict(new.options),
        "warnings": [],
        "history": [{"status": str(RunStatus.PENDING), "at": stamp(started)}],
        "started_at": started,
    }


def _insert_unless_there(session: Session, values: Mapping[str, Any]) -> Insert:
    """An INSERT that waits for and then yields to a line with the same unique values, without breaking the
    transaction as an IntegrityError would.
    """
    dialect = session.get_bind().dialect.name
    if dialect == "postgresql":
        return postgresql.insert(RUNS).values(values).on_conflict_do_nothing()
    if dialect == "sqlite":
        return sqlite.insert(RUNS).values(values).on_conflict_do_nothing()
    return insert(RUNS).values(values).prefix_with("IGNORE", dialect="mysql")


def _touched(result: Any) -> bool:
    """Whether a statement changed a line."""
    assert isinstance(result, CursorResult)
    return result.rowcount > 0


def _is(user_name: str | None) -> ColumnElement[bool]:
    return RUNS.c.user_name.is_(None) if user_name is None else RUNS.c.user_name == user_name


def conditions_of(which: RunFilter) -> list[ColumnElement[bool]]:
    """The filter as the database takes it."""
    conditions: list[ColumnElement[bool]] = []
    if which.importers is not None:
        conditions.append(RUNS.c.importer.in_(sorted(which.importers)))
    if which.importer is not None:
        conditions.append(RUNS.c.importer == which.importer)
    if which.statuses is not None:
        conditions.append(RUNS.c.status.in_(sorted(which.statuses)))
    if which.user_name is not None:
        conditions.append(RUNS.c.user_name == which.user_name)
    if which.dag_run_id is not None:
        conditions.append(RUNS.c.dag_run_id == which.dag_run_id)
    if which.root_run is not None:
        conditions.append(or_(RUNS.c.id == which.root_run, RUNS.c.root_run == which.root_run))
    if which.started_after is not None:
        conditions.append(RUNS.c.started_at >= which.started_after)
    if which.started_before is not None:
        conditions.append(RUNS.c.started_at < which.started_before)
    return conditions
