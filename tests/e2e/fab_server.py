"""An API server under FAB's auth manager, without scheduler: enough for rights, which need no tasks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.second_server import second_api_server

FAB = "airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager"

OWN_PRODUCTS = [
    ("can_read", "DAG:ingest_products"),
    ("can_edit", "DAG:ingest_products"),
    ("can_read", "DAG Runs"),
    ("can_create", "DAG Runs"),
    ("can_edit", "DAG Runs"),
    ("can_read", "Task Logs"),
]
NO_LOGS = [("can_read", "DAGs"), ("can_read", "DAG Runs")]

ROLES = {"products_only": OWN_PRODUCTS, "no_logs": NO_LOGS}
USERS = {
    "admin": "Admin",
    "user": "User",
    "viewer": "Viewer",
    "public": "Public",
    "products_only": "products_only",
    "no_logs": "no_logs",
}

MAKE_USERS = """
import json, sys
from airflow.providers.fab.auth_manager.cli_commands.utils import get_application_builder
roles, users = json.loads(sys.argv[1])
with get_application_builder() as builder:
    manager = builder.sm
    manager.sync_roles()
    for name, permissions in roles.items():
        role = manager.add_role(name)
        for action, resource in permissions:
            manager.add_permission_to_role(role, manager.create_permission(action, resource))
    for name, role in users.items():
        assert manager.add_user(name, name, name, name + "@shop.example", manager.find_role(role), password=name), name
"""

MAKE_RUNS = """
from sqlalchemy import create_engine
from airflow_provider_ingest.storage.sql_store import SqlStore
from tests.e2e.seeds import failed_run
store = SqlStore.on_engine(create_engine("sqlite:///" + {database!r}))
print(*[failed_run(store, slug).id for slug in ("products", "customers", "gone")])
"""


@contextmanager
def fab_server(home: Path) -> Iterator[tuple[AirflowServer, dict[str, int]]]:
    """The server, and a run with failed rows of two importers and of one that is gone, by slug."""
    base = AirflowServer.prepare(home, AIRFLOW__CORE__AUTH_MANAGER=FAB, AIRFLOW__FAB__CACHE_TTL="0")
    base.run_cli("db", "migrate")
    base.run_cli("dags", "reserialize")
    subprocess.run(["python", "-c", MAKE_USERS, json.dumps([ROLES, USERS])], env=base.environment, check=True, cwd=home)
    ids = base.python(MAKE_RUNS.format(database=str(home / "airflow.db"))).split()
    with second_api_server(base, home) as server:
        yield server, dict(zip(("products", "customers", "gone"), map(int, ids), strict=True))
