"""What the doctor says of an importer's tables, told by its manifest alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.cli.target_tables import check_target
from airflow_provider_ingest.exceptions import IngestError, SetupError, TargetError


def made(tmp_path: Path, *statements: str) -> Any:
    """The connection of a database with these tables."""
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'shop.db'}")
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    return SimpleNamespace(conn_id="shop", conn_type="sqlite", host=str(tmp_path / "shop.db"), schema=None)


def manifest(model: Any, **options: Any) -> dict[str, Any]:
    config = IngestConfig.for_(model, conn_id="shop").from_source(SourceType.UPLOAD).map("sku", "sku")
    for path, nested in options.items():
        config = config.nest(path, lambda made, model=nested: made.for_(model).map("size", "size"))
    return config.keyed_by("sku").manifest("products").to_dict()


def test_a_table_that_takes_the_rows_is_well(tmp_path: Path) -> None:
    check_target(manifest("products"), made(tmp_path, "CREATE TABLE products (sku TEXT PRIMARY KEY)"))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("CREATE TABLE product (sku TEXT)", "The table products does not exist; did you mean product?"),
        ("CREATE TABLE products (skew TEXT)", "The key names sku, but products has skew"),
        (
            "CREATE TABLE products (sku TEXT PRIMARY KEY, name TEXT NOT NULL)",
            'No mapping sets "name" of the table "products"',
        ),
    ],
)
def test_a_table_that_takes_no_row_is_refused(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(TargetError, match=said):
        check_target(manifest("products"), made(tmp_path, table))


def test_the_tables_of_collections_are_looked_at_too(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="The table variants does not exist"):
        check_target(
            manifest("products", variants="variants"), made(tmp_path, "CREATE TABLE products (sku TEXT PRIMARY KEY)")
        )


def test_a_class_may_fill_columns_and_know_keys_that_the_database_does_not(tmp_path: Path) -> None:
    metadata = sa.MetaData()
    products = sa.Table(
        "products",
        metadata,
        sa.Column("sku", sa.Text, primary_key=True),
        sa.Column("seen", sa.DateTime, nullable=False, default=sa.func.now()),
    )
    variants = sa.Table(
        "variants", metadata, sa.Column("sku", sa.Text, sa.ForeignKey("products.sku")), sa.Column("size", sa.Text)
    )
    connection = made(
        tmp_path,
        "CREATE TABLE products (sku TEXT PRIMARY KEY, seen TEXT NOT NULL)",
        "CREATE TABLE variants (sku TEXT, size TEXT)",
    )
    check_target(manifest(products, variants=variants), connection)
    with pytest.raises(IngestError, match="The key names sku, but products has s"):
        check_target(manifest(products, variants=variants), made(tmp_path, "ALTER TABLE products RENAME sku TO s"))


def test_a_connection_that_is_no_database_is_told(tmp_path: Path) -> None:
    connection = SimpleNamespace(conn_id="shop", conn_type="fs", get_hook=lambda: SimpleNamespace())
    with pytest.raises(SetupError, match="which is no SQL database"):
        check_target(manifest("products"), connection)
