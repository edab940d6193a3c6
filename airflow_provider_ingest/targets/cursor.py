"""Statements over one cursor of a driver, inside savepoints, with the errors that are about rows told from others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.refusals import Refusal
from airflow_provider_ingest.targets.writer import TableWriter


class Refused(Exception):
    """The database refused a statement because of its rows; carries why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class CursorWriter(TableWriter):
    """A writer over one cursor of the driver; no values in SQL texts."""

    errors: tuple[type[Exception], ...]
    """The driver's base error."""

    def __init__(self, plan: TablePlan, cursor: Any) -> None:
        super().__init__(plan)
        self.cursor = cursor

    @abstractmethod
    def refusal(self, error: Exception) -> Refusal | None:
        """What the error says of the rows; ``None`` if it is not about rows."""

    def run(self, statement: str) -> int:
        """Execute a statement; the number of rows it touched."""
        self.cursor.execute(statement)
        return int(self.cursor.rowcount)

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a query; its rows."""
        self.cursor.execute(statement)
        return list(self.cursor.fetchall())

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A savepoint; errors that are about rows come out as :class:`Refused`."""
        self.cursor.execute("SAVEPOINT ingest_part")
        try:
            yield
        except Exception as error:  # narrowed below: the driver's own errors are known at run time only
            if not isinstance(error, (Refused, *self.errors)):
                raise
            with suppress(*self.errors):  # a connection that is gone says so in the error that follows
                self.cursor.execute("ROLLBACK TO SAVEPOINT ingest_part")
                self.cursor.execute("RELEASE SAVEPOINT ingest_part")
            refusal = None if isinstance(error, Refused) else self.refusal(error)
            if refusal is None:
                raise
            raise Refused(refusal) from error
        self.cursor.execute("RELEASE SAVEPOINT ingest_part")
