"""The threads that a task's process has."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from airflow_provider_ingest.engine.threads import BEHIND, stay_behind

ASK = """
from airflow_provider_ingest import IngestConfig, SourceType, transformers, validators
from airflow_provider_ingest.engine.threads import keep_to_own_threads

config = IngestConfig.for_("orders", conn_id="shop").from_source(SourceType.UPLOAD).map_transform_and_validate(
    "name", "name", transformers.TrimTransformer, validators.RequiredValidator)
keep_to_own_threads()
import polars
print(polars.thread_pool_size())
"""


@pytest.mark.parametrize(("told", "threads"), [({}, "1"), ({"POLARS_MAX_THREADS": "3"}, "3")])
def test_a_task_that_has_parsed_its_importer_still_decides_on_the_threads_of_polars(
    told: dict[str, str], threads: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"} | told
    asked = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == threads


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no priorities of their own")
def test_a_thread_that_stays_behind_leaves_the_others_their_priority() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    before = niceness()
    with ThreadPoolExecutor(1, initializer=stay_behind) as behind, ThreadPoolExecutor(1) as beside:
        assert behind.submit(niceness).result() == min(before + BEHIND, 19)
        assert beside.submit(niceness).result() == before
    assert niceness() == before
