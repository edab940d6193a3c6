"""Looks at many runs at once in the SQL store: the rejects of importers' last runs, the totals of a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, select, union_all

from airflow_provider_ingest.runs.records import RunFilter, RunRejects, RunTotals
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.storage.sql_store_base import CHUNKS, COUNTS, RUNS, SqlBase
from airflow_provider_ingest.storage.sql_store_runs import conditions_of

MOST_SLUGS = 200
"""Importers per statement: SQLite takes 500 parts of a compound query."""


class RejectsView(SqlBase):
    """The part of the store that looks at many runs at once."""

    def recent_rejects(self, importers: Iterable[str], most: int = 20) -> dict[str, tuple[RunRejects, ...]]:
        """The rejects of the newest runs of each importer that has any, newest first.

        One query: each importer's newest runs by the index, all of them joined with their chunks.
        """
        slugs = sorted(set(importers))
        found: dict[str, list[RunRejects]] = {}
        with self._transaction() as session:
            for at in range(0, len(slugs), MOST_SLUGS):
                for row in session.execute(_rejects(slugs[at : at + MOST_SLUGS], most)):
                    rejects = RunRejects(
                        run_id=row.id,
                        status=RunStatus(row.status),
                        processed=int(row.processed),
                        failed=int(row.failed),
                    )
                    found.setdefault(row.importer, []).append(rejects)
        return {slug: tuple(runs) for slug, runs in found.items()}

    def totals(self, which: RunFilter) -> RunTotals:
        """What became of the rows of these runs: sums in the database, whatever the number of runs."""
        conditions = conditions_of(which)
        with self._transaction() as session:
            return RunTotals(
                runs=session.scalar(select(func.count()).select_from(RUNS).where(*conditions)) or 0,
                imported=int(session.scalar(_sum_of_real_runs("created", "updated").where(*conditions)) or 0),
                failed=int(session.scalar(_left(conditions)) or 0),
            )


def _sum_of_real_runs(*names: str) -> Select[Any]:
    """The sum of these counts over the chunks of runs that are no dry runs."""
    counted = sum((CHUNKS.c[name] for name in names[1:]), CHUNKS.c[names[0]])
    chunks = RUNS.join(CHUNKS, CHUNKS.c.run_id == RUNS.c.id)
    return select(func.sum(counted).label("rows")).select_from(chunks).where(RUNS.c.is_dry_run.is_(False))


def _left(conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The failed rows of first runs less those that their retries got through; a row may have got through twice."""
    first = _sum_of_real_runs("failed").add_columns(RUNS.c.id).where(RUNS.c.retry_of.is_(None), *conditions)
    failed = first.group_by(RUNS.c.id).having(func.sum(CHUNKS.c.failed) > 0).cte("failed")
    retried = (
        _sum_of_real_runs("created", "updated", "skipped")
        .add_columns(RUNS.c.root_run)
        .where(RUNS.c.root_run.in_(select(failed.c.id)))
        .group_by(RUNS.c.root_run)
        .cte("retried")
    )
    left = failed.c.rows - func.coalesce(retried.c.rows, 0)
    return select(func.sum(case((left > 0, left), else_=0))).select_from(
        failed.outerjoin(retried, retried.c.root_run == failed.c.id)
    )


def _rejects(slugs: Sequence[str], most: int) -> Select[Any]:
    """Counts of the newest runs of each of these importers, newest first."""
    columns = (RUNS.c.id, RUNS.c.importer, RUNS.c.status)
    newest = union_all(
        *(
            select(select(*columns).where(RUNS.c.importer == slug).order_by(RUNS.c.id.desc()).limit(most).subquery())
            for slug in slugs
        )
    ).subquery("newest")
    processed = sum((CHUNKS.c[name] for name in COUNTS[1:]), CHUNKS.c[COUNTS[0]])
    return (
        select(
            newest,
            func.coalesce(func.sum(processed), 0).label("processed"),
            func.coalesce(func.sum(CHUNKS.c.failed), 0).label("failed"),
        )
        .outerjoin(CHUNKS, CHUNKS.c.run_id == newest.c.id)
        .group_by(*newest.c)
        .order_by(newest.c.id.desc())
    )
