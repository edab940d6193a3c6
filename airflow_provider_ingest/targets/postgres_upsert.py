"""The common upsert of PostgreSQL as one statement, which tells how many records are new."""

from __future__ import annotations

from airflow_provider_ingest.targets.statements import POSITION, Statements

MERGE_SINCE = 170_000
"""The server's version since which MERGE tells what it did."""


def upsert(statements: Statements, where: str, server_version: int) -> str:
    """MERGE where it may be, which takes four fifths of the time: nothing is inserted on probation.

    MERGE knows no order, so that records that the table numbers itself are left to INSERT.
    """
    if server_version >= MERGE_SINCE and not _is_numbered_by_table(statements):
        written = _merge(statements, where)
    else:
        written = _insert_on_conflict(statements, where)
    return f"WITH written AS ({written}) SELECT count(*) FILTER (WHERE is_new) FROM written"


def _merge(statements: Statements, where: str) -> str:
    quote, grammar = statements.grammar.quote, statements.grammar
    columns = (*statements.columns, *statements.extra)
    sets = ", ".join(f"{quote(name)} = {statements.updated_value(name)}" for name in statements.settable)
    names = ", ".join(quote(name) for name in columns)
    values = ", ".join(statements.inserted_value(name) for name in columns)
    return (
        f"MERGE INTO {statements.target} AS t USING (SELECT * FROM {statements.rows} AS b WHERE {where}) AS b "
        f"ON {statements.match} WHEN MATCHED AND {statements.is_changed()} THEN UPDATE SET {sets} "
        f"WHEN NOT MATCHED THEN INSERT ({names}){grammar.insert_hint(statements.plan, columns)} VALUES ({values}) "
        "RETURNING merge_action() = 'INSERT' AS is_new"
    )


def _insert_on_conflict(statements: Statements, where: str) -> str:
    quote = statements.grammar.quote
    key = ", ".join(quote(name) for name in statements.key)
    sets = ", ".join(f"{quote(name)} = excluded.{quote(name)}" for name in statements.settable)
    return (
        f"{statements.insert_head(' AS t')} WHERE {where} ORDER BY b.{POSITION} ON CONFLICT ({key}) "
        f"DO UPDATE SET {sets} WHERE {statements.is_changed('excluded')} RETURNING t.xmax = 0 AS is_new"
    )


def _is_numbered_by_table(statements: Statements) -> bool:
    """Whether a column that is left out gets its values from a sequence."""
    given = {*statements.columns, *statements.extra}
    left_out = (source for name, source in statements.plan.sources.items() if name not in given)
    return any(source.is_identity or "nextval(" in (source.expression or "") for source in left_out)
