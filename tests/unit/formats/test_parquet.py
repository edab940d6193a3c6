"""Parquet and Arrow: every type as text, chunks that cut through row groups."""

import io
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import accumulate
from uuid import UUID

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_provider_ingest.exceptions import FormatError
from tests.unit.formats.tables import read_bytes


def parquet(table: pa.Table, **options) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def arrow(table: pa.Table, is_stream: bool) -> bytes:
    buffer = io.BytesIO()
    with (pa.ipc.new_stream if is_stream else pa.ipc.new_file)(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


TYPES = [
    (pa.int64(), -7, "-7", "integer"),
    (pa.uint64(), 2**64 - 1, str(2**64 - 1), "integer"),
    (pa.float64(), 12.5, "12.5", "number"),
    (pa.float64(), 12.0, "12.0", "number"),
    (pa.float32(), 0.5, "0.5", "number"),
    (pa.float16(), 0.5, "0.5", "number"),
    (pa.decimal128(9, 2), Decimal("12.10"), "12.10", "number"),
    (pa.decimal256(60, 2), Decimal("1" * 50 + ".10"), "1" * 50 + ".10", "number"),
    (pa.bool_(), True, "true", "boolean"),
    (pa.string(), "", "", "text"),
    (pa.large_string(), "x", "x", "text"),
    (pa.dictionary(pa.int32(), pa.string()), "x", "x", "text"),
    (pa.date32(), date(2024, 2, 29), "2024-02-29", "date"),
    (pa.date64(), date(2024, 2, 29), "2024-02-29", "date"),
    (pa.timestamp("us"), datetime(2024, 2, 29, 1, 2, 3), "2024-02-29T01:02:03.000000", "datetime"),
    (pa.timestamp("ms", "UTC"), datetime(2024, 2, 29, 1, tzinfo=UTC), "2024-02-29T01:00:00.000+00:00", "datetime"),
    (pa.time64("us"), time(1, 2), "01:02:00", "text"),
    (pa.duration("s"), timedelta(hours=30), "P1DT6H", "text"),
    (pa.binary(), b"abc", "abc", "text"),
    (pa.binary(2), b"\xff\x00", "\\xff00", "text"),
    (pa.list_(pa.int64()), [1, None], "[1,null]", "json"),
    (pa.struct({"a": pa.date32()}), {"a": date(2024, 2, 29)}, '{"a":"2024-02-29"}', "json"),
    (pa.map_(pa.string(), pa.int64()), [("k", 1)], '[["k",1]]', "json"),
    (pa.null(), None, None, "text"),
    (pa.json_(), '{"a": 1}', '{"a": 1}', "json"),
    (pa.uuid(), UUID(int=5), "00000000-0000-0000-0000-000000000005", "text"),
]


@pytest.mark.parametrize(("type_", "value", "text", "kind"), TYPES)
def test_a_typed_value_becomes_text_and_kind(type_, value, text, kind):
    if pa.types.is_dictionary(type_):
        column = pa.array([value, None], pa.string()).dictionary_encode()
    else:
        column = pa.array([value, None], type_)
    table = pa.table({"v": column})
    files = [arrow(table, is_stream=True), arrow(table, is_stream=False)]
    if not pa.types.is_float16(type_):
        files.append(parquet(table))
    for data in files:
        whole = read_bytes(data)
        assert whole.rows == [{"v": text}, {"v": None}]
        assert whole.kinds.get("v", "text") == kind


@pytest.mark.parametrize(
    ("column", "texts", "kind"),
    [
        (pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 8])), ["7", "7", "8"], "integer"),
        (pa.array([b"x", b"\xff"]).dictionary_encode(), ["x", "\\xff"], "text"),
        (pa.array([date(2024, 2, 29)]).dictionary_encode(), ["2024-02-29"], "date"),
        (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8())), ["true", "false"], "boolean"),
        (
            pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
            ["1", '"b"'],
            "json",
        ),
    ],
    ids=["runs", "a dictionary of bytes", "a dictionary of dates", "booleans of a byte", "a union"],
)
def test_an_arrow_column_in_a_rare_layout_is_what_it_holds(column, texts, kind):
    whole = read_bytes(arrow(pa.table({"v": column}), is_stream=False))
    assert [row["v"] for row in whole.rows] == texts
    assert whole.kinds.get("v", "text") == kind


@pytest.mark.parametrize("type_", [pa.month_day_nano_interval(), pa.timestamp("us", "Nowhere/Land")])
def test_a_column_of_a_type_without_text_is_refused_by_name(type_):
    with pytest.raises(FormatError, match=r"The column 'v' has the type .* which cannot be read"):
        read_bytes(arrow(pa.table({"v": pa.nulls(2, type_)}), is_stream=False))


