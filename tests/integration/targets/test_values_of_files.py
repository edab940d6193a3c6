r"""What files say arrives in columns of less usual types as it was meant, or fails its row: never as something else."""

from __future__ import annotations

import csv
import json
import random
import string
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.exceptions import TargetError
from tests.integration.targets.file_runs import NO_FAILURES, Imported, execute, import_file

BYTES = [b"\xff\x00a", b"plain", b"\\xdead", b"\\x0g", b" a\n", b"a\x00b", " é".encode(), None]


@pytest.fixture
def things(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """Imports values into a column of a type, numbered from 1, and gives what is stored of them."""

    def imported(database: str, type_: str, values: list[Any], form: str = "csv", *, is_keyed: bool = False) -> Any:
        url = request.getfixturevalue(f"{database}_url")
        execute(url, f"CREATE TABLE things (id integer PRIMARY KEY, value {type_})")
        config = IngestConfig.for_("things", conn_id="shop").from_source(SourceType.UPLOAD)
        config = config.map("id", "id").map("value", "value")
        file = written(tmp_path / f"things.{form}", values, form)
        found = import_file(url, config.keyed_by("id") if is_keyed else config, file, tmp_path)
        return [row[0] for row in execute(url, "SELECT value FROM things ORDER BY id")], found

    return imported


def written(file: Path, values: list[Any], form: str) -> Path:
    numbers = range(1, len(values) + 1)
    if form == "csv":
        with file.open("w", newline="") as out:
            csv.writer(out).writerows([("id", "value"), *zip(numbers, values, strict=True)])
    elif form == "json":
        file.write_text(json.dumps([{"id": number, "value": one} for number, one in zip(numbers, values, strict=True)]))
    else:
        pq.write_table(pa.table({"id": list(numbers), "value": values}), file)
    return file


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize(
    ("database", "type_"),
    [("postgres", "bytea"), ("mariadb", "blob"), ("mariadb_load", "varbinary(20)"), ("sqlite", "blob")],
)
def test_bytes_of_parquet_arrive_byte_for_byte(things: Any, database: str, type_: str, is_keyed: bool) -> None:
    stored, imported = things(database, type_, BYTES, "parquet", is_keyed=is_keyed)
    assert (stored, imported) == (BYTES, Imported(len(BYTES), NO_FAILURES))


@pytest.mark.parametrize(("database", "type_"), [("postgres", "bytea"), ("mariadb", "blob"), ("sqlite", "blob")])
def test_text_is_bytes_as_postgresql_writes_them_or_its_own_utf_8(things: Any, database: str, type_: str) -> None:
    texts = {"\\xdead": b"\xde\xad", " \\xDEAD": b"\xde\xad", "\\x": b"", "\\xd": b"\\xd", "\\xDE AD": b"\\xDE AD"}
    texts |= {"xdead": b"xdead", "é ": "é ".encode(), "": None}
    stored, imported = things(database, type_, list(texts))
    assert (stored, imported) == (list(texts.values()), Imported(len(texts), NO_FAILURES))


ODD = ["a,b", 'q"\\x', None, "NULL", "null", "", " b ", "{x}", "[y]", "é\n\t"]


@pytest.mark.parametrize("is_keyed", [False, True])
def test_arrays_of_json_and_literals_become_arrays(things: Any, is_keyed: bool) -> None:
    arrays = [["a", "b"], [], None, ODD, [["a", "]"], ["b", None]], ["c"]]
    stored, imported = things("postgres", "text[]", arrays, "json", is_keyed=is_keyed)
    assert (stored, imported) == (arrays, Imported(len(arrays), NO_FAILURES))


@pytest.mark.parametrize(
    ("type_", "given", "stored"),
    [
        (
            "text[]",
            ["{x,y}", "[0:1]={1,2}", '[1, 2.50, true, {"a":1.50}]'],
            [["x", "y"], ["1", "2"], ["1", "2.50", "true", '{"a":1.50}']],
        ),
        ("integer[]", ["[1, 2]", "[ ]", "[null]", '["7"]', "[[1],[3]]"], [[1, 2], [], [None], [7], [[1], [3]]]),
        (
            "numeric[]",
            ["[1.10, 12345678901234567890123.45]"],
            [[Decimal("1.10"), Decimal("12345678901234567890123.45")]],
        ),
        ("jsonb[]", ['[{"a": 1.50}, [1], "x", null]'], [[{"a": 1.5}, [1], "x", None]]),
    ],
)
def test_elements_keep_their_digits_and_types(things: Any, type_: str, given: list[str], stored: Any) -> None:
    found, imported = things("postgres", type_, given)
    assert (found, imported) == (stored, Imported(len(given), NO_FAILURES))


def test_arrays_of_bytes_arrive_byte_for_byte(things: Any) -> None:
    arrays = [[b"\xff\x00", b"a\\101b", b"plain"], []]
    assert things("postgres", "bytea[]", arrays, "parquet")[0] == arrays


def test_an_element_that_does_not_fit_fails_its_row_alone(things: Any) -> None:
    stored, imported = things(
        "postgres", "integer[]", [[1], ["x"], [1.5], [[1], [2, 3]], "{{{{{{{1}}}}}}}", [2]], "json"
    )
    assert stored == [[1], [2]]
    assert set(imported.failed) == {2, 3, 4, 5}
    assert imported.failed[2] == 'A value does not fit the type of value (value is "{"x"}")'


def test_a_text_too_long_for_an_index_fails_its_row_alone(things: Any) -> None:
    long = "".join(random.Random(7).choices(string.ascii_letters, k=9_000))
    stored, imported = things("postgres", "text UNIQUE", ["a", long, "b"])
    assert (stored, imported) == (["a", "b"], Imported(2, {2: "A value is larger than an index of the table takes"}))


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize("database", ["mariadb", "mariadb_load"])
def test_times_of_mariadb_may_be_negative_and_longer_than_a_day(things: Any, database: str, is_keyed: bool) -> None:
    texts = {"9:30": 9.5, "9:05:30": 9 + 5.5 / 60, "-12:30:00": -12.5, "30:00:00": 30, "838:59:59": 839 - 1 / 3600}
    wrong = ["839:00:00", "12:60:00", "noon"]
    stored, imported = things(database, "time", [*texts, *wrong], is_keyed=is_keyed)
    assert stored == [timedelta(hours=hours) for hours in texts.values()]
    assert set(imported.failed) == {6, 7, 8}


@pytest.mark.parametrize(("database", "form"), [("postgres", time), ("sqlite", str)])
def test_an_hour_of_the_day_needs_no_leading_zero(things: Any, database: str, form: Any) -> None:
    stored, imported = things(database, "time", ["9:30", "9:05:07", "24:00", "-1:00"])
    expected = [time(9, 30), time(9, 5, 7)]
    assert stored == (expected if form is time else [one.isoformat("microseconds") for one in expected])
    assert set(imported.failed) == {3, 4}


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize(("type_", "most"), [("name", 63), ('"char"', 1)])
def test_a_text_that_postgresql_would_cut_is_refused(things: Any, type_: str, most: int, is_keyed: bool) -> None:
    stored, imported = things("postgres", type_, ["x" * most, "x" * (most + 1), "é" * most], is_keyed=is_keyed)
    assert stored == ["x" * most]
    assert f"The column value takes {type_}, at most {most} bytes." in imported.failed[2]["value"][0]
    assert set(imported.failed) == {2, 3}


def test_a_strict_table_of_sqlite_takes_anything_as_it_is(sqlite_url: str, tmp_path: Path) -> None:
    execute(sqlite_url, "CREATE TABLE anything (id integer PRIMARY KEY, value ANY) STRICT")
    config = IngestConfig.for_("anything", conn_id="shop").from_source(SourceType.UPLOAD)
    file = written(tmp_path / "anything.csv", ["abc", "007", "1.50", ""], "csv")
    imported = import_file(sqlite_url, config.map("id", "id").map("value", "value"), file, tmp_path)
    assert imported == Imported(4, NO_FAILURES)
    assert [row[0] for row in execute(sqlite_url, "SELECT value FROM anything")] == ["abc", "007", "1.50", ""]


@pytest.mark.parametrize("database", ["postgres", "mariadb", "sqlite"])
@pytest.mark.parametrize("is_key", [False, True])
def test_a_column_that_the_database_computes_is_called_that(
    request: pytest.FixtureRequest, tmp_path: Path, database: str, is_key: bool
) -> None:
    url = request.getfixturevalue(f"{database}_url")
    execute(url, "CREATE TABLE things (id integer PRIMARY KEY, value integer GENERATED ALWAYS AS (id * 2) STORED)")
    config = IngestConfig.for_("things", conn_id="shop").from_source(SourceType.UPLOAD)
    config = config.map("id", "id").map("value", "value")
    with pytest.raises(TargetError, match="which things computes" if is_key else '"value" .* is computed by the'):
        import_file(
            url,
            config.keyed_by("value") if is_key else config,
            written(tmp_path / "things.csv", [4], "csv"),
            tmp_path,
        )


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize("database", ["mariadb", "mariadb_load"])
@pytest.mark.parametrize(("type_", "is_cut"), [("tinyblob", True), ("mediumblob", False), ("longblob", False)])
def test_each_blob_of_mariadb_takes_bytes_and_cuts_none(
    things: Any, database: str, type_: str, is_cut: bool, is_keyed: bool
) -> None:
    values = [b"\xff\x00a", b" a\n", b"x" * 300]
    stored, imported = things(database, type_, values, "parquet", is_keyed=is_keyed)
    assert stored == (values[:2] if is_cut else values)
    assert set(imported.failed) == ({3} if is_cut else set())


@pytest.mark.parametrize("database", ["mariadb", "mariadb_load"])
def test_a_text_that_is_no_geometry_fails_its_row_alone(
    request: pytest.FixtureRequest, tmp_path: Path, database: str
) -> None:
    url = request.getfixturevalue(f"{database}_url")
    execute(url, "CREATE TABLE things (id integer PRIMARY KEY, value point)")
    config = IngestConfig.for_("things", conn_id="shop").from_source(SourceType.UPLOAD)
    file = written(tmp_path / "things.csv", ["1 1", ""], "csv")
    imported = import_file(url, config.map("id", "id").map("value", "value"), file, tmp_path)
    assert (imported.written, set(imported.failed)) == (1, {1})


@pytest.mark.parametrize(
    ("type_", "good", "stored", "large"),
    [("numeric(3,5)", "0.00999", "0.00999", "0.01"), ("numeric(5,-2)", "12345", "12300", "12345678")],
)
def test_a_number_may_have_more_decimals_than_digits_or_fewer_than_none(
    things: Any, type_: str, good: str, stored: str, large: str
) -> None:
    found, imported = things("postgres", type_, [good, large, "x"])
    assert (found, set(imported.failed)) == ([Decimal(stored)], {2, 3})


@pytest.mark.parametrize(
    ("type_", "given", "stored"),
    [
        ("timestamptz[]", "{2026-01-01 10:00}", [datetime(2026, 1, 1, 10, tzinfo=UTC)]),
        ("timetz", "10:00", time(10, tzinfo=UTC)),
    ],
)
def test_times_without_a_zone_are_utc_wherever_the_server_stands(
    things: Any, postgres_url: str, type_: str, given: str, stored: Any
) -> None:
    (name,) = execute(postgres_url, "SELECT current_database()")[0]
    execute(postgres_url, f"ALTER DATABASE {name} SET timezone = 'America/New_York'")
    assert things("postgres", type_, [given])[0] == [stored]


@pytest.mark.parametrize("database", ["postgres", "sqlite"])
def test_times_of_parquet_keep_their_fractions(things: Any, database: str) -> None:
    stored, imported = things(database, "time", [time(9, 5, 7, 123456), time(9, 5)], "parquet")
    assert imported == Imported(2, NO_FAILURES)
    assert [str(one).removesuffix(".000000") for one in stored] == ["09:05:07.123456", "09:05:00"]


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize(
    ("base", "given", "stored"),
    [("bit varying(3)", ["101", "10101"], ["101"]), ("varchar(3)[]", ["{abc}", '["abcd"]', '["a"]'], [["abc"], ["a"]])],
)
def test_a_domain_cuts_nothing_that_its_base_would_not_take(
    things: Any, postgres_url: str, base: str, given: list[str], stored: list[Any], is_keyed: bool
) -> None:
    execute(postgres_url, f"CREATE DOMAIN few AS {base}")
    found, imported = things("postgres", "few", given, is_keyed=is_keyed)
    assert (found, set(imported.failed)) == (stored, {2})
