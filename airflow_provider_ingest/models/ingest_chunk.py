"""The tables ``ingest_chunks`` and ``ingest_error_counts``: what each chunk is and what came of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Float, ForeignKey, Index, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from airflow_provider_ingest.models.base import Base, BigId, Document, UtcTimestamp


class IngestChunk(Base):
    """A chunk of a run. The counts move while it works and are final once ``finished_at`` is set."""

    __tablename__ = "ingest_chunks"

    run_id: Mapped[int] = mapped_column(BigId, ForeignKey("ingest_runs.id", ondelete="CASCADE"), primary_key=True)
    chunk_index: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    first_row: Mapped[int] = mapped_column(BigInteger)
    rows: Mapped[int] = mapped_column(BigInteger)
    location: Mapped[dict[str, Any]] = mapped_column(Document)
    created: Mapped[int] = mapped_column(BigInteger, server_default="0")
    updated: Mapped[int] = mapped_column(BigInteger, server_default="0")
    skipped: Mapped[int] = mapped_column(BigInteger, server_default="0")
    failed: Mapped[int] = mapped_column(BigInteger, server_default="0")
    warnings: Mapped[list[str] | None] = mapped_column(Document)
    duration: Mapped[float | None] = mapped_column(Float(53))
    started_at: Mapped[datetime | None] = mapped_column(UtcTimestamp)
    finished_at: Mapped[datetime | None] = mapped_column(UtcTimestamp)


class IngestErrorCount(Base):
    """How often a message occurred among the failed rows of a chunk; ``field`` is NULL for general messages."""

    __tablename__ = "ingest_error_counts"

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    run_id: Mapped[int] = mapped_column(BigId, ForeignKey("ingest_runs.id", ondelete="CASCADE"))
    chunk_index: Mapped[int] = mapped_column(Integer)
    field: Mapped[str | None] = mapped_column(Text)
    message: Mapped[str] = mapped_column(Text)
    count: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (Index(None, "run_id", "chunk_index"),)
