"""The configuration that a DAG run was triggered with."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from airflow_provider_ingest.exceptions import RunFailed

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_provider_ingest.runs.records import RunRecord

RUN_ID = "ingest_run_id"
"""By this the service's own DAG runs name their run."""


def check_configuration(context: Context, run: RunRecord) -> None:
    """Raise :class:`RunFailed` for a configuration that asks for something else than what would be done.

    Airflow takes any JSON object. Members with names of their own are let through, since others may add what is not
    for the importer; one that is nearly a parameter's, like ``dryRun``, was meant for it, and would be overlooked.
    """
    given, taken = dict(context["dag_run"].conf or {}), context["params"]
    params = list(context["dag"].params)  # those of the context hold all that was given
    if RUN_ID in given and given[RUN_ID] != run.id:
        raise RunFailed(
            f"Ingest run {given[RUN_ID]!r} does not belong to the DAG run {run.dag_run_id!r}: "
            f"leave {RUN_ID!r} out of the configuration; a run is recorded by itself."
        )
    plain = {_plain(name): name for name in params}
    for name, value in given.items():
        if name in params:
            if value != taken[name]:
                raise RunFailed(
                    f"The configuration's {name!r} is not taken, since [core] dag_run_conf_overrides_params is off."
                )
        elif close := difflib.get_close_matches(_plain(name), plain, n=1, cutoff=0.8):
            raise RunFailed(f"The configuration has {name!r}, which is no parameter; is {plain[close[0]]!r} meant?")


def _plain(name: str) -> str:
    """A name without what spellings differ in.

    >>> _plain("dryRun"), _plain("dry-run")
    ('dryrun', 'dryrun')
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())
