"""Index the failed rows of logs that hold good rows too, and no others.

Nothing is written to rows that are logged already: in the logs that there are, failed rows are found by the primary
key until they are pruned.

Revision: 0003.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

RUNS = sa.table("ingest_runs", sa.column("logs_good", sa.Boolean))
BEFORE, AFTER = "ix_ingest_rows_run_id_status_row_number", "ix_ingest_rows_run_id_among_good_row_number"


def upgrade() -> None:
    op.add_column("ingest_runs", sa.Column("logs_good", sa.Boolean(), nullable=True))
    op.add_column("ingest_rows", sa.Column("among_good", sa.Boolean(), nullable=True))
    op.execute(RUNS.update().values(logs_good=False))
    op.drop_index(BEFORE, table_name="ingest_rows")
    _create_index(AFTER, "among_good", "among_good IS NOT NULL")


def downgrade() -> None:
    op.drop_index(AFTER, table_name="ingest_rows")
    _create_index(BEFORE, "status", "status = 'failed'")
    op.drop_column("ingest_rows", "among_good")
    op.drop_column("ingest_runs", "logs_good")


def _create_index(name: str, column: str, condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "ingest_rows", ["run_id", column, "row_number"], postgresql_where=where, sqlite_where=where)
