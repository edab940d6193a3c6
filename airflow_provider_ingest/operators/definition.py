"""The importer's definition as a run was planned with it, and what becomes of the run when it is changed meanwhile.

Each task reads the DAG file as it is then, so that chunks of one run may be worked by different definitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import RunFailed

if TYPE_CHECKING:
    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.runs.ports import RunStore
    from airflow_provider_ingest.runs.records import RunRecord

DEFINITION = "definition"
"""Member of a run's file: what :func:`definition_of` said when the run was planned."""

CHANGED = "The importer's definition was changed while this run was worked: its rows were not all treated alike."
CHANGED_BEFORE = (
    "The importer's definition was changed between the start of this run and its first task; its rows are worked by "
    "the new one. If nobody changed it, two DAG files may use the slug: see 'airflow ingest doctor'."
)


def definition_of(config: IngestConfig, run: RunRecord) -> dict[str, Any]:
    """The definition in short: where its rows go, how, and the fingerprint of everything."""
    target = config.target
    assert target is not None
    return {
        "table": target.label,
        "conn_id": target.conn_id,
        "is_atomic": config.is_atomic,
        "fingerprint": config.manifest(run.importer).fingerprint,
    }


def check_definition(config: IngestConfig, run: RunRecord, store: RunStore) -> None:
    """Warn if the definition is another one than the run was planned with; see :func:`check_place`."""
    check_place(config, run)
    planned = (run.file or {}).get(DEFINITION)
    if planned is not None and planned != definition_of(config, run):
        store.add_warning(run.id, CHANGED)


def check_place(config: IngestConfig, run: RunRecord) -> None:
    """Raise :class:`RunFailed` if the rest of the run's rows would go elsewhere than those before, or otherwise."""
    planned = (run.file or {}).get(DEFINITION)
    if planned is None:
        return
    now = definition_of(config, run)
    if (planned["table"], planned["conn_id"]) != (now["table"], now["conn_id"]):
        raise RunFailed(
            f"The importer's target was changed while this run was worked, from {planned['table']!r} of the connection "
            f"{planned['conn_id']!r} to {now['table']!r} of {now['conn_id']!r}: the rest of its rows is not written."
        )
    if planned["is_atomic"] != now["is_atomic"]:
        raise RunFailed(
            "The importer was changed while this run was worked, from an atomic one or to one: its rows would be "
            "written in two ways. The rest of them is not."
        )


def warn_of_another_target(config: IngestConfig, run: RunRecord, store: RunStore) -> None:
    """Warn if a retry writes its rows elsewhere than the run whose failed rows they are."""
    if run.retry_of is None:
        return
    before, now = (store.get_run(run.retry_of).file or {}).get(DEFINITION), definition_of(config, run)
    if before is not None and (before["table"], before["conn_id"]) != (now["table"], now["conn_id"]):
        store.add_warning(
            run.id,
            f"Run {run.retry_of} wrote its rows to {before['table']!r} of the connection {before['conn_id']!r}; this "
            f"retry of it writes to {now['table']!r} of {now['conn_id']!r}, as the importer does now.",
        )
