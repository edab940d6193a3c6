"""DAG runs that are gone from Airflow's database while their ingest runs go on."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.waiting import wait_until

LAST_LOOK = "SELECT max(latest_heartbeat) FROM job WHERE job_type = 'SchedulerJob' AND state = 'running'"


def lose_dag_run(airflow: AirflowServer, dag_run_id: str) -> None:
    """Take a running DAG run out of Airflow's database, as cleaning it by hand would.

    Airflow's scheduler ends for good if a DAG run vanishes while it looks at it, so it is first made to look away: it
    looks at running ones only, and its heartbeat follows each look.
    """
    with closing(sqlite3.connect(airflow.home / "airflow.db", timeout=60)) as database:
        with database:
            database.execute("UPDATE dag_run SET state = 'success' WHERE run_id = ?", (dag_run_id,))
        before = database.execute(LAST_LOOK).fetchone()
        wait_until(lambda: database.execute(LAST_LOOK).fetchone() != before, name="the scheduler's next look")
        database.execute("PRAGMA foreign_keys=ON")
        with database:
            database.execute("DELETE FROM dag_run WHERE run_id = ?", (dag_run_id,))
