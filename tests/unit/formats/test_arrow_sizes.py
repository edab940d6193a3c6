"""What an Arrow file says of its batches' sizes, before they are read."""

from __future__ import annotations

import contextlib
import io
import random
from dataclasses import replace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import arrow_sizes
from airflow_provider_ingest.formats.arrow import BATCH_CELLS
from airflow_provider_ingest.formats.arrow_sizes import check_arrow_sizes
from airflow_provider_ingest.formats.limits import LIMITS
from airflow_provider_ingest.formats.parquet_sizes import fitting_parts
from tests.unit.formats.tables import read_bytes

ROWS = [{"n": at, "t": f"text {at % 7}" * 9, "l": [at] * (at % 3), "s": {"k": at / 7}} for at in range(3_000)]
MAKERS = {"stream": pa.ipc.new_stream, "file": pa.ipc.new_file}


def written(table: pa.Table, how: str, compression: str | None, **options: Any) -> bytes:
    sink = io.BytesIO()
    options = {"compression": compression, **options}
    with MAKERS[how](sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=1_000)
    return sink.getvalue()


def table() -> pa.Table:
    found = pa.Table.from_pylist(ROWS)
    return found.append_column("d", found["t"].dictionary_encode()).append_column("z", pa.nulls(len(ROWS)))


@pytest.mark.parametrize("how", MAKERS)
@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("old", [{}, {"use_legacy_format": True}], ids=["now", "before 0.15"])
def test_the_sizes_are_those_of_the_batches(how: str, compression: str | None, old: dict[str, Any]) -> None:
    data = written(table(), how, compression, **old)
    found = list(arrow_sizes._batches(io.BytesIO(data)))
    batches = [sizes for is_dictionary, sizes in found if not is_dictionary]
    assert [sizes.rows for sizes in batches] == [1_000] * 3
    assert any(is_dictionary for is_dictionary, _ in found)
    whole = table().combine_chunks().to_batches(max_chunksize=1_000)
    assert [sizes.inflated for sizes in batches] == pytest.approx([batch.nbytes for batch in whole], rel=0.05)
    assert all(sizes.packed <= sizes.inflated for sizes in batches)
    assert [row["n"] for row in read_bytes(data, format="arrow").rows] == [str(row["n"]) for row in ROWS]


def test_what_polars_writes_is_judged_and_read() -> None:
    sink = io.BytesIO()
    pl.DataFrame({"t": ["x" * 100] * 5_000, "n": range(5_000)}).write_ipc(sink, compression="zstd")
    check_arrow_sizes(sink, LIMITS)
    assert len(read_bytes(sink.getvalue()).rows) == 5_000


def test_a_batch_too_large_for_the_memory_is_refused_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_sizes, "MOST_IN_MEMORY", 1 << 16)
    with pytest.raises(FormatError, match="write the file with fewer rows in each batch"):
        check_arrow_sizes(io.BytesIO(written(table(), "file", None)), LIMITS)


def test_a_batch_that_inflates_to_suspiciously_much_is_refused() -> None:
    data = written(pa.table({"a": ["x" * 2_000] * 1_000}), "stream", "zstd")
    with pytest.raises(FormatError, match="more than 300 times its size"):
        check_arrow_sizes(io.BytesIO(data), replace(LIMITS, ratio_from=1_000))


def test_a_file_of_more_rows_than_its_bytes_explain_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_sizes, "MOST_VALUES", 10_000_000)
    data = written(pa.table({"a": pa.nulls(2_000)}), "stream", None)
    check_arrow_sizes(io.BytesIO(data), LIMITS)
    monkeypatch.setattr(arrow_sizes, "MOST_VALUES", 1_999)
    with pytest.raises(FormatError, match="more than 1 rows for each of its bytes"):
        check_arrow_sizes(io.BytesIO(data), replace(LIMITS, inflate_ratio=1))


def test_rows_of_many_values_come_in_small_parts() -> None:
    lists = pa.FixedSizeListArray.from_arrays(pa.nulls(20_000_000), 1_000_000)
    parts = list(fitting_parts(pa.RecordBatch.from_arrays([lists], ["a"])))
    assert [part.num_rows for part in parts] == [BATCH_CELLS // 1_000_000] * 10


@pytest.mark.parametrize("how", MAKERS)
def test_a_damaged_file_is_told_as_damaged_and_nothing_else(how: str) -> None:
    data = written(table(), how, "zstd")
    chance = random.Random(5)
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(chance.choice([1, 1, 4])):
            broken[chance.randrange(6, len(data))] = chance.choice([0, 1, 127, 128, 255])
        if chance.random() < 0.2:
            del broken[chance.randrange(6, len(data)) :]
        with contextlib.suppress(FormatError):
            read_bytes(bytes(broken), format="arrow")
