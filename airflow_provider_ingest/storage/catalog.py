"""The importers there are: manifests out of the serialized DAGs that carry the tag ``ingest``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import ImporterNotFound

if TYPE_CHECKING:
    from sqlalchemy import Select
    from sqlalchemy.orm import Session

TAG = "ingest"
STAGE_TASK = "stage"
DEFAULT_POOL = "default_pool"

_manifests: dict[tuple[str, str], dict[str, Any] | None] = {}
"""Parsed manifests by DAG id and hash of the serialized DAG; a new version of a DAG replaces its old one."""


class DagCatalog:
    """Reads manifests through a session on the metadata database.

    Only the hash of each serialized DAG is read as long as it is known; its document once per version. No
    DAG is deserialized and no user code imported.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def manifest(self, slug: str) -> Mapping[str, Any]:
        """One importer's manifest with the state of its DAG; raises :class:`ImporterNotFound`."""
        found = self._read(f"ingest_{slug}")
        if not found:
            raise ImporterNotFound(f"There is no importer {slug!r}.")
        return found[0]

    def manifests(self) -> Sequence[Mapping[str, Any]]:
        """All importers, by slug."""
        return sorted(self._read(None), key=lambda manifest: str(manifest["slug"]))

    def _read(self, dag_id: str | None) -> list[dict[str, Any]]:
        result = []
        for row in self.session.execute(_newest(dag_id)):
            key = (row.dag_id, row.dag_hash)
            if key not in _manifests:
                _forget(row.dag_id)
                _manifests[key] = self._load(row.id)
            manifest = _manifests[key]
            if manifest is not None and manifest.get("dag_id") == row.dag_id:
                state = {
                    "is_paused": bool(row.is_paused),
                    "schedule": row.timetable_summary,
                    "title": None if row.title == row.dag_id else row.title,
                    "description": row.description,
                }
                result.append({**manifest, "dag": {**manifest["dag"], **state}})
        return result

    def _load(self, serialized_id: Any) -> dict[str, Any] | None:
        from airflow.models.serialized_dag import SerializedDagModel

        serialized = self.session.get(SerializedDagModel, serialized_id)
        data = serialized.data if serialized is not None else None
        document = json.loads(data) if isinstance(data, str) else data or {}
        manifest = manifest_in(document)
        return None if manifest is None else {**manifest, "dag": {"pools": pools_in(document)}}


def manifest_in(serialized: Mapping[str, Any]) -> dict[str, Any] | None:
    """The manifest in a serialized DAG, ``None`` for a DAG that is no importer."""
    for entry in serialized.get("dag", {}).get("tasks", ()):
        task = entry.get("__var", entry)
        if task.get("task_id") == STAGE_TASK and task.get("doc_json"):
            try:
                manifest = json.loads(task["doc_json"])
            except ValueError:
                return None
            return manifest if isinstance(manifest, dict) and "slug" in manifest else None
    return None


def pools_in(serialized: Mapping[str, Any]) -> list[str]:
    """The pools of a serialized DAG's tasks; Airflow leaves out its default one."""
    tasks = [entry.get("__var", entry) for entry in serialized.get("dag", {}).get("tasks", ())]
    named = {task.get("pool") or (task.get("partial_kwargs") or {}).get("pool") for task in tasks}
    return sorted(pool or DEFAULT_POOL for pool in named)


def _forget(dag_id: str) -> None:
    for key in [key for key in _manifests if key[0] == dag_id]:
        _manifests.pop(key, None)


def _newest(dag_id: str | None) -> Select[Any]:
    """Id and hash of the newest serialized version of each importer's DAG."""
    from airflow.models.dag import DagModel, DagTag
    from airflow.models.dag_version import DagVersion
    from airflow.models.serialized_dag import SerializedDagModel
    from sqlalchemy import func, select

    newest = (
        select(DagVersion.dag_id, func.max(DagVersion.version_number).label("number"))
        .group_by(DagVersion.dag_id)
        .subquery()
    )
    query = (
        select(
            SerializedDagModel.id,
            SerializedDagModel.dag_id,
            SerializedDagModel.dag_hash,
            DagModel.is_paused,
            DagModel.timetable_summary,
            DagModel.dag_display_name.label("title"),
            DagModel.description,
        )
        .join(DagVersion, DagVersion.id == SerializedDagModel.dag_version_id)
        .join(newest, (newest.c.dag_id == DagVersion.dag_id) & (newest.c.number == DagVersion.version_number))
        .join(DagModel, DagModel.dag_id == SerializedDagModel.dag_id)
        .join(DagTag, (DagTag.dag_id == DagModel.dag_id) & (DagTag.name == TAG))
        .where(DagModel.is_stale.is_(False))
    )
    return query if dag_id is None else query.where(SerializedDagModel.dag_id == dag_id)
