"""Index only the failed ones of the logged rows.

Revision: 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

CONDITIONS = {"status": "status = 'failed'", "message": "message IS NOT NULL"}


def upgrade() -> None:
    for column, condition in CONDITIONS.items():
        where = sa.text(condition)
        _drop_index(column)
        op.create_index(_name(column), "ingest_rows", _columns(column), postgresql_where=where, sqlite_where=where)


def downgrade() -> None:
    for column in CONDITIONS:
        _drop_index(column)
        op.create_index(_name(column), "ingest_rows", _columns(column))


def _drop_index(column: str) -> None:
    op.drop_index(_name(column), table_name="ingest_rows")


def _name(column: str) -> str:
    return "ix_ingest_rows_" + "_".join(_columns(column))


def _columns(column: str) -> list[str]:
    return ["run_id", column, "row_number"]
