"""Importers that are told on, published at once, and killed by the tests of faults."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass, replace

from airflow.providers.openlineage.utils.selective_enable import enable_lineage
from airflow.sdk.bases.notifier import BaseNotifier
from gates import HOME, Diary, product

from airflow_provider_ingest import EventHandler, IngestConfig, SourceType, ingest_dag
from airflow_provider_ingest.importers.target import TargetSpec


class AfterCommit(EventHandler):
    """Rows of the category ``Gate`` hold their chunk's task when its work is committed, until the file is there."""

    def on_row_processed(self, run, row, record):
        while row["category"] == "Gate" and not (HOME / f"gate-{row['name']}").exists():
            time.sleep(0.1)


class Told(BaseNotifier):
    """A notifier with a template, as those of mail and chat are."""

    template_fields = ("text",)

    def __init__(self, text):
        super().__init__()
        self.text = text

    def notify(self, context):
        with (HOME / "told.jsonl").open("a") as file:
            file.write(json.dumps({"text": self.text, **context["ingest_run"]}) + "\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlyTarget(TargetSpec):
    """Kills the task ``finish`` between the run's last status and its end, where a file asks for it."""

    @property
    def label(self):
        order = HOME / "kill-finish"
        if os.environ.get("AIRFLOW_CTX_TASK_ID") == "finish" and order.exists():
            order.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return "products"


def deadly(config: IngestConfig) -> IngestConfig:
    return replace(config, target=DeadlyTarget(model=config.target.model, conn_id=config.target.conn_id))


files = product(SourceType.FILESYSTEM, disk="demo_files")
callbacks = {
    "on_success_callback": Told("{{ ingest_run.importer }}: {{ ingest_run.created }} new"),
    "on_failure_callback": [Told("{{ ingest_run.importer }} is {{ ingest_run.status }}")],
}

whole = ingest_dag("whole", files.atomic().with_event_handler(AfterCommit()), **callbacks)
enable_lineage(whole)

whole_new = ingest_dag(
    "whole_new", files.keyed_by("sku", on_duplicate="fail").atomic().with_event_handler(AfterCommit()), **callbacks
)
enable_lineage(whole_new)

inserts = ingest_dag(
    "inserts",
    deadly(files.keyed_by("sku", on_duplicate="fail").chunk_size(2).with_event_handler(Diary())),
    max_active_runs=1,
    max_active_tis_per_dagrun=1,
)
