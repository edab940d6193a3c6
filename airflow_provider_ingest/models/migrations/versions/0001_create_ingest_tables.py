"""Create runs, chunks, error counts and rows.

Revision: 0001, the first.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from airflow_provider_ingest.models.base import BigId, Document, UtcTimestamp

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_runs()
    _create_chunks()
    _create_error_counts()
    _create_rows()


def downgrade() -> None:
    for table in ("ingest_rows", "ingest_error_counts", "ingest_chunks", "ingest_runs"):
        op.drop_table(table)


def _create_runs() -> None:
    op.create_table(
        "ingest_runs",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("key", sa.String(36), nullable=False),
        sa.Column("importer", sa.String(250), nullable=False),
        sa.Column("status", sa.String(24), nullable=False),
        sa.Column("dag_id", sa.String(250), nullable=False),
        sa.Column("dag_run_id", sa.String(250), nullable=False),
        sa.Column("payload", sa.Text()),
        sa.Column("original_filename", sa.Text()),
        sa.Column("is_dry_run", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("user_id", sa.BigInteger()),
        sa.Column("user_name", sa.String(250)),
        sa.Column("retry_of", BigId),
        sa.Column("root_run", BigId),
        sa.Column("open_retry_of", BigId),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("idempotency_key", sa.String(255)),
        sa.Column("request_fingerprint", sa.String(128)),
        sa.Column("fingerprint", sa.String(128)),
        sa.Column("options", Document(), nullable=False),
        sa.Column("total", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("file", Document()),
        sa.Column("file_sha256", sa.String(64)),
        sa.Column("summary", Document()),
        sa.Column("warnings", Document(), nullable=False),
        sa.Column("history", Document(), nullable=False),
        sa.Column("started_at", UtcTimestamp(), nullable=False),
        sa.Column("completed_at", UtcTimestamp()),
        sa.Column("cancel_requested_at", UtcTimestamp()),
        sa.PrimaryKeyConstraint("id", name="pk_ingest_runs"),
        sa.ForeignKeyConstraint(
            ["retry_of"], ["ingest_runs.id"], name="fk_ingest_runs_retry_of_ingest_runs", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["root_run"], ["ingest_runs.id"], name="fk_ingest_runs_root_run_ingest_runs", ondelete="SET NULL"
        ),
        sa.UniqueConstraint("key", name="uq_ingest_runs_key"),
        sa.UniqueConstraint("dag_id", "dag_run_id", name="uq_ingest_runs_dag_id_dag_run_id"),
        sa.UniqueConstraint("open_retry_of", name="uq_ingest_runs_open_retry_of"),
        sqlite_autoincrement=True,
    )
    for columns in (
        ["importer", "id"],
        ["status", "id"],
        ["user_name", "started_at"],
        ["user_name", "idempotency_key"],
        ["importer", "file_sha256"],
        ["retry_of"],
        ["root_run"],
        ["dag_run_id"],
        ["started_at"],
        ["completed_at"],
    ):
        op.create_index("ix_ingest_runs_" + "_".join(columns), "ingest_runs", columns)


def _create_chunks() -> None:
    op.create_table(
        "ingest_chunks",
        sa.Column("run_id", BigId, nullable=False),
        sa.Column("chunk_index", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("first_row", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("location", Document(), nullable=False),
        sa.Column("created", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("updated", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("skipped", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("warnings", Document()),
        sa.Column("duration", sa.Float(53)),
        sa.Column("started_at", UtcTimestamp()),
        sa.Column("finished_at", UtcTimestamp()),
        sa.PrimaryKeyConstraint("run_id", "chunk_index", name="pk_ingest_chunks"),
        sa.ForeignKeyConstraint(
            ["run_id"], ["ingest_runs.id"], name="fk_ingest_chunks_run_id_ingest_runs", ondelete="CASCADE"
        ),
    )


def _create_error_counts() -> None:
    op.create_table(
        "ingest_error_counts",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("run_id", BigId, nullable=False),
        sa.Column("chunk_index", sa.Integer(), nullable=False),
        sa.Column("field", sa.Text()),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ingest_error_counts"),
        sa.ForeignKeyConstraint(
            ["run_id"], ["ingest_runs.id"], name="fk_ingest_error_counts_run_id_ingest_runs", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_ingest_error_counts_run_id_chunk_index", "ingest_error_counts", ["run_id", "chunk_index"])


def _create_rows() -> None:
    op.create_table(
        "ingest_rows",
        sa.Column("run_id", BigId, autoincrement=False, nullable=False),
        sa.Column("row_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("chunk_index", sa.Integer(), nullable=False),
        sa.Column("line_number", sa.BigInteger()),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("message", sa.String(500)),
        sa.Column("data", Document(), nullable=False),
        sa.Column("errors", Document()),
        sa.Column("trace", Document()),
        sa.PrimaryKeyConstraint("run_id", "row_number", name="pk_ingest_rows"),
    )
    for columns in (["run_id", "status", "row_number"], ["run_id", "message", "row_number"]):
        op.create_index("ix_ingest_rows_" + "_".join(columns), "ingest_rows", columns)
