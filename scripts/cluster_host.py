"""The name of a machine of the cluster, which are all one: what Airflow writes down for the tasks it runs there."""

from __future__ import annotations

import os


def name() -> str:
    return os.environ["CLUSTER_HOST"]
