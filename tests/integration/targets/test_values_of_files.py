r"""What files say arrives in columns of less usual types as it was meant, or fails its row: never as something else."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_provider_ingest import IngestConfig, SourceType
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
