"""Tables with every constraint that a row can break."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import CheckConstraint, ForeignKey, Numeric, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Workshop(DeclarativeBase):
    """Base of the workshop's tables."""


class Brand(Workshop):
    """Looked up by name; made where it is missing."""

    __tablename__ = "brands"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(30), unique=True)


class Maker(Workshop):
    """Looked up by code; an unknown one fails its row."""

    __tablename__ = "makers"

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str] = mapped_column(String(10), unique=True)


class Article(Workshop):
    """What the rich importer fills."""

    __tablename__ = "articles"
    __table_args__ = (
        CheckConstraint("price <= 5000", name="price_is_sane"),
        UniqueConstraint("slug", name="one_article_per_slug"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    sku: Mapped[str] = mapped_column(String(12), unique=True)
    title: Mapped[str] = mapped_column(String(40))
    slug: Mapped[str | None] = mapped_column(String(60))
    label: Mapped[str | None] = mapped_column(String(80))
    size: Mapped[str | None] = mapped_column(String(10))
    is_active: Mapped[bool]
    released: Mapped[date | None]
    stock: Mapped[int]
    price: Mapped[Decimal] = mapped_column(Numeric(10, 2))
    contact: Mapped[str | None] = mapped_column(String(254))
    rating: Mapped[int | None]
    checked_on: Mapped[date | None]
    seen_at: Mapped[datetime | None]
    city: Mapped[str | None] = mapped_column(String(40))
    initials: Mapped[str | None] = mapped_column(String(10))
    doubled: Mapped[int | None]
    brand_id: Mapped[int | None] = mapped_column(ForeignKey("brands.id"))
    maker_id: Mapped[int | None] = mapped_column(ForeignKey("makers.id"))
    replaces_id: Mapped[int | None] = mapped_column(ForeignKey("articles.id", name="replaces_an_article"))
    tracking: Mapped[str | None] = mapped_column(String(20), server_default="none")
    delivery: Mapped[str | None] = mapped_column(String(20), server_default="post")
    discount: Mapped[int | None] = mapped_column(server_default="5")


class Variant(Workshop):
    """An element of an article's collection."""

    __tablename__ = "variants"

    id: Mapped[int] = mapped_column(primary_key=True)
    article_id: Mapped[int] = mapped_column(ForeignKey("articles.id"))
    color: Mapped[str] = mapped_column(String(10))
    finish: Mapped[str | None] = mapped_column(String(20), server_default="plain")


class Price(Workshop):
    """An element of a variant's collection."""

    __tablename__ = "prices"

    id: Mapped[int] = mapped_column(primary_key=True)
    variant_id: Mapped[int] = mapped_column(ForeignKey("variants.id"))
    currency: Mapped[str] = mapped_column(String(3))
    amount: Mapped[Decimal] = mapped_column(Numeric(10, 2))


class Stock(Workshop):
    """What the importers with keys fill, each its own part of it."""

    __tablename__ = "stocks"
    __table_args__ = (UniqueConstraint("store", "sku"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    store: Mapped[str] = mapped_column(String(10))
    sku: Mapped[str] = mapped_column(String(10))
    amount: Mapped[int]
    changed_on: Mapped[date | None]
