"""Keep the names of a run's logged fields once, beside the run, instead of with each row.

Nothing is written to rows that are logged already: their documents hold the names. Going back gives them to all.

Revision: 0004.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import JSONDecoder, dumps, loads

import sqlalchemy as sa
from alembic import op
from alembic.util import CommandError

from airflow_provider_ingest.models.base import Document

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

RUNS = sa.table("ingest_runs", sa.column("id"), sa.column("fields", sa.Text))
ROWS = sa.table("ingest_rows", sa.column("run_id"), sa.column("row_number"), sa.column("data", sa.Text))
BATCH = 10_000

value_at = JSONDecoder().raw_decode
BETWEEN = re.compile(r"[\s,]*")


def upgrade() -> None:
    op.add_column("ingest_runs", sa.Column("fields", Document(), nullable=True))


def downgrade() -> None:
    if op.get_context().as_sql:
        raise CommandError("Going back to 0003 rewrites logged rows, one by one: it cannot be written down as SQL.")
    runs = sa.select(RUNS.c.id, RUNS.c.fields).where(RUNS.c.fields.is_not(None))
    for run_id, fields in op.get_bind().execute(runs).all():
        _name_values(run_id, [dumps(name, ensure_ascii=False) for name in loads(fields)])
    op.drop_column("ingest_runs", "fields")


def _name_values(run_id: int, names: Sequence[str]) -> None:
    connection, after = op.get_bind(), 0
    ours = (ROWS.c.run_id == run_id, ROWS.c.row_number == sa.bindparam("number"))
    change = sa.update(ROWS).where(*ours).values(data=sa.bindparam("object"))
    arrays = sa.select(ROWS.c.row_number, ROWS.c.data).where(ROWS.c.run_id == run_id, ROWS.c.data.like("[%"))
    while True:
        batch = arrays.where(ROWS.c.row_number > after).order_by(ROWS.c.row_number).limit(BATCH)
        found = connection.execute(batch).all()
        if not found:
            return
        connection.execute(change, [{"number": number, "object": _object(text, names)} for number, text in found])
        after = found[-1].row_number


def _object(array: str, names: Sequence[str]) -> str:
    """The object of an array's values, each in the characters that it has there."""
    members, end = [], 1
    for name in names:
        start = BETWEEN.match(array, end).end()  # type: ignore[union-attr]  # it matches nothing, too
        end = value_at(array, start)[1]
        members.append(f"{name}:{array[start:end]}")
    return "{" + ",".join(members) + "}"
