"""What every peer does with a row of the orders, in plain Python, as quick as it can be written without tricks.

The same as :mod:`tests.benchmarks.orders_importer`: twelve columns, eight validators, six transformers, all mistakes of
a row found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal, InvalidOperation

SKU = re.compile(r"AB-\d{8}").fullmatch
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+").fullmatch
CATEGORIES = frozenset(["Books", "Electronics", "Garden", "Toys"])
COUNTRIES = {"Germany": "DE", "France": "FR", "Spain": "ES", "Poland": "PL", "Italy": "IT"}
FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
CENT, LOWEST, HIGHEST = Decimal("0.01"), Decimal("0.01"), Decimal(10000)

FIELDS = (
    "order", "sku", "name", "email", "category", "price", "quantity", "active", "date", "country", "rating", "note",
)  # fmt: skip
COLUMNS = (
    "order_id", "sku", "name", "email", "category", "price", "quantity", "is_active", "ordered_on", "country",
    "rating", "note",
)  # fmt: skip


class BadRowError(ValueError):
    """A row that must not be loaded; ``errors`` says why, by field."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__(errors)
        self.errors = errors


def as_date(text: str) -> date:
    """``31.12.2024``; several times as quick as ``strptime``."""
    day, month, year = text.split(".")
    return date(int(year), int(month), int(day))


def convert(fields: Sequence[str]) -> tuple[object, ...]:
    """The record of a row, in the order of :data:`COLUMNS`; raises BadRowError with all its mistakes."""
    order, sku, name, email, category, price, quantity, active, day, country, rating, note = fields
    errors: dict[str, str] = {}
    number = amount = count = ordered = stars = None
    try:
        number = int(order)
    except ValueError:
        errors["order"] = "is no number" if order else "is required"
    if not SKU(sku):
        errors["sku"] = "An SKU looks like AB-12345678."
    name = name.strip()
    if not name:
        errors["name"] = "is required"
    if not EMAIL(email):
        errors["email"] = "is no e-mail address"
    if category not in CATEGORIES:
        errors["category"] = "is not one of the categories"
    try:
        amount = Decimal(price).quantize(CENT)
        if not LOWEST <= amount <= HIGHEST:
            errors["price"] = "is out of range"
    except InvalidOperation:
        errors["price"] = "is no number"
    try:
        count = int(quantity)
        if not 1 <= count <= 1000:
            errors["quantity"] = "is out of range"
    except ValueError:
        errors["quantity"] = "is no number"
    flag = FLAGS.get(active)
    if flag is None:
        errors["active"] = "is neither yes nor no"
    try:
        ordered = as_date(day)
    except ValueError:
        errors["date"] = "is no date"
    try:
        stars = float(rating) if rating else None
    except ValueError:
        errors["rating"] = "is no number"
    if errors:
        raise BadRowError(errors)
    country = COUNTRIES.get(country, country)
    return number, sku, name, email, category, amount, count, flag, ordered, country, stars, note or "none"
