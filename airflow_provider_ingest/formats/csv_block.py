"""A block of whole records of a CSV file, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from airflow_provider_ingest.formats.byte_masks import Positions


class Records(NamedTuple):
    """Where each record of a block is.

    :param starts: of each record, from the start of the block's data.
    :param ends: after each record's newline.
    :param lines: of each record, relative to the block's; ``None`` where the records are consecutive lines.
    """

    starts: Positions
    ends: Positions
    lines: Positions | None = None


@dataclass(frozen=True)
class Block:
    """Whole records, and where they are in the file.

    :param data: the bytes.
    :param offset: where ``data`` starts in the file.
    :param rows: number of records.
    :param line: physical line, from 1, on which ``data`` starts.
    :param height: physical lines of the block.
    :param size: bytes that the block takes in the file; more than ``data`` only for a record too long to keep.
    :param find: finds the records, when somebody asks: who counts them need not know where each of them is.
    :param broken: reasons by index of the record.
    :param is_regular: no quote or escape stands where it needs the grammar to tell what it means.
    """

    data: bytes
    offset: int
    rows: int
    line: int
    height: int
    size: int
    find: Callable[[], Records]
    broken: dict[int, str] = field(default_factory=dict)
    is_regular: bool = False

    @classmethod
    def of(
        cls,
        records: Records,
        data: bytes,
        offset: int,
        *,
        line: int,
        height: int,
        size: int,
        broken: dict[int, str],
        is_regular: bool = False,
    ) -> Block:
        """A block whose records are known."""
        return cls(data, offset, len(records.starts), line, height, size, lambda: records, broken, is_regular)

    @cached_property
    def records(self) -> Records:
        """Where each record is."""
        return self.find()

    @property
    def starts(self) -> Positions:
        """Of each record, from the start of the data."""
        return self.records.starts

    @property
    def ends(self) -> Positions:
        """After each record's newline."""
        return self.records.ends

    @property
    def is_plain(self) -> bool:
        """Whether each physical line is a record, and any reader of CSV finds the same ones."""
        return self.is_regular and self.rows == self.height

    @property
    def is_dense(self) -> bool:
        """Whether nothing stands between the records."""
        return self.rows > 0 and int((self.ends - self.starts).sum()) == int(self.ends[-1] - self.starts[0])

    def line_numbers(self) -> Positions:
        """The physical line of each record."""
        lines = self.records.lines
        return self.line + (np.arange(self.rows, dtype=np.int64) if lines is None else lines)
