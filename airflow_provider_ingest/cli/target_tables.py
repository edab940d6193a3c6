"""What the doctor can tell of an importer's table from its manifest: importing its DAG file would run a user's code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import IngestError, SetupError
from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.importers.mapping import DuplicateStrategy, Key, Relation
from airflow_provider_ingest.importers.mapping import Mapping as FieldMapping
from airflow_provider_ingest.importers.nested import NestedConfig
from airflow_provider_ingest.importers.target import TargetSpec

if TYPE_CHECKING:
    from airflow_provider_ingest.importers.table import TableShape

ANSWER_SECONDS = 10.0
"""How long a target database may take to tell of its tables."""


class NoAnswer(SetupError):
    """The target database said nothing in time."""


def check_target(manifest: Mapping[str, Any], conn: Any) -> None:
    """Look for the importer's tables and their columns, as the task ``plan`` does before each run.

    In a thread of its own, which ends with the process: what a database may wait for differs from driver to driver.

    :param conn: the Airflow connection of the target.
    :raises NoAnswer: after :data:`ANSWER_SECONDS`.
    :raises IngestError: no row could be written, and why.
    """
    answers: SimpleQueue[IngestError | None] = SimpleQueue()
    Thread(target=_put, args=(answers, lambda: _look(manifest, conn)), daemon=True).start()
    try:
        error = answers.get(timeout=ANSWER_SECONDS)
    except Empty:
        raise NoAnswer(
            f"The target database (connection {conn.conn_id!r}) does not answer within {ANSWER_SECONDS:g} s: is it up, "
            "and can it be reached from here?"
        ) from None
    if error is not None:
        raise error


def _put(answers: SimpleQueue[IngestError | None], look: Callable[[], None]) -> None:
    try:
        look()
    except IngestError as error:
        answers.put(error)
    except Exception as error:  # noqa: BLE001  # the hook of any provider may have been asked, and the thread ends here
        reason = type(error).__name__  # its words may hold the password
        answers.put(SetupError(f"The connection of the target cannot be used ({reason}): correct its type and extras."))
    else:
        answers.put(None)


def _look(manifest: Mapping[str, Any], conn: Any) -> None:
    from pathlib import Path

    from airflow_provider_ingest.engine.plan import compile_plan
    from airflow_provider_ingest.storage.connections import database_url
    from airflow_provider_ingest.targets import open_target

    url = database_url(conn)
    if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).exists():
        raise SetupError(f"There is no database {url.database!r} here.")  # to look would make one
    classes = frozenset(manifest.get("classes", ()))
    config = _declared(manifest, classes)
    target = open_target(url, config)
    shape = _filled(target.shape()) if "" in classes else target.shape()
    compile_plan(config, shape, target.child_shapes())


def _declared(manifest: Mapping[str, Any], classes: frozenset[str]) -> IngestConfig:
    """Of the definition, what names tables and columns.

    Collections whose table is a class are left out: the class may know a foreign key that the database does not.
    """
    target = manifest["target"]
    return IngestConfig(
        target=TargetSpec(model=target["table"], conn_id=target["conn_id"]), **_table(manifest, classes)
    )


def _table(manifest: Mapping[str, Any], classes: frozenset[str]) -> dict[str, Any]:
    key = manifest["key"]
    return {
        "mappings": tuple(
            FieldMapping(fields=tuple(one["fields"]), attribute=one["attribute"]) for one in manifest["mappings"]
        ),
        "relations": tuple(Relation(**one) for one in manifest["relations"]),
        "key": Key(attributes=tuple(key["attributes"]), on_duplicate=DuplicateStrategy(key["on_duplicate"]))
        if key
        else None,
        "nested": tuple(
            NestedConfig(
                path=one["path"],
                target=TargetSpec(model=one["target"]["table"], conn_id=one["target"]["conn_id"]),
                parent_key=one["parent_key"],
                **_table(one, classes),
            )
            for one in manifest["nested"]
            if one["path"] not in classes
        ),
    }


def _filled(shape: TableShape) -> TableShape:
    """The table of a class, which fills columns itself; what it does not fill was asked for where it was defined."""
    return replace(shape, columns=tuple(replace(column, has_constant=True) for column in shape.columns))
