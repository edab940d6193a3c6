"""CeleryExecutor, PostgreSQL, Redis and S3, a worker killed in mid-run: the ledger is what the generator counted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "scripts" / "cluster_demo.py"


@pytest.mark.skipif(not os.environ.get("INGEST_TEST_CLUSTER"), reason="takes minutes: make torture runs it")
@pytest.mark.timeout(900)
def test_every_row_is_there_once_though_a_worker_is_killed_in_mid_run(tmp_path):
    done = subprocess.run(
        [sys.executable, DEMO, "--kill", "--home", tmp_path / "cluster"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Killed worker-1" in done.stdout
    assert "every row once" in done.stdout
