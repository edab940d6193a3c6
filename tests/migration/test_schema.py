"""The migrations and the models give one schema, on every database that Airflow is run on here."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, MetaData, create_engine, inspect, text

from airflow_provider_ingest.get_provider_info import VERSION
from airflow_provider_ingest.models import metadata
from airflow_provider_ingest.models.db import IngestDBManager
from airflow_provider_ingest.runs.failure import INVALID_DATA
from airflow_provider_ingest.storage.sql_store import SqlStore
from tests.contract.factories import log_line, plan, row_log

TABLES = set(metadata.tables)


@pytest.fixture(params=["sqlite", "postgresql"])
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    """A connection to an empty database."""
    if request.param == "sqlite":
        engine: Engine = create_engine(f"sqlite:///{tmp_path}/airflow.db")
        with engine.connect() as connection:
            yield connection
        engine.dispose()
        return
    engine = create_engine(request.getfixturevalue("postgres_url"))
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def alembic_config(connection: Connection) -> Config:
    config = Config(IngestDBManager.alembic_file)
    config.attributes["connection"] = connection
    return config


def described(connection: Connection) -> dict[str, Any]:
    """Everything that the database tells of the ingest tables, in an order of its own."""
    inspector = inspect(connection)
    names = sorted(set(inspector.get_table_names()) & TABLES)
    return {
        name: {
            "columns": {
                column["name"]: (str(column["type"]), column["nullable"], str(column["default"]))
                for column in inspector.get_columns(name)
            },
            "primary key": inspector.get_pk_constraint(name),
            "foreign keys": sorted(map(str, inspector.get_foreign_keys(name))),
            "unique": sorted(map(str, inspector.get_unique_constraints(name))),
            "indexes": sorted(map(index_told, inspector.get_indexes(name))),
        }
        for name in names
    }


def index_told(index: Mapping[str, Any]) -> str:
    """An index with its condition as text, which SQLite's reflection wraps in an object."""
    options = {name: str(value) for name, value in index.get("dialect_options", {}).items()}
    return str({**index, "dialect_options": options})


def test_the_migrations_and_create_all_give_one_schema(connection: Connection) -> None:
    command.upgrade(alembic_config(connection), "head")
    migrated = described(connection)
    connection.commit()
    command.downgrade(alembic_config(connection), "base")
    metadata.create_all(connection)
    assert migrated == described(connection)
    assert set(migrated) == TABLES


def test_alembic_finds_nothing_left_to_migrate(connection: Connection) -> None:
    command.upgrade(alembic_config(connection), "head")
    context = MigrationContext.configure(
        connection,
        opts={
            "compare_type": True,
            "compare_server_default": True,
            "version_table": IngestDBManager.version_table_name,
            "include_object": lambda item, name, kind, *_: kind != "table" or name in TABLES,
        },
    )
    assert compare_metadata(context, metadata) == []


def test_going_back_to_base_leaves_only_the_version_table(connection: Connection) -> None:
    command.upgrade(alembic_config(connection), "head")
    command.downgrade(alembic_config(connection), "base")
    assert inspect(connection).get_table_names() == [IngestDBManager.version_table_name]
    command.upgrade(alembic_config(connection), "head")
    assert set(inspect(connection).get_table_names()) == TABLES | {IngestDBManager.version_table_name}


def test_logged_rows_are_found_by_the_shared_message_before_and_after_the_migration(connection: Connection) -> None:
    config = alembic_config(connection)
    command.upgrade(config, "0001")
    columns = "run_id, row_number, chunk_index, status, message, data"
    for number, status, message in ((1, "failed", INVALID_DATA), (2, "failed", "too short"), (3, "success", None)):
        values = {"number": number, "status": status, "message": message}
        statement = f"INSERT INTO ingest_rows ({columns}) VALUES (1, :number, 0, :status, :message, '{{}}')"
        connection.execute(text(statement), values)
    connection.commit()
    messages = text("SELECT message FROM ingest_rows ORDER BY row_number")
    command.upgrade(config, "0002")
    assert connection.scalars(messages).all() == [None, "too short", None]
    connection.commit()
    command.downgrade(config, "0001")
    assert connection.scalars(messages).all() == [INVALID_DATA, "too short", None]
    connection.commit()


