"""The table ``ingest_rows``: the row log."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Index, Integer, String, text
from sqlalchemy.orm import Mapped, mapped_column

from airflow_provider_ingest.models.base import Base, BigId, Document

MESSAGE_LENGTH = 500
"""Characters of a general message that the row log keeps for grouping: what fits into an index entry.

Rows of which only fields are wrong share one general message, which is left out.
"""


def _partial_index(*columns: str, where: str) -> Index:
    """An index of the rows that meet the condition; of all rows on databases that know no such index."""
    return Index(None, *columns, postgresql_where=text(where), sqlite_where=text(where))


class IngestRow(Base):
    """A logged row of a run, one per row number.

    There is no foreign key on purpose: a check per row would cost a large run about as much as the log itself, and
    the service never deletes runs, only rows.

    ``among_good`` is true for the failed rows of a run whose log holds good rows too, else null. In a log of failed
    rows alone the primary key finds them, and an entry for each in a second index would cost as much as the rows.

    ``data`` is an array of the row's values, whose names are the run's ``fields``, or an object of its own.
    """

    __tablename__ = "ingest_rows"

    run_id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    row_number: Mapped[int] = mapped_column("row_number", BigInteger, primary_key=True, autoincrement=False, quote=True)
    chunk_index: Mapped[int] = mapped_column(Integer)
    line_number: Mapped[int | None] = mapped_column(BigInteger)
    status: Mapped[str] = mapped_column(String(16))
    message: Mapped[str | None] = mapped_column(String(MESSAGE_LENGTH))
    data: Mapped[dict[str, Any] | list[Any]] = mapped_column(Document)
    errors: Mapped[dict[str, Any] | None] = mapped_column(Document)
    trace: Mapped[dict[str, Any] | None] = mapped_column(Document)
    among_good: Mapped[bool | None] = mapped_column(Boolean)

    __table_args__ = (
        _partial_index("run_id", "among_good", "row_number", where="among_good IS NOT NULL"),
        _partial_index("run_id", "message", "row_number", where="message IS NOT NULL"),
    )
