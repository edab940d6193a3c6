"""Index only the failed ones of the logged rows, and leave out the message that nearly all of them share.

Revision: 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ROWS = sa.table("ingest_rows", sa.column("status"), sa.column("message"))
SHARED_MESSAGE = "The given data was invalid."
CONDITIONS = {"status": "status = 'failed'", "message": "message IS NOT NULL"}


def upgrade() -> None:
    op.execute(ROWS.update().where(ROWS.c.message == SHARED_MESSAGE).values(message=None))
    for column, condition in CONDITIONS.items():
        where = sa.text(condition)
        _drop_index(column)
        op.create_index(_name(column), "ingest_rows", _columns(column), postgresql_where=where, sqlite_where=where)


def downgrade() -> None:
    without = (ROWS.c.status == "failed", ROWS.c.message.is_(None))
    op.execute(ROWS.update().where(*without).values(message=SHARED_MESSAGE))
    for column in CONDITIONS:
        _drop_index(column)
        op.create_index(_name(column), "ingest_rows", _columns(column))


def _drop_index(column: str) -> None:
    op.drop_index(_name(column), table_name="ingest_rows")


def _name(column: str) -> str:
    return "ix_ingest_rows_" + "_".join(_columns(column))


def _columns(column: str) -> list[str]:
    return ["run_id", column, "row_number"]
