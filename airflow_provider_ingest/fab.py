"""Whether FAB's auth manager is at work, and what its roles need to see the pages and the status tables."""

from __future__ import annotations

ACTION = "can_read"
RESOURCE = "Ingest Tables"
"""FAB's name of what the status tables show."""

PERMISSIONS = ((ACTION, "Plugins"), (ACTION, RESOURCE))
"""For the pages in Airflow's UI, which are plugins to FAB, and for the status tables."""


def runs_fab() -> bool:
    """Whether FAB's auth manager, or one made of it, is at work."""
    from airflow.configuration import conf

    manager = conf.getimport("core", "auth_manager")
    return any(base.__name__ == "FabAuthManager" for base in getattr(manager, "__mro__", ()))
