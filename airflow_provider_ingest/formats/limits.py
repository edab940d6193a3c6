"""How much of anything a file may hold before it is refused: caps against hostile and broken files."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
GIB = 1 << 30

MAX_RAW = 10_000
"""Characters of a malformed record that are kept as its raw text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps that are checked while reading, never after.

    :param inflated_bytes: of a compressed file once inflated.
    :param inflate_ratio: inflated bytes for each compressed byte, judged from ``ratio_from`` inflated bytes on.
    :param ratio_from: below this size no ratio is a danger.
    :param zip_entries: members of a ZIP container, an XLSX workbook included.
    :param zip_directory_bytes: size of a ZIP container's directory, which is held in memory.
    :param workbook_bytes: all parts of an XLSX workbook together, inflated.
    :param sheet_cells: cells of the rectangle that a sheet's used cells span, if hardly any of it is used.
    :param shared_strings_bytes: texts of an XLSX workbook, which are held in memory.
    :param record_bytes: one element of a JSON array, or one line of NDJSON.
    :param record_containers: arrays and objects in such a record, if it is larger than a block.
    :param columns: of a table, or different keys over all rows.
    :param column_name: characters of a key.

    >>> Limits(columns=10).columns
    10
    """

    inflated_bytes: int = 64 * GIB
    inflate_ratio: int = 300
    ratio_from: int = 64 * MIB
    zip_entries: int = 10_000
    zip_directory_bytes: int = 8 * MIB
    workbook_bytes: int = 2 * GIB
    sheet_cells: int = 50_000_000
    shared_strings_bytes: int = 512 * MIB
    record_bytes: int = 16 * MIB
    record_containers: int = 1_000_000
    columns: int = 10_000
    column_name: int = 10_000


LIMITS = Limits()
"""The caps that hold unless a caller brings its own."""
