"""Connections for hooks, and somewhere to put what they fetch."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.base import Sink, SourceHook, Stream
from airflow_provider_ingest.importers.source import SourceSpec
from airflow_provider_ingest.operators.staging import stage_source
from airflow_provider_ingest.runs.records import NewRun
from airflow_provider_ingest.storage.files import Staging
from airflow_provider_ingest.testing.memory_store import MemoryStore


class Fetched:
    """What a hook has fetched."""

    def __init__(self, stream: Stream, content: bytes, sink: Sink) -> None:
        self.name = stream.name
        self.facts = stream.facts
        self.content = content
        self.sha256 = sink.sha256


class _Kept(io.BytesIO):
    """A file that can still be looked at when it was closed."""

    def close(self) -> None:
        pass


@pytest.fixture
def fetch() -> Callable[..., Fetched]:
    """Read a hook to its end."""

    def run(hook: SourceHook, max_bytes: int = 10**9) -> Fetched:
        file = _Kept()
        with Sink(file, max_bytes=max_bytes) as sink:
            stream = hook.fetch(sink)
        return Fetched(stream, file.getvalue(), sink)

    return run


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Make an Airflow connection, as Airflow finds them in the environment."""

    def make(conn_id: str, **fields: Any) -> str:
        monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(fields))
        return conn_id

    return make


class StagedRun:
    """A run whose file is staged as its first task does it, as often as that is tried."""

    def __init__(self, folder: Path, source: SourceSpec, **run: Any) -> None:
        self.source = source
        self.staging = Staging(str(folder))
        self.store = MemoryStore()
        self.id = self.store.create_run(NewRun(key="key", importer="a", dag_id="ingest_a", dag_run_id="one", **run)).id

    def stage(self) -> dict[str, Any]:
        """Stage the file; returns what is kept of it."""
        return stage_source(self.source, self.store.get_run(self.id), self.store, self.staging)

    @property
    def content(self) -> bytes:
        """The staged file."""
        return b"".join(self.staging.blocks((self.store.get_run(self.id).file or {})["reference"]))

    def lose_staged_file(self) -> None:
        """Delete the staged file behind the run's back."""
        self.staging.remove((self.store.get_run(self.id).file or {})["reference"])


@pytest.fixture
def staged_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., StagedRun]:
    """Make a run whose file can be staged."""
    monkeypatch.setenv("AIRFLOW__INGEST__ALLOW_PRIVATE_NETWORKS", "True")
    return lambda source, **run: StagedRun(tmp_path / "staging", source, **run)


@pytest.fixture
def stays_pinned(staged_run: Callable[..., StagedRun]) -> Callable[..., None]:
    """Check that no try of a run reads another version of its file than the first one staged."""

    def check(source: SourceSpec, change: Callable[[], Any], **run: Any) -> None:
        tried = staged_run(source, **run)
        facts = tried.stage()
        first = tried.content
        change()
        assert tried.stage() == facts
        assert tried.content == first
        tried.lose_staged_file()
        with pytest.raises(SourceError, match="another version") as caught:
            tried.stage()
        assert not caught.value.retryable
        assert facts["sha256"][:12] in str(caught.value)
        assert not tried.staging.has(facts["reference"])

    return check
