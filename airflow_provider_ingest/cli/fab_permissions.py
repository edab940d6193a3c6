"""Letting roles of FAB see the pages and the status tables, which by default only Admin (and the pages Op) may."""

from __future__ import annotations

import sys
from typing import Any

from airflow_provider_ingest.cli.entry import command
from airflow_provider_ingest.cli.output import print_as
from airflow_provider_ingest.exceptions import InvalidParameter
from airflow_provider_ingest.fab import PERMISSIONS, runs_fab

ROLES = ("Viewer", "User", "Op")


@command
def grant_pages(args: Any) -> None:
    """Give roles the right to read plugins and the status tables; nothing is taken away from anybody."""
    from airflow.configuration import conf
    from airflow.utils.session import create_session

    if not runs_fab():
        raise InvalidParameter(
            "FabAuthManager is not at work ([core] auth_manager): there are no roles to give permissions to, and the "
            "pages show to every user."
        )
    from airflow.providers.fab.www.security_appless import ApplessAirflowSecurityManager

    roles = list(dict.fromkeys(args.role or ROLES))
    with create_session() as session:
        manager = ApplessAirflowSecurityManager(session=session)
        unknown = [name for name in roles if manager.find_role(name) is None]
        if unknown:
            known = ", ".join(sorted(role.name for role in manager.get_all_roles()))
            raise InvalidParameter(f"There is no role {unknown[0]!r}; there are {known}.")
        manager.bulk_sync_roles([{"role": name, "perms": set(PERMISSIONS)} for name in roles])
    lines = [{"role": name, "permission": f"{action} on {what}"} for name in roles for action, what in PERMISSIONS]
    print_as(args.output, lines, lines)
    seconds = conf.getint("fab", "cache_ttl", fallback=30)  # as FAB's auth manager reads it
    print(f"A running API server knows of it within {seconds} seconds.", file=sys.stderr)
