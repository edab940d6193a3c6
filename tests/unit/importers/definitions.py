"""A small shop to define importers for."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.transformers import TrimTransformer
from airflow_provider_ingest.validators import RequiredValidator


class Base(DeclarativeBase):
    pass


class Category(Base):
    __tablename__ = "categories"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class Product(Base):
    __tablename__ = "products"
    id: Mapped[int] = mapped_column(primary_key=True)
    sku: Mapped[str]
    price_cents: Mapped[int | None] = mapped_column("price")
    category_id: Mapped[int | None] = mapped_column(ForeignKey("categories.id"))
    variants: Mapped[list[Variant]] = relationship()


class Variant(Base):
    __tablename__ = "variants"
    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"))
    sku: Mapped[str]
    size: Mapped[str | None]


def start() -> IngestConfig:
    return IngestConfig.for_(Product, conn_id="shop")


def complete() -> IngestConfig:
    return start().from_source(SourceType.UPLOAD).map("SKU", "sku")


class Shipped:
    """A conditional mapping as the specification describes it."""

    source_field = "tracking"
    attribute = "sku"
    transformer = TrimTransformer
    validator = RequiredValidator()

    def should_apply(self, row: Any) -> bool:
        return bool(row["status"] == "shipped")


class Numbers:
    """A source of one's own."""

    def read(self) -> Any:
        yield {"n": 1}

    def get_schema(self) -> Any:
        return {"n": {"type": "integer", "required": True}}

    def get_source_metadata(self) -> Any:
        return {"source_type": "numbers"}
