"""A service over a store in memory, a launcher that remembers, a catalog of a few importers and a clock that stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow_provider_ingest.exceptions import ImporterNotFound
from airflow_provider_ingest.runs.outcome import ChunkOutcome, ErrorCount
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan, RunRecord
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.service import Caller, IngestService, Limits, StagedUpload
from airflow_provider_ingest.testing.memory_store import MemoryStore
from tests.contract.factories import log_line, row_log

ANNA = Caller(name="anna", id=7)
BERT = Caller(name="bert")
INVALID = "The given data was invalid."


def manifest(slug: str, source: str, **options: Any) -> dict[str, Any]:
    return {
        "slug": slug,
        "dag_id": f"ingest_{slug}",
        "source": {"type": source, "options": options},
        "target": {"table": slug, "conn_id": "shop"},
        "mappings": [{"fields": ["sku"], "attribute": "sku"}, {"fields": ["price", "cost"], "attribute": "price"}],
        "schema": {"price": {"type": "numeric", "required": True, "nullable": True}},
        "fingerprint": f"fingerprint of {slug}",
        "sensitive_fields": [],
        "row_log": None,
        "dag": {"is_paused": False, "schedule": None},
    }


def upload(content: str = "a", name: str = "products.csv") -> StagedUpload:
    return StagedUpload(ref=f"ingest-uploads/{content}/{name}", name=name, size=9, sha256=f"sha of {content}")


class Catalog:
    def __init__(self) -> None:
        self.known = {
            "products": manifest("products", "upload"),
            "orders": manifest("orders", "filesystem", path="in/orders.csv", disk="files"),
            "stock": manifest("stock", "filesystem", disk="files"),
            "prices": manifest("prices", "url", url="https://example.org/data/prices.csv"),
        }

    def manifest(self, slug: str) -> Mapping[str, Any]:
        if slug not in self.known:
            raise ImporterNotFound(f"There is no importer {slug!r}.")
        return self.known[slug]

    def manifests(self) -> Sequence[Mapping[str, Any]]:
        return [self.known[slug] for slug in sorted(self.known)]


class Launcher:
    def __init__(self) -> None:
        self.launched: list[int] = []
        self.spared: list[int] = []
        self.states: dict[int, str | None] = {}
        self.obstacles: dict[int, str] = {}

    def launch(self, run: RunRecord) -> None:
        self.launched.append(run.id)

    def state_of(self, run: RunRecord) -> str | None:
        return self.states.get(run.id, "running")

    def obstacle(self, run: RunRecord) -> str | None:
        return self.obstacles.get(run.id)

    def skip_waiting(self, run: RunRecord) -> None:
        self.spared.append(run.id)


class World:
    """Everything a test of the service needs, and ways to bring runs into any state."""

    def __init__(self, starts: int = 0) -> None:
        self.time = datetime(2026, 1, 31, 12, tzinfo=UTC)
        self.store = MemoryStore(clock=lambda: self.time)
        self.launcher = Launcher()
        self.catalog = Catalog()
        self.service = IngestService(
            store=self.store,
            launcher=self.launcher,
            catalog=self.catalog,
            limits=Limits(starts=starts),
            now=lambda: self.time,
        )

    def pass_time(self, **amount: float) -> None:
        self.time += timedelta(**amount)

    def started(self, **options: Any) -> RunRecord:
        return self.service.start_upload("products", upload(options.pop("content", "a")), ANNA, **options)

    def ended(
        self, failed: int = 2, created: int = 3, *, status: RunStatus | None = None, log: bool = True, **options: Any
    ) -> RunRecord:
        """A run of one chunk that ended with these counts."""
        run = self.started(**options)
        self.finish(run, failed, created, status=status, log=log)
        return self.service.run(run.id)

    def finish(
        self,
        run: RunRecord,
        failed: int,
        created: int = 0,
        *,
        status: RunStatus | None = None,
        log: bool = True,
        rows: Sequence[dict[str, Any]] = (),
    ) -> None:
        store, total = self.store, failed + created
        store.change_status(run.id, RunStatus.PROCESSING)
        store.record_plan(run.id, [ChunkPlan(index=0, first_row=1, rows=total, location={})])
        store.start_chunk(run.id, 0)
        if rows:
            store.append_rows(run.id, 0, row_log(*[log_line(n, data=row) for n, row in enumerate(rows, 1)]))
        elif failed and log:
            lines = [log_line(n, validation={"sku": ["is required"]}) for n in range(1, failed + 1)]
            store.append_rows(run.id, 0, row_log(*lines))
        errors = (
            ErrorCount(message=INVALID, count=failed),
            ErrorCount(field="sku", message="is required", count=failed),
        )
        counts = Counts(created=created, failed=failed)
        store.finish_chunk(run.id, 0, ChunkOutcome(counts=counts, errors=errors if failed else ()))
        default = RunStatus.COMPLETED_WITH_ERRORS if failed else RunStatus.COMPLETED
        store.change_status(run.id, status or default, summary={"total": total})
