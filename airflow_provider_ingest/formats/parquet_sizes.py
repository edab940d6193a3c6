"""How much a Parquet file becomes in memory: judged by footer, pages and dictionaries before a row group is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.arrow import BATCH_BYTES, BATCH_CELLS
from airflow_provider_ingest.formats.arrow_sizes import values_per_row
from airflow_provider_ingest.formats.compression import check_size
from airflow_provider_ingest.formats.contract import BATCH_ROWS
from airflow_provider_ingest.formats.limits import Limits
from airflow_provider_ingest.formats.parquet_pages import page_sizes

NESTED_VALUES = 100_000_000
"""Values of a nested column in a row group; one row may have them all."""


def check_sizes(file: Any, footer: Any, limits: Limits) -> None:
    """Refuse a file with a column that inflates to suspiciously much, by its footer and by its pages.

    :raises FormatError: says by how much.
    """
    for group in range(footer.num_row_groups):
        facts = footer.row_group(group)
        for index in range(facts.num_columns if facts.num_rows else 0):  # a group without rows is never read
            column = facts.column(index)
            check_size(column.total_uncompressed_size, column.total_compressed_size, limits)
            start = column.data_page_offset
            if column.has_dictionary_page:
                start = min(start, column.dictionary_page_offset)
            for inflated, packed in page_sizes(file, start, column.total_compressed_size):
                check_size(inflated, packed, limits)
            if column.num_values > max(NESTED_VALUES, facts.num_rows):
                raise FormatError(f"A row group has more than {NESTED_VALUES:,} values of one nested column.")


def fitting_batch(file: Any, parquet: Any, group: int, batch_rows: int) -> int:
    """Rows of a batch of this row group: fewer where rows have many values, or may share a long text.

    A dictionary holds a text once, a batch as often as its rows show it.
    """
    facts = parquet.metadata.row_group(group)
    per_row = {}
    for index in range(facts.num_columns):
        column = facts.column(index)
        per_row[column.path_in_schema] = max(column.num_values / max(facts.num_rows, 1), 1.0)
    texts = [
        parquet.schema.column(index).path
        for index in range(facts.num_columns)
        if facts.column(index).has_dictionary_page and facts.column(index).physical_type == "BYTE_ARRAY"
    ]
    most_values = max(per_row.values(), default=1.0)
    longest = _longest_shared(file, group, texts) * max((per_row[path] for path in texts), default=1.0)
    return max(int(min(batch_rows, BATCH_CELLS / most_values, BATCH_BYTES / 4 / max(longest, 1))), 1)


def fitting_parts(batch: Any) -> Iterator[Any]:
    """A batch of an Arrow file in slices: of fewer rows where they have many values, or may share a long text."""
    import pyarrow.compute as pc

    shared = [one for column in batch.columns for one in _dictionaries(column)]
    texts = [one for one in shared if _is_text(one.type)]
    longest = max((pc.max(pc.binary_length(one)).as_py() or 0 for one in texts), default=0)
    most = BATCH_CELLS / max(values_per_row(batch), batch.num_columns, 1.0)
    rows = max(int(min(BATCH_ROWS, most, BATCH_BYTES / 16 / max(longest, 1))), 1)
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _is_text(type_: Any) -> bool:
    from pyarrow import types

    return any(
        is_kind(type_) for is_kind in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def _longest_shared(file: Any, group: int, texts: list[str]) -> int:
    """Bytes of the longest text in the row group's dictionaries."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if not texts:
        return 0
    longest = 0
    with pq.ParquetFile(file, read_dictionary=texts, pre_buffer=False) as parquet:
        for batch in parquet.iter_batches(1, row_groups=[group], columns=texts):
            for dictionary in (one for column in batch.columns for one in _dictionaries(column)):
                longest = max(longest, pc.max(pc.binary_length(dictionary)).as_py() or 0)
            break
    return longest


def _dictionaries(column: Any) -> Iterator[Any]:
    """The dictionaries in a column, nested ones too."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        yield column.dictionary
    elif types.is_struct(column.type) or types.is_union(column.type):
        for index in range(column.type.num_fields):
            yield from _dictionaries(column.field(index))
    elif types.is_map(column.type):
        yield from _dictionaries(column.keys)
        yield from _dictionaries(column.items)
    elif types.is_nested(column.type):
        yield from _dictionaries(column.values)
