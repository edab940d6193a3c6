"""Starting a run: the checks that come before anything is recorded, and the recording."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from airflow_provider_ingest.exceptions import Conflict, InvalidParameter, PayloadRequired, TooManyStarts
from airflow_provider_ingest.importers.source import SourceType, pattern_hint
from airflow_provider_ingest.runs.records import NewRun, RunRecord
from airflow_provider_ingest.service.requests import (
    IDEMPOTENCY_WINDOW,
    MAX_IDEMPOTENCY_KEY,
    MAX_PAYLOAD,
    Caller,
    Ports,
    StagedUpload,
    fingerprint_of,
)

PRINTABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A start that was checked: all but the run's id and status."""

    slug: str
    dag_id: str
    caller: Caller
    payload: str | None = None
    filename: str | None = None
    dry_run: bool = False
    idempotency_key: str | None = None
    fingerprint: str
    """Of the request, to tell a repeated one from another one under the same key."""

    definition: str | None = None
    """Fingerprint of the importer's definition."""

    dag_run_id: str | None = None
    retry_of: RunRecord | None = None
    options: dict[str, Any] = field(default_factory=dict)


def source_type(manifest: Mapping[str, Any]) -> SourceType:
    """The type of the importer's source."""
    return SourceType(manifest["source"]["type"])


def check_startable(manifest: Mapping[str, Any]) -> None:
    """Raise :class:`Conflict` where the importer's DAG would let a run wait for ever."""
    if manifest.get("dag", {}).get("is_paused"):
        raise Conflict(
            f"The importer {manifest['slug']!r} is paused; unpause its DAG {manifest['dag_id']!r} to start runs.",
            "importer_paused",
        )


def check_takes_upload(manifest: Mapping[str, Any]) -> None:
    """Raise :class:`Conflict` unless the importer reads uploaded files."""
    kind = source_type(manifest)
    if kind is not SourceType.UPLOAD:
        raise Conflict(
            f"The importer {manifest['slug']!r} reads from {kind.value}, not from an upload; start it with trigger.",
            "source_is_not_upload",
        )


def check_takes_file(manifest: Mapping[str, Any]) -> None:
    """Raise :class:`Conflict` for an importer that can only read what its source says."""
    kind = source_type(manifest)
    if kind is not SourceType.UPLOAD and not kind.takes_path:
        raise Conflict(
            f"The importer {manifest['slug']!r} reads from {kind.value}; start it without a file.", "takes_no_file"
        )


def check_trigger(manifest: Mapping[str, Any], payload: str | None) -> None:
    """Raise unless the importer can be started without an upload, with this payload."""
    slug, kind = manifest["slug"], source_type(manifest)
    if kind is SourceType.UPLOAD:
        raise Conflict(f"The importer {slug!r} takes an uploaded file; start it with upload.", "source_is_upload")
    if payload is None:
        default = manifest["source"].get("options", {}).get("path")
        if kind.takes_path and not default:
            raise PayloadRequired(f"The importer {slug!r} has no default path: name the file to read as payload.")
        if kind.takes_path and (hint := pattern_hint(default)) is not None:
            raise _invalid("payload", f"The importer's default path {hint}")
        return
    if not kind.takes_path:
        raise _invalid("payload", f"The importer {slug!r} reads from {kind.value}, which takes no payload.")
    if not payload.strip() or len(payload) > MAX_PAYLOAD or CONTROL.search(payload):
        raise _invalid("payload", f"A payload is a path of 1 to {MAX_PAYLOAD} characters without control characters.")
    if (hint := pattern_hint(payload)) is not None:
        raise _invalid("payload", hint)


def check_idempotency_key(key: str | None) -> None:
    """Raise :class:`InvalidParameter` for a key that is no short printable text."""
    if key is not None and (len(key) > MAX_IDEMPOTENCY_KEY or not PRINTABLE.fullmatch(key)):
        message = f"An Idempotency-Key is 1 to {MAX_IDEMPOTENCY_KEY} printable ASCII characters."
        raise _invalid("Idempotency-Key", message)


def check_rate(ports: Ports, caller: Caller) -> None:
    """Raise :class:`TooManyStarts` if the caller used up the starts of the window."""
    limits = ports.limits
    if not limits.starts:
        return
    since = ports.now() - timedelta(seconds=limits.window)
    if ports.store.count_starts(caller.name, since) >= limits.starts:
        raise TooManyStarts(
            f"At most {limits.starts} runs can be started in {limits.window} seconds; try again later.",
            retry_after=limits.window,
        )


def earlier_run(ports: Ports, start: Start) -> RunRecord | None:
    """The run that this caller's same request under the same key has started already.

    Raises :class:`Conflict` if the key was used for another request.
    """
    if start.idempotency_key is None:
        return None
    since = ports.now() - IDEMPOTENCY_WINDOW
    run = ports.store.find_idempotent(start.caller.name, start.idempotency_key, since)
    return None if run is None else _same_request(run, start)


