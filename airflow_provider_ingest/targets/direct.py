"""Writing straight into the table as long as that goes well, which spares the temporary table."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import polars as pl

from airflow_provider_ingest.targets.cursor import Refused
from airflow_provider_ingest.targets.definition import TablePlan
from airflow_provider_ingest.targets.staged import StagedWriter
from airflow_provider_ingest.targets.statements import POSITION, Statements
from airflow_provider_ingest.targets.stretch import Stretch
from airflow_provider_ingest.targets.writer import Prepared, Tally


class DirectWriter(StagedWriter):
    """Puts a batch straight into the table while keys have all been new, and through the temporary table after that.

    A batch through the temporary table whose keys were all new once more brings the short way back.
    """

    closed: tuple[type[Exception], ...] = ()
    """Errors by which the database says that this table takes no bulk load at all."""

    def __init__(self, plan: TablePlan, cursor: Any, number: int) -> None:
        super().__init__(plan, cursor, number)
        self.expects_new = True

    @abstractmethod
    def put(self, table: str, frame: pl.DataFrame) -> None:
        """Insert a frame into a table (quoted name) by the database's fastest way; raises as the driver does."""

    def put_prepared(self, table: str, prepared: Prepared) -> None:
        """Insert the rows of a batch."""
        self.put(table, prepared.frame.drop(POSITION))

    @property
    def is_direct(self) -> bool:
        """Whether the next rows go straight into the table: there is no key, or all keys have been new so far."""
        return self.plan.key is None or (self.expects_new and self.plan.has_unique_key)

    def direct(self, prepared: Prepared) -> bool:
        """Straight into the table, if that is worth a try."""
        if not self.is_direct:
            return False
        try:
            with self.savepoint():
                self.put_prepared(self.grammar.qualified(self.plan), prepared)
        except Refused:
            self.expects_new = False
        except self.closed:
            self.expects_new = False
        else:
            return True
        return False

    def apply(self, statements: Statements, stretch: Stretch, tally: Tally, want_ends: bool) -> None:
        """As everywhere; remembers whether the keys were all new."""
        before = _known(tally)
        super().apply(statements, stretch, tally, want_ends)
        self.expects_new = before == _known(tally)


def _known(tally: Tally) -> int:
    """Rows that were not simply created."""
    return tally.updated_count + tally.skipped_count + len(tally.refused)
