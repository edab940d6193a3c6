"""Finding the logged rows behind one line of the error summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, select, text, true

from airflow_provider_ingest.models import MESSAGE_LENGTH
from airflow_provider_ingest.runs.failure import DETAIL_START, INVALID_DATA
from airflow_provider_ingest.storage.sql_store_base import ROWS, RUNS

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

FAILED, UNPROCESSED = "failed", "unprocessed"
# A logged message is the group's message alone, or followed by what came instead (RowFailure.text).
# PostgreSQL's JSON functions refuse the escape of NUL, which values may hold; it is no part of a message.
_POSTGRESQL = r"""
EXISTS (
  SELECT 1
  FROM json_each(CAST(replace(ingest_rows.errors, '\u0000', '\ufffd') AS json) -> 'validation') AS field,
       json_array_elements_text(field.value) AS message(line)
  WHERE field.key || '\: ' || message.line = :message_group
     OR starts_with(field.key || '\: ' || message.line, :message_start)
)
"""
_SQLITE = r"""
EXISTS (
  SELECT 1
  FROM json_each(ingest_rows.errors, '$.validation') AS field, json_each(field.value) AS message
  WHERE field.key || '\: ' || message.value = :message_group
     OR substr(field.key || '\: ' || message.value, 1, length(:message_start)) = :message_start
)
"""
_MYSQL = r"""
EXISTS (
  SELECT 1
  FROM JSON_TABLE(JSON_KEYS(ingest_rows.errors, '$.validation'), '$[*]' COLUMNS (name LONGTEXT PATH '$')) AS field,
       JSON_TABLE(
         JSON_EXTRACT(ingest_rows.errors, CONCAT('$.validation.', JSON_QUOTE(field.name))),
         '$[*]' COLUMNS (line LONGTEXT PATH '$')
       ) AS message
  WHERE CAST(CONCAT(field.name, '\: ', message.line) AS BINARY) = CAST(:message_group AS BINARY)
     OR LEFT(CAST(CONCAT(field.name, '\: ', message.line) AS BINARY), LENGTH(:message_start))
        = CAST(:message_start AS BINARY)
)
"""
_LOOKED_THROUGH = {"postgresql": _POSTGRESQL, "sqlite": _SQLITE, "mysql": _MYSQL, "mariadb": _MYSQL}


def has_failed(session: Session, run_id: int) -> ColumnElement[bool]:
    """The condition for the failed rows of a run: of those among good ones, that of the index which has them alone."""
    logs_good = session.scalar(select(RUNS.c.logs_good).where(RUNS.c.id == run_id))
    return ROWS.c.among_good == true() if logs_good else ROWS.c.status == FAILED


def in_group(session: Session, run_id: int, group: str) -> list[ColumnElement[bool]]:
    """Conditions for the rows of a group: a general message, or ``field: message``.

    Rows whose fields alone are wrong, which most failed rows are, have no general message in the table and so no
    entry in its index. The other general messages are found by it; for messages of fields the failed rows of the run
    are looked through.
    """
    if group == INVALID_DATA:
        return [has_failed(session, run_id), ROWS.c.message.is_(None)]
    group = group.replace("\0", "\ufffd")
    general = ROWS.c.message == group[:MESSAGE_LENGTH]
    if session.execute(select(ROWS.c.row_number).where(ROWS.c.run_id == run_id, general).limit(1)).first():
        return [general]
    looked_through = _LOOKED_THROUGH[session.get_bind().dialect.name]
    condition = text(looked_through).bindparams(message_group=group, message_start=group + DETAIL_START)
    return [has_failed(session, run_id), condition]  # type: ignore[list-item]  # a text is a condition to WHERE