def test_failed_rows_that_were_logged_before_the_index_are_found_among_good_ones(connection: Connection) -> None:
    command.upgrade(alembic_config(connection), "0002")
    insert_run(connection)
    columns = "run_id, row_number, chunk_index, status, data"
    for number, status in ((1, "success"), (2, "failed")):
        statement = f"INSERT INTO ingest_rows ({columns}) VALUES (1, :number, 0, :status, '{{}}')"
        connection.execute(text(statement), {"number": number, "status": status})
    connection.commit()
    command.upgrade(alembic_config(connection), "head")
    connection.commit()
    store = SqlStore.on_engine(connection.engine)
    store.record_plan(1, plan(4))
    store.append_rows(1, 0, row_log(log_line(3, "success"), log_line(4)))
    assert [row.row_number for row in store.rows(1, page=1, per_page=5, status="failed").items] == [2, 4]


OLD = '{"sku":"A1","price":1.50}'


def test_rows_that_were_logged_with_the_names_of_their_fields_are_shown_as_before(connection: Connection) -> None:
    command.upgrade(alembic_config(connection), "0003")
    insert_run(connection, logs_good=False)
    log_rows(connection, {1: OLD})
    command.upgrade(alembic_config(connection), "head")
    connection.commit()
    store = SqlStore.on_engine(connection.engine)
    store.record_plan(1, plan(4))
    store.append_rows(1, 0, row_log(log_line(2, data=["A2", 2.5])), ["sku", "price"])
    assert [row.data for row in store.rows(1, page=1, per_page=5).items] == [
        {"sku": "A1", "price": 1.5},
        {"sku": "A2", "price": 2.5},
    ]


def test_going_back_gives_each_row_the_names_of_its_fields(connection: Connection) -> None:
    config = alembic_config(connection)
    command.upgrade(config, "0004")
    names = ["sku", 'a "b" ü\u2028', "price"]
    insert_run(connection, fields=json.dumps(names))
    long = "123456789012345678901234567890.10"
    log_rows(connection, {1: f'["A1",{{"x":[1, "]"]}},{long}]', 2: '{"_raw":"["}', 3: f'["\\u0000[",null,{long}]'})
    connection.commit()
    command.downgrade(config, "0003")
    assert connection.scalars(text("SELECT data FROM ingest_rows ORDER BY row_number")).all() == [
        f'{{"sku":"A1","a \\"b\\" ü\u2028":{{"x":[1, "]"]}},"price":{long}}}',
        '{"_raw":"["}',
        f'{{"sku":"\\u0000[","a \\"b\\" ü\u2028":null,"price":{long}}}',
    ]
    assert "fields" not in {column["name"] for column in inspect(connection).get_columns("ingest_runs")}
    connection.commit()


def test_no_script_is_written_that_would_take_the_names_from_logged_rows() -> None:
    config = Config(IngestDBManager.alembic_file)
    config.set_main_option("sqlalchemy.url", "sqlite://")
    with pytest.raises(CommandError, match="Going back to 0003 rewrites logged rows"):
        command.downgrade(config, "0004:0003", sql=True)


def insert_run(connection: Connection, **more: Any) -> None:
    """A run as the database has it, with the id 1."""
    run = {"key": "k", "importer": "i", "status": "processing", "dag_id": "d", "dag_run_id": "r", "options": "{}"}
    values = run | {"warnings": "[]", "history": "[]", "started_at": "2026-01-02 00:00:00"} | more
    connection.execute(text(f"INSERT INTO ingest_runs ({', '.join(values)}) VALUES (:{', :'.join(values)})"), values)


def log_rows(connection: Connection, documents: Mapping[int, str]) -> None:
    """Failed rows of that run as the database has them."""
    columns = "run_id, row_number, chunk_index, status, data"
    statement = text(f"INSERT INTO ingest_rows ({columns}) VALUES (1, :number, 0, 'failed', :data)")
    connection.execute(statement, [{"number": number, "data": data} for number, data in documents.items()])


def test_the_version_of_the_package_maps_to_the_newest_revision() -> None:
    scripts = ScriptDirectory.from_config(Config(IngestDBManager.alembic_file))
    assert scripts.get_heads() == [IngestDBManager.revision_heads_map[VERSION]]


def test_each_revision_can_be_undone() -> None:
    for file in Path(IngestDBManager.migration_dir, "versions").glob("*.py"):
        functions = {node.name: node for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}
        assert not isinstance(functions["downgrade"].body[-1], ast.Pass), file.name


def test_every_name_fits_into_the_identifiers_of_each_database() -> None:
    names = [constraint.name for table in metadata.tables.values() for constraint in table.constraints]
    names += [index.name for table in metadata.tables.values() for index in table.indexes]
    assert all(name and len(str(name)) <= 63 for name in names)


def test_the_tables_are_apart_from_those_of_airflow() -> None:
    from airflow.models.base import metadata as airflow_tables

    assert isinstance(metadata, MetaData)
    assert metadata is not airflow_tables
    assert not TABLES & set(airflow_tables.tables)
