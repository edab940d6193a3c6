"""Chunks that are killed, cut off, and worked twice at once: every row is there once in the end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa

from airflow_provider_ingest.exceptions import TargetError
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.targets import open_target
from airflow_provider_ingest.targets.base import SqlTarget
from tests.contract.target_fixtures import PRODUCTS, Shop, batch
from tests.integration.targets import worker

TOTAL = 3 * worker.ROWS
ROOT = Path(__file__).parents[3]


class Workers:
    """Processes that work the chunk of one run."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.run_key = str(uuid4())
        self._started: list[subprocess.Popen[str]] = []

    def start(self, point: str = "end") -> subprocess.Popen[str]:
        arguments = [sys.executable, "-m", "tests.integration.targets.worker", self.shop.url, self.run_key, point]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self._started.append(process)
        return process

    def run(self) -> str:
        return self.start().communicate(timeout=120)[0].strip()

    def kill_at(self, point: str) -> None:
        process = self.start(point)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == point
        process.kill()
        process.wait(30)

    def stop(self) -> None:
        for process in self._started:
            process.kill()
            process.wait(30)
            if process.stdout is not None:
                process.stdout.close()


@pytest.fixture(params=["postgres", "sqlite", "mariadb"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    made = Workers(Shop(request.getfixturevalue(f"{request.param}_url"), open_target))
    yield made
    made.stop()


@pytest.fixture
def postgres(postgres_url: str) -> Shop:
    return Shop(postgres_url, open_target)


@pytest.mark.parametrize("point", ["before", "opened", "wrote 0", "wrote 2", "before commit"])
def test_a_chunk_killed_before_its_commit_leaves_nothing_and_is_worked_again(workers: Workers, point: str) -> None:
    workers.kill_at(point)
    assert workers.shop.count(PRODUCTS) == 0
    assert workers.run() == "done"
    assert workers.shop.count(PRODUCTS) == TOTAL


def test_a_chunk_killed_after_its_commit_is_only_reported_again(workers: Workers) -> None:
    workers.kill_at("after commit")
    assert workers.shop.count(PRODUCTS) == TOTAL
    assert workers.run() == "recorded"
    assert workers.shop.count(PRODUCTS) == TOTAL


def test_of_two_workers_on_one_chunk_the_second_waits_and_finds_the_marker(workers: Workers) -> None:
    both = [workers.start(), workers.start()]
    said = sorted(one.communicate(timeout=120)[0].strip() for one in both)
    assert said == ["done", "recorded"]
    assert workers.shop.count(PRODUCTS) == TOTAL


def test_kills_at_any_moment_lose_and_double_nothing(workers: Workers) -> None:
    process = workers.start("before")
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    for attempt in range(4):
        process = workers.start()
        time.sleep(0.6 + 0.15 * attempt)  # imports take about this long; the work falls somewhere around it
        process.kill()
        process.wait(30)
        assert workers.shop.count(PRODUCTS) in (0, TOTAL)
    assert workers.run() in ("done", "recorded")
    assert workers.shop.count(PRODUCTS) == TOTAL


def write_and_cut(shop: Shop, target: SqlTarget, run_key: str, moment: str) -> None:
    with target.open_chunk(run_key, 0, dry_run=False) as chunk:
        chunk.write(batch(worker.rows(0)))
        with psycopg.connect(shop.url, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE application_name = 'airflow-ingest' AND datname = current_database()"
            )
        if moment == "write":
            chunk.write(batch(worker.rows(1), first=1000))
        chunk.commit(ChunkOutcome(counts=Counts(created=worker.ROWS)))


@pytest.mark.parametrize("moment", ["write", "commit"])
def test_a_connection_that_is_cut_is_a_retryable_error(postgres: Shop, moment: str) -> None:
    target, run_key = postgres.target(worker.config()), str(uuid4())
    with pytest.raises(TargetError) as cut:
        write_and_cut(postgres, target, run_key, moment)
    assert cut.value.retryable
    assert "postgresql" not in str(cut.value)
    assert postgres.count(PRODUCTS) == 0
    with target.open_chunk(run_key, 0, dry_run=False) as chunk:
        assert chunk.recorded is None
        chunk.commit(ChunkOutcome(counts=Counts(created=chunk.write(batch(worker.rows(0))).created)))
    assert postgres.count(PRODUCTS) == worker.ROWS


def test_a_server_that_does_not_answer_is_told_without_its_address() -> None:
    target = open_target("postgresql://someone:s3cret@127.0.0.1:9/shop", worker.config())
    with pytest.raises(TargetError, match="refused") as failed:
        target.shape()
    assert failed.value.retryable
    assert not any(word in str(failed.value) for word in ("s3cret", "127.0.0.1", "someone"))


def test_a_role_that_may_not_create_the_marker_table_is_told_what_to_ask_for(postgres: Shop) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS ingest_poor")
        connection.execute("CREATE ROLE ingest_poor LOGIN")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute("GRANT SELECT, INSERT ON products TO ingest_poor")
        try:
            url = sa.make_url(postgres.url).set(username="ingest_poor").render_as_string(hide_password=False)
            target = open_target(url, worker.config())
            with (
                pytest.raises(TargetError, match=r"CREATE TABLE ingest_commits.*GRANT SELECT, INSERT"),
                target.open_chunk(str(uuid4()), 0, dry_run=False),
            ):
                pass
        finally:
            connection.execute("DROP OWNED BY ingest_poor")
            connection.execute("DROP ROLE ingest_poor")
