"""What runs once when the API server has started."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from airflow_provider_ingest.plugins.api.startup import AtStartMiddleware


def passed_on(kind: str, messages: list[str], work: Any) -> list[str]:
    """What the server hears of an app that sends these messages."""
    heard: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in messages:
            await send({"type": message})

    async def send(message: dict[str, Any]) -> None:
        heard.append(message["type"])

    asyncio.run(AtStartMiddleware(app, work)({"type": kind}, None, send))  # type: ignore[arg-type]
    return heard


STARTED = ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_the_work_begins_when_the_server_has_started_and_nobody_waits_for_it() -> None:
    may_end, has_begun = threading.Event(), threading.Event()

    def work() -> None:
        has_begun.set()
        may_end.wait(30)

    assert passed_on("lifespan", STARTED, work) == STARTED
    assert has_begun.wait(30)
    may_end.set()


@pytest.mark.parametrize(
    ("kind", "messages"), [("lifespan", ["lifespan.startup.failed"]), ("http", ["http.response.start"])]
)
def test_nothing_is_done_for_a_server_that_did_not_start_or_for_a_request(kind: str, messages: list[str]) -> None:
    calls: list[int] = []
    assert passed_on(kind, messages, lambda: calls.append(1)) == messages
    assert calls == []
