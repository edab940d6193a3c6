"""What a use case is told: who asks, with which file, within which limits, over which ports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow_provider_ingest.runs.ports import Catalog, Launcher, RunStore

GONE = "it was removed, or its file has import errors."
"""Why the DAG of an importer that has run before is not there."""

IDEMPOTENCY_WINDOW = timedelta(hours=24)
"""For how long an ``Idempotency-Key`` answers with the first run."""

MAX_PAYLOAD = 4096
"""Longest path that a start may name, in characters."""

MAX_IDEMPOTENCY_KEY = 255
"""Longest ``Idempotency-Key``, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, as the auth manager (or the operating system, on the command line) says; never the request.

    :param id: the auth manager's integer id where it has one.
    """

    name: str | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedUpload:
    """A file that is in the staging area already.

    :param ref: its staging reference, the payload of the run.
    :param name: the client's name of the file.
    :param sha256: of its content, in hexadecimal.
    """

    ref: str
    name: str
    size: int
    sha256: str
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What callers may ask for.

    :param starts: most runs that one caller may start per ``window``; 0 is no limit.
    :param window: length of the window in seconds.
    """

    starts: int = 0
    window: int = 60


def utc_now() -> datetime:
    """The time, aware and in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Everything a use case reaches the world through."""

    store: RunStore
    launcher: Launcher
    catalog: Catalog
    limits: Limits = Limits()
    now: Callable[[], datetime] = utc_now


def fingerprint_of(**request: Any) -> str:
    """A digest that is equal exactly for equal requests.

    >>> fingerprint_of(slug="a", dry_run=True) == fingerprint_of(dry_run=True, slug="a")
    True
    """
    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
