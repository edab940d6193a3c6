"""The rejects of importers' last runs in the SQL store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Select, func, select, union_all

from airflow_provider_ingest.runs.records import RunRejects
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.storage.sql_store_base import CHUNKS, COUNTS, RUNS, SqlBase

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
