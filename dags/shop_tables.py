"""The tables of a small shop that the demo importers fill."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import ForeignKey, Numeric, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Shop(DeclarativeBase):
    """Base of the shop's tables; ``Shop.metadata.create_all(engine)`` makes them."""


class Product(Shop):
    """An article, known by its SKU."""

    __tablename__ = "products"

    id: Mapped[int] = mapped_column(primary_key=True)
    sku: Mapped[str] = mapped_column(String(20), unique=True)
    name: Mapped[str] = mapped_column(String(120))
    slug: Mapped[str | None] = mapped_column(String(140))
    category: Mapped[str] = mapped_column(String(40))
    price: Mapped[Decimal] = mapped_column(Numeric(10, 2))
    stock: Mapped[int] = mapped_column(default=0)
    is_active: Mapped[bool] = mapped_column(default=True)
    released: Mapped[date | None]


class Customer(Shop):
    """A customer, known by their e-mail address."""

    __tablename__ = "customers"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    full_name: Mapped[str] = mapped_column(String(120))
    country: Mapped[str] = mapped_column(String(2))
    birth_date: Mapped[date | None]
    newsletter: Mapped[bool] = mapped_column(default=False)
    credit_limit: Mapped[Decimal | None] = mapped_column(Numeric(10, 2))


class Order(Shop):
    """An order of a customer."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[str] = mapped_column(String(20), unique=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    status: Mapped[str] = mapped_column(String(10))
    total: Mapped[Decimal] = mapped_column(Numeric(12, 2))
    ordered_at: Mapped[datetime]
    tracking_code: Mapped[str | None] = mapped_column(String(40))