def test_repeated_and_empty_names_of_columns_are_told_apart_with_a_warning():
    table = pa.Table.from_arrays([pa.array([at]) for at in range(4)], names=["a", "a", "", ""])
    whole = read_bytes(arrow(table, is_stream=True))
    assert whole.plan.columns == ("a", "a_2", "column_3", "column_4")
    assert "stands more than once" in whole.plan.warnings[0]


@pytest.mark.parametrize("group", [1, 7, 100])
@pytest.mark.parametrize(("chunk_rows", "batch_rows"), [(1000, 1000), (10, 3), (33, 50), (1, 1)])
def test_chunks_may_cut_through_row_groups(group, chunk_rows, batch_rows):
    table = pa.table({"id": range(100), "n": [f"n{at}" for at in range(100)]})
    whole = read_bytes(parquet(table, row_group_size=group), chunk_rows=chunk_rows, batch_rows=batch_rows)
    assert [row["id"] for row in whole.rows] == [str(at) for at in range(100)]
    assert whole.numbers == whole.lines == list(range(1, 101))


def test_repeated_and_reserved_names_get_suffixes():
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "_row_number"])
    assert read_bytes(parquet(table)).rows == [{"a": "1", "a_2": "2", "_row_number_2": "3"}]


def test_a_file_without_rows_has_its_columns():
    table = pa.table({"a": pa.array([], pa.int64())})
    for data in (parquet(table), arrow(table, is_stream=False)):
        whole = read_bytes(data)
        assert (whole.plan.columns, whole.plan.rows, whole.kinds) == (("a",), 0, {"a": "integer"})


@pytest.mark.parametrize("end", [6, 200, -1])
def test_a_cut_off_file_is_refused(end):
    data = parquet(pa.table({"a": range(1000)}))
    with pytest.raises(FormatError, match="Parquet file is damaged"):
        read_bytes(data[:end])


def test_what_polars_writes_is_read():
    frame = pl.DataFrame({"s": ["x", None], "c": pl.Series(["a", "b"], dtype=pl.Categorical), "b": [b"\xff", None]})
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    assert read_bytes(buffer.getvalue()).rows == [{"s": "x", "c": "a", "b": "\\xff"}, {"s": None, "c": "b", "b": None}]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_pages_of_any_kind_are_looked_at_and_read(version, compression):
    rows = [{"n": at, "t": f"text {at % 7}", "l": [at] * (at % 3), "f": at / 7} for at in range(3_000)]
    options = {"data_page_version": version, "compression": compression, "data_page_size": 1_000}
    data = parquet(pa.Table.from_pylist(rows), **options, row_group_size=1_000, write_page_index=True)
    whole = read_bytes(data, chunk_rows=700)
    assert [(row["n"], row["t"]) for row in whole.rows] == [(str(row["n"]), row["t"]) for row in rows]


def test_a_page_that_is_none_is_damage():
    data = bytearray(parquet(pa.table({"a": list(range(100))}), use_dictionary=False))
    data[4:8] = b"\xff\xff\xff\xff"
    with pytest.raises(FormatError, match="damaged"):
        read_bytes(bytes(data))


def latin_1(texts: list[str]) -> pa.Array:
    """Texts whose bytes are no UTF-8, as some programs write them."""
    data = [text.encode("latin-1") for text in texts]
    bounds = [0, *accumulate(map(len, data))]
    return pa.StringArray.from_buffers(
        len(data), pa.array(bounds, pa.int32()).buffers()[1], pa.py_buffer(b"".join(data))
    )


@pytest.mark.parametrize("how", ["plain", "dictionary", "stream", "file", "stream of a dictionary"])
def test_a_text_that_is_no_text_fails_its_row_alone(how):
    column = latin_1(["Ada", "José", "Bob", "Zoë"])
    if how == "stream of a dictionary":
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], "int8"), column)
    table = pa.table({"n": range(4), "name": column})
    data = (
        arrow(table, is_stream=how != "file") if how[0] in "sf" else parquet(table, use_dictionary=how == "dictionary")
    )
    whole = read_bytes(data)
    assert whole.rows == [{"n": "0", "name": "Ada"}, {"n": "2", "name": "Bob"}]
    assert whole.numbers == [1, 3]
    assert [(one["_row_number"], one["reason"], one["data"]) for one in whole.malformed] == [
        (2, "name: not valid UTF-8", '{"n":"1","name":"Jos\ufffd"}'),
        (4, "name: not valid UTF-8", '{"n":"3","name":"Zo\ufffd"}'),
    ]


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s"), pa.timestamp("ms", "UTC")])
def test_a_date_beyond_any_calendar_is_told_and_no_panic(kind):
    number = 2**31 - 1 if kind == pa.date32() else 2**62
    table = pa.table({"day": pa.array([number], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)})
    with pytest.raises(FormatError, match=r"no calendar has|out of bounds"):
        read_bytes(arrow(table, is_stream=True))
