"""The one object that entry points call: one method per use case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from airflow_provider_ingest.exceptions import Conflict, ImporterNotFound
from airflow_provider_ingest.runs.ports import Catalog, Launcher, RunStore
from airflow_provider_ingest.runs.records import (
    ChunkRecord,
    Page,
    RowRecord,
    RunFilter,
    RunRecord,
    RunRejects,
    RunTotals,
)
from airflow_provider_ingest.service import cancelling, reading, retrying, starting
from airflow_provider_ingest.service.failed_rows import FailedRows, find_failed_rows
from airflow_provider_ingest.service.requests import GONE, Caller, Limits, Ports, StagedUpload, utc_now


class IngestService:
    """The use cases over a store, a launcher and a catalog; holds no state of its own.

    Refusals are :class:`~airflow_provider_ingest.exceptions.RequestError`; who may do what is the entry point's
    business, which asks the auth manager before it calls.
    """

    def __init__(
        self,
        *,
        store: RunStore,
        launcher: Launcher,
        catalog: Catalog,
        limits: Limits | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.ports = Ports(store=store, launcher=launcher, catalog=catalog, limits=limits or Limits(), now=now)

    def importer(self, slug: str) -> Mapping[str, Any]:
        """The importer's manifest; raises :class:`ImporterNotFound`."""
        return self.ports.catalog.manifest(slug)

    def importers(self) -> Sequence[Mapping[str, Any]]:
        """All manifests, by slug."""
        return self.ports.catalog.manifests()

    def known_importers(self) -> Sequence[str]:
        """The slugs of all importers that have runs, those that are gone included."""
        return self.ports.store.importers()

    def latest_runs(self, slugs: Sequence[str]) -> dict[str, RunRecord]:
        """The newest run of each of these importers."""
        return self.ports.store.latest_runs(slugs)

    def recent_rejects(self, slugs: Sequence[str]) -> dict[str, tuple[RunRejects, ...]]:
        """The rejects of the newest runs of each of these importers, newest first."""
        return self.ports.store.recent_rejects(slugs)

    def template(self, slug: str) -> bytes:
        """A CSV with the importer's header and an example row."""
        return reading.template(self.importer(slug))

    def check_upload(self, slug: str, caller: Caller, key: str | None = None) -> None:
        """Raise whatever would refuse an upload whatever the file is, before its bytes are taken in."""
        manifest = self._to_start(slug)
        starting.check_takes_upload(manifest)
        starting.check_startable(manifest)
        starting.check_idempotency_key(key)
        if key is None:
            starting.check_rate(self.ports, caller)

    def start_upload(
        self,
        slug: str,
        upload: StagedUpload,
        caller: Caller,
        *,
        dry_run: bool = False,
        force: bool = False,
        key: str | None = None,
    ) -> RunRecord:
        """Start a run with a staged upload. The answer's payload is not ``upload.ref`` where an earlier request
        under the same key is answered again; the upload is then not needed.
        """
        manifest = self._to_start(slug)
        starting.check_takes_upload(manifest)
        starting.check_startable(manifest)
        starting.check_idempotency_key(key)
        start = starting.upload_start(manifest, upload, caller, dry_run=dry_run, force=force, key=key)
        return starting.record(self.ports, start)

    def start_staged(
        self, slug: str, upload: StagedUpload, caller: Caller, *, dry_run: bool = False, force: bool = False
    ) -> RunRecord:
        """Start a run of any importer of files with a staged copy of a local file, as the command line does."""
        manifest = self._to_start(slug)
        starting.check_takes_file(manifest)
        starting.check_startable(manifest)
        start = starting.upload_start(manifest, upload, caller, dry_run=dry_run, force=force, key=None)
        return starting.record(self.ports, start)

    def trigger(
        self,
        slug: str,
        caller: Caller,
        *,
        payload: str | None = None,
        dry_run: bool = False,
        force: bool = False,
        key: str | None = None,
    ) -> RunRecord:
        """Start a run of an importer that fetches its file itself."""
        manifest = self._to_start(slug)
        starting.check_trigger(manifest, payload)
        starting.check_startable(manifest)
        starting.check_idempotency_key(key)
        start = starting.trigger_start(manifest, payload, caller, dry_run=dry_run, force=force, key=key)
        return starting.record(self.ports, start)

    def runs(self, which: RunFilter, page: int = 1, per_page: int = 15) -> Page[RunRecord]:
        """Runs, most recent first."""
        return self.ports.store.list_runs(which, page, per_page)

    def totals(self, which: RunFilter) -> RunTotals:
        """What became of the rows of these runs."""
        return self.ports.store.totals(which)

    def run(self, run_id: int) -> RunRecord:
        """One run; raises :class:`RunNotFound`."""
        return self.ports.store.get_run(run_id)

    def rows(self, run: RunRecord, paging: reading.RowPaging) -> Page[RowRecord] | None:
        """A page of the run's logged rows, ``None`` if it logs none."""
        if not reading.logs_rows(self.ports, run, self._manifest(run)):
            return None
        return self.ports.store.rows(
            run.id, page=paging.page, per_page=paging.per_page, status=paging.status, message=paging.message
        )

    def chunks(self, run_id: int) -> Sequence[ChunkRecord]:
        """The run's chunks in order; empty until it is planned."""
        return self.ports.store.chunks(run_id)

    def row(self, run_id: int, row_number: int) -> RowRecord | None:
        """One logged row."""
        return self.ports.store.row(run_id, row_number)

    def cancel(self, run_id: int) -> RunRecord:
        """Ask for the end of a run."""
        return cancelling.cancel(self.ports, self.run(run_id))

    def check_retry(self, run_id: int, *, dry_run: bool = False, corrected: bool = False) -> None:
        """Raise what would refuse a retry, before a corrected file is taken in."""
        retrying.check_retry(self.ports, self.run(run_id), dry_run=dry_run, corrected=corrected)

    def kept_rows(self, run: RunRecord) -> retrying.KeptRows:
        """What is left of the run's failed rows, and why a retry of them needs a corrected file."""
        return retrying.kept_rows(self.ports, run, self._manifest(run))

    def retry(
        self,
        run_id: int,
        caller: Caller,
        *,
        dry_run: bool = False,
        corrected: StagedUpload | None = None,
        key: str | None = None,
    ) -> RunRecord:
        """Start a run of the failed rows of a run."""
        return retrying.retry(self.ports, self.run(run_id), caller, dry_run=dry_run, corrected=corrected, key=key)

    def error_summary(self, run_id: int) -> reading.ErrorSummary:
        """The run's failed rows by message."""
        return reading.error_summary(self.ports, self.run(run_id))

    def failed_rows(self, run_id: int) -> FailedRows:
        """The download of the run's failed rows."""
        return find_failed_rows(self.ports.store, self.run(run_id))

    def stream(self, download: FailedRows) -> Iterator[bytes]:
        """The bytes of a download."""
        return download.stream(self.ports.store)

    def open_runs(self) -> Sequence[RunRecord]:
        """All runs that have not ended."""
        return self.ports.store.open_runs()

    def prune_rows(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete the logged rows of runs that ended before; returns how many."""
        return self.ports.store.prune_rows(before, dry_run=dry_run)

    def _to_start(self, slug: str) -> Mapping[str, Any]:
        """The manifest; an importer that has run before and is gone is a conflict, not unknown."""
        try:
            return self.importer(slug)
        except ImporterNotFound:
            if self.ports.store.latest_runs([slug]):
                raise Conflict(f"The DAG of the importer {slug!r} is not there: {GONE}", "importer_gone") from None
            raise

    def standstill(self, run: RunRecord) -> str | None:
        """Why nobody works on an open run for the time being, as far as its DAG and its tasks tell."""
        if run.status.is_terminal:
            return None
        if (manifest := self._manifest(run)) is None:
            return f"The DAG {run.dag_id!r} is not there: {GONE} The run goes on when it is back."
        if manifest.get("dag", {}).get("is_paused"):
            return f"The DAG {run.dag_id!r} is paused; the run goes on when it is unpaused."
        return self.ports.launcher.obstacle(run)

    def _manifest(self, run: RunRecord) -> Mapping[str, Any] | None:
        try:
            return self.importer(run.importer)
        except ImporterNotFound:
            return None
