"""Polars on first use: a DAG file declares importers, parses every few seconds, and works no column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["LINE_NUMBER", "ROW_NUMBER", "SET_PREFIX", "pl"]

ROW_NUMBER = "_row_number"
"""Int64: the data row in the original file, from 1."""

LINE_NUMBER = "_line_number"
"""Int64: the physical line where the record starts, from 1 (formats without lines: header row + row)."""

SET_PREFIX = "_set:"
"""Prefix of the Boolean column that says whether a conditional attribute is set in a row."""

if TYPE_CHECKING:
    import polars as pl
else:

    class _Polars:
        """Stands for the module; what was asked for once is kept."""

        def __getattr__(self, name: str) -> Any:
            import polars

            value = getattr(polars, name)
            setattr(self, name, value)
            return value

    pl = _Polars()
