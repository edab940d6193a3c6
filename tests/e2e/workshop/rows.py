"""The workshop's database, and the file of the rich importer: each row is wrong in one way, or good in one."""

from __future__ import annotations

from typing import Any

GOOD: dict[str, Any] = {
    "name": "**Bench**",
    "slug": None,
    "brand": "Wald",
    "maker": "M1",
    "size": "S",
    "active": "ja",
    "released": "29.02.2024",
    "stock": "n/a",
    "price": "1.234,555",
    "contact": "ada@example.com",
    "rating": 3,
    "checked_on": "2026-01-31",
    "seen_at": "2026-01-31T23:59:59",
    "address": {"city": "Łódź"},
    "author": "Ada Lovelace",
    "number": "21",
    "replaces": None,
    "boxes": 3,
    "weight": 1.5,
    "fragile": True,
    "made_on": "2025-12-24",
    "channel": "shop",
    "status": "open",
    "code": "",
    "courier": "bike",
    "express": "plane",
    "discount": None,
    "data": {"variants": []},
}

USD = {"currency": "USD", "amount": 12}
GBP = {"currency": "GBP", "amount": 1}

VARIANTS: list[dict[str, Any]] = [
    {"color": "red", "finish": " matt ", "prices": [{"currency": "EUR", "amount": "9.999"}, USD]},
    {"color": "raw", "finish": "never", "prices": []},
]

FINE: list[dict[str, Any]] = [
    {"slug": "Crème Brûlée, 2 kg!", "data": {"variants": VARIANTS}},
    {"status": "sent", "code": " DE-7 ", "channel": "club", "discount": "15.4", "brand": "Heide"},
    {"size": "XXL", "active": "?", "released": "", "stock": "12.5", "author": None, "number": None, "contact": ""},
]
"""Rows 1 to 3: only what differs from :data:`GOOD`."""

WRONG: list[tuple[dict[str, Any], str, str | None]] = [
    ({"sku": "a1"}, "regex", "sku"),
    ({"name": "Wald"}, "same_as_brand", "name"),
    ({"price": "10.000,01"}, "range", "price"),
    ({"price": "much"}, "numeric", "price"),
    ({"price": ""}, "required", "price"),
    ({"contact": "ada@"}, "email", "contact"),
    ({"rating": 9}, "in_array", "rating"),
    ({"checked_on": "31.01.2026"}, "date", "checked_on"),
    ({"released": "31.02.2024"}, "date", "released"),
    ({"author": "?"}, "transform_error", "author"),
    ({"number": "50"}, "below_hundred", "number"),
    ({"boxes": "three"}, "type", "boxes"),
    ({"weight": "heavy"}, "type", "weight"),
    ({"fragile": "maybe"}, "type", "fragile"),
    ({"made_on": "2025-02-30"}, "type", "made_on"),
    ({"seen_at": "noon"}, "type", "seen_at"),
    ({"sku": None}, "required", "sku"),
    ({"status": "sent", "code": ""}, "required", "code"),
    ({"status": "express", "channel": "club"}, "conflicting_mappings", "delivery"),
    ({"channel": "club", "discount": "51"}, "range", "discount"),
    ({"maker": "M9"}, "not_found", "maker"),
    ({"name": "x" * 41}, "too_long", "name"),
    ({"name": None}, "not_null", "name"),
    ({"stock": "99999999999"}, "out_of_range", "stock"),
    ({"replaces": "soon"}, "type", "replaces"),
    ({"data": {"variants": [{"color": "red"}, {"color": ""}]}}, "required", "data.variants[1].color"),
    (
        {"data": {"variants": [{"color": "red", "prices": [{"currency": "EUR", "amount": 1}, GBP]}]}},
        "in_array",
        "data.variants[0].prices[1].currency",
    ),
    ({"slug": "creme brulee 2 kg"}, "duplicate_key", None),
    ({"price": "5.000,01"}, "check", None),
    ({"replaces": 4711}, "foreign_key", None),
]
"""Rows 4 and up: what differs from :data:`GOOD`, the code, the field."""

ROWS = [
    {**GOOD, "sku": f"A-{number}", **one}
    for number, one in enumerate([*FINE, *(different for different, _, _ in WRONG)], start=1)
]
