"""The table ``ingest_runs``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, ForeignKey, Index, Integer, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from airflow_provider_ingest.models.base import Base, BigId, Document, UtcTimestamp


class IngestRun(Base):
    """One run of an importer.

    Counts of rows and chunks are not kept here: they are sums over ``ingest_chunks``, so that they cannot drift.
    ``open_retry_of`` repeats ``retry_of`` while a retry has not ended and is NULL from then on: its unique index,
    which every database understands, is what lets two retries at once give one. ``logs_good`` tells whether the row
    log holds rows that did not fail, as its first rows had it; NULL until there are any. ``fields`` are the names of
    the values of its logged rows, once for all of them.
    """

    __tablename__ = "ingest_runs"

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    key: Mapped[str] = mapped_column(String(36))
    importer: Mapped[str] = mapped_column(String(250))
    status: Mapped[str] = mapped_column(String(24))
    dag_id: Mapped[str] = mapped_column(String(250))
    dag_run_id: Mapped[str] = mapped_column(String(250))
    payload: Mapped[str | None] = mapped_column(Text)
    original_filename: Mapped[str | None] = mapped_column(Text)
    is_dry_run: Mapped[bool] = mapped_column(Boolean, server_default=false())
    user_id: Mapped[int | None] = mapped_column(BigInteger)
    user_name: Mapped[str | None] = mapped_column(String(250))
    retry_of: Mapped[int | None] = mapped_column(BigId, ForeignKey("ingest_runs.id", ondelete="SET NULL"))
    root_run: Mapped[int | None] = mapped_column(BigId, ForeignKey("ingest_runs.id", ondelete="SET NULL"))
    open_retry_of: Mapped[int | None] = mapped_column(BigId)
    attempt: Mapped[int] = mapped_column(Integer, server_default="1")
    idempotency_key: Mapped[str | None] = mapped_column(String(255))
    request_fingerprint: Mapped[str | None] = mapped_column(String(128))
    fingerprint: Mapped[str | None] = mapped_column(String(128))
    options: Mapped[dict[str, Any]] = mapped_column(Document)
    total: Mapped[int] = mapped_column(BigInteger, server_default="0")
    file: Mapped[dict[str, Any] | None] = mapped_column(Document)
    file_sha256: Mapped[str | None] = mapped_column(String(64))
    summary: Mapped[dict[str, Any] | None] = mapped_column(Document)
    warnings: Mapped[list[str]] = mapped_column(Document)
    history: Mapped[list[dict[str, Any]]] = mapped_column(Document)
    started_at: Mapped[datetime] = mapped_column(UtcTimestamp)
    completed_at: Mapped[datetime | None] = mapped_column(UtcTimestamp)
    cancel_requested_at: Mapped[datetime | None] = mapped_column(UtcTimestamp)
    logs_good: Mapped[bool | None] = mapped_column(Boolean)
    fields: Mapped[list[str] | None] = mapped_column(Document)

    __table_args__ = (
        UniqueConstraint("key"),
        UniqueConstraint("dag_id", "dag_run_id"),
        UniqueConstraint("open_retry_of"),
        Index(None, "importer", "id"),
        Index(None, "status", "id"),
        Index(None, "user_name", "started_at"),
        Index(None, "user_name", "idempotency_key"),
        Index(None, "importer", "file_sha256"),
        Index(None, "retry_of"),
        Index(None, "root_run"),
        Index(None, "dag_run_id"),
        Index(None, "started_at"),
        Index(None, "completed_at"),
        {"sqlite_autoincrement": True},
    )
