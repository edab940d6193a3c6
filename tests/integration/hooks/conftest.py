"""Connections for hooks, and somewhere to put what they fetch."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from airflow_provider_ingest.hooks.base import Sink, SourceHook, Stream


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
