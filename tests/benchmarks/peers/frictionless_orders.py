"""frictionless: its schema, types and constraints on each row; what it cannot say is done in Python, psycopg writes.

Its own SQL writer makes tables by itself and would not keep ours.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
from csv_loop import BATCH, INSERT
from frictionless import Resource, Schema
from rules import CATEGORIES, COUNTRIES, FIELDS

REQUIRED = {"required": True}
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "order", "type": "integer", "constraints": REQUIRED},
        {"name": "sku", "type": "string", "constraints": {**REQUIRED, "pattern": r"AB-\d{8}"}},
        {"name": "name", "type": "string", "constraints": REQUIRED},
        {"name": "email", "type": "string", "format": "email", "constraints": REQUIRED},
        {"name": "category", "type": "string", "constraints": {"enum": sorted(CATEGORIES)}},
        {"name": "price", "type": "number", "constraints": {**REQUIRED, "minimum": "0.01", "maximum": "10000"}},
        {"name": "quantity", "type": "integer", "constraints": {**REQUIRED, "minimum": 1, "maximum": 1000}},
        {"name": "active", "type": "boolean", "trueValues": ["yes"], "falseValues": ["no"], "constraints": REQUIRED},
        {"name": "date", "type": "date", "format": "%d.%m.%Y", "constraints": REQUIRED},
        {"name": "country", "type": "string"},
        {"name": "rating", "type": "number", "floatNumber": True},
        {"name": "note", "type": "string"},
    ]
}


def record(row: Any) -> tuple[object, ...]:
    """The values as the schema typed them; trimming, mapping and defaults by hand."""
    values = {name: row[name] for name in FIELDS}
    values["name"] = values["name"].strip()
    values["price"] = round(values["price"], 2)
    values["country"] = COUNTRIES.get(values["country"], values["country"])
    values["note"] = values["note"] or "none"
    return tuple(values.values())


def row_stream(dsn: str, path: Path) -> int:
    """Rows as frictionless streams them, batches of INSERT statements."""
    bad: list[Any] = []

    def records(resource: Resource) -> Any:
        for row in resource.row_stream:
            if row.valid:
                yield record(row)
            else:
                bad.append((row.row_number, row.errors))

    schema = Schema.from_descriptor(SCHEMA)
    source = Resource(path=path.name, basepath=str(path.parent), schema=schema, encoding="utf-8")
    with source as resource, psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        rows = records(resource)
        while batch := list(islice(rows, BATCH)):
            cursor.executemany(INSERT, batch)
    return len(bad)