def record(ports: Ports, start: Start) -> RunRecord:
    """Record the run and create its DAG run, or answer with the run that the same request started before."""
    if (earlier := earlier_run(ports, start)) is not None:
        return earlier
    check_rate(ports, start.caller)
    new = _new_run(ports, start)
    run = ports.store.create_run(new)
    if run.key != new.key:  # a request at the same moment was faster
        return _same_request(run, start) if start.retry_of is None else run
    ports.launcher.launch(run)
    return run


def upload_start(
    manifest: Mapping[str, Any], upload: StagedUpload, caller: Caller, *, dry_run: bool, force: bool, key: str | None
) -> Start:
    """A start with an uploaded file."""
    return Start(
        slug=manifest["slug"],
        dag_id=manifest["dag_id"],
        caller=caller,
        payload=upload.ref,
        filename=upload.name,
        dry_run=dry_run,
        idempotency_key=key,
        fingerprint=fingerprint_of(
            start="upload", slug=manifest["slug"], file=upload.sha256, name=upload.name, dry_run=dry_run, force=force
        ),
        definition=manifest.get("fingerprint"),
        options={**start_options(force=force), **staged_option(manifest), SHA256: upload.sha256},
    )


def trigger_start(
    manifest: Mapping[str, Any], payload: str | None, caller: Caller, *, dry_run: bool, force: bool, key: str | None
) -> Start:
    """A start of an importer that fetches its file itself."""
    options = manifest["source"].get("options", {})
    return Start(
        slug=manifest["slug"],
        dag_id=manifest["dag_id"],
        caller=caller,
        payload=payload,
        filename=last_part(payload or options.get("path") or options.get("url")),
        dry_run=dry_run,
        idempotency_key=key,
        fingerprint=fingerprint_of(
            start="trigger", slug=manifest["slug"], payload=payload, dry_run=dry_run, force=force
        ),
        definition=manifest.get("fingerprint"),
        options=start_options(force=force),
    )


STAGED = "staged"
"""Run option: the payload is a staging reference, although the importer's source takes a path."""

SHA256 = "sha256"
"""Run option: the checksum of the upload as it came in; the tasks read no other file."""


def staged_option(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Tells the tasks that a path importer's file is in staging already."""
    return {} if source_type(manifest) is SourceType.UPLOAD else {STAGED: True}


def start_options(*, force: bool) -> dict[str, Any]:
    """The run's options; only what was asked for is kept."""
    return {"force": True} if force else {}


def last_part(location: str | None) -> str | None:
    """The file's name in a path or URL, without a query.

    >>> last_part("https://example.org/a/b.csv?token=x"), last_part("in/c.csv"), last_part(None)
    ('b.csv', 'c.csv', None)
    """
    if not location:
        return None
    path = urlsplit(location).path if "://" in location else location
    return path.rstrip("/").rsplit("/", 1)[-1] or None


def _new_run(ports: Ports, start: Start) -> NewRun:
    key = str(uuid.uuid4())
    new = NewRun(
        key=key,
        importer=start.slug,
        dag_id=start.dag_id,
        dag_run_id=start.dag_run_id or _dag_run_id(ports, start, key),
        payload=start.payload,
        original_filename=start.filename,
        is_dry_run=start.dry_run,
        user_id=start.caller.id,
        user_name=start.caller.name,
        idempotency_key=start.idempotency_key,
        request_fingerprint=start.fingerprint,
        fingerprint=start.definition,
        options=start.options,
    )
    if (origin := start.retry_of) is None:
        return new
    return replace(new, retry_of=origin.id, root_run=origin.root_run or origin.id, attempt=origin.attempt + 1)


def _dag_run_id(ports: Ports, start: Start, key: str) -> str:
    """A new DAG run id; under an idempotency key the same one for requests at the same moment, so that they give
    one run however they interleave.
    """
    if start.idempotency_key is None:
        return f"ingest__{ports.now():%Y-%m-%dT%H:%M:%S.%f}__{key[:8]}"
    digest = hashlib.sha256(f"{start.caller.name}\0{start.idempotency_key}".encode()).hexdigest()[:24]
    number = 1
    while (earlier := ports.store.find_run(start.dag_id, f"ingest__{digest}__{number}")) is not None:
        if earlier.started_at > ports.now() - IDEMPOTENCY_WINDOW:
            break  # recorded since earlier_run() looked: create_run() answers with it
        number += 1
    return f"ingest__{digest}__{number}"


def _same_request(run: RunRecord, start: Start) -> RunRecord:
    if run.request_fingerprint != start.fingerprint:
        raise Conflict("This Idempotency-Key was used for another request.", "idempotency_key_reused")
    return run


def _invalid(field_name: str, message: str) -> InvalidParameter:
    return InvalidParameter(message, ({"field": field_name, "message": message},))
