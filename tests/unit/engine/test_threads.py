"""The threads that a task's process has."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from airflow_provider_ingest.engine.threads import BEHIND, stay_behind, without_old_garbage

ASK = """
from airflow_provider_ingest import IngestConfig, SourceType, transformers, validators
from airflow_provider_ingest.engine.threads import keep_to_own_threads

config = IngestConfig.for_("orders", conn_id="shop").from_source(SourceType.UPLOAD).map_transform_and_validate(
    "name", "name", transformers.TrimTransformer, validators.RequiredValidator)
keep_to_own_threads()
import polars
print(polars.thread_pool_size())
"""

TELL = """
import os
from airflow_provider_ingest.engine.threads import keep_to_own_threads

keep_to_own_threads()
os.environ["_RJEM_MALLOC_CONF"] += ",stats_print:true"
import polars
polars.Series([1]).sum()
"""
"""The allocator of Polars tells at the end what it was told."""


@pytest.mark.parametrize(("told", "threads"), [({}, "1"), ({"POLARS_MAX_THREADS": "3"}, "3")])
def test_a_task_that_has_parsed_its_importer_still_decides_on_the_threads_of_polars(
    told: dict[str, str], threads: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"} | told
    asked = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == threads


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Polars has another allocator")
@pytest.mark.parametrize(("told", "arenas"), [({}, "1"), ({"_RJEM_MALLOC_CONF": "narenas:3"}, "3")])
def test_the_threads_of_a_task_share_the_memory_that_polars_keeps(told: dict[str, str], arenas: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "_RJEM_MALLOC_CONF"} | told
    asked = subprocess.run([sys.executable, "-c", TELL], env=environment, capture_output=True, text=True, check=True)
    assert f"opt.narenas: {arenas}\n" in asked.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no priorities of their own")
def test_a_thread_that_stays_behind_leaves_the_others_their_priority() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    before = niceness()
    with ThreadPoolExecutor(1, initializer=stay_behind) as behind, ThreadPoolExecutor(1) as beside:
        assert behind.submit(niceness).result() == min(before + BEHIND, 19)
        assert beside.submit(niceness).result() == before
    assert niceness() == before


def test_the_garbage_collector_leaves_alone_what_was_there_before_and_no_longer() -> None:
    with without_old_garbage():
        assert gc.get_freeze_count() > 0
        young: list[object] = []
        young.append(young)
        assert any(one is young for one in gc.get_objects())
    assert gc.get_freeze_count() == 0


def test_what_somebody_else_has_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        with without_old_garbage():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
