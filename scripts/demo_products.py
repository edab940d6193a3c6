"""A file of products as people export them, always the same, and what must become of each row."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HEADER = ["sku", "name", "category", "price", "stock", "active", "released"]
CATEGORIES = {"Books": "BK", "Electronics": "EL", "Garden": "GA", "Toys": "TY"}
ADJECTIVES = ["Blue", "Folding", "Small", "Silent", "Grüne", "Large", "Wooden", 'The "Best"', "Light, warm"]
NOUNS = ["Lamp", "Rake", "Train", "Atlas", "Kettle", "Kite", "Radio", "Stuhl", "Bench\nwith back"]

MISTAKES = {
    "sku": ["bk-1", "12345", "EL 10010", ""],
    "name": ["", "   "],
    "category": ["Gardn", "books", "Misc"],
    "price": ["twenty", "0", "12000", "", "-5"],
    "stock": ["many", "3x"],
    "released": ["31.02.2025", "2025-01-31", "soon"],
}
"""Values that the importer must refuse, by column."""

HARMLESS = {
    "sku": lambda text: f"  {text} ",
    "price": lambda text: f"{text}4",
    "stock": lambda _: "",
    "active": lambda _: "perhaps",
    "released": lambda _: "",
}
"""Oddities that the importer must put right, by column."""


@dataclass
class Expected:
    """The ledger that the import has to show, counted while the file was written."""

    total: int = 0
    created: int = 0
    updated: int = 0
    failed: dict[int, frozenset[str]] = field(default_factory=dict)
    """By row number: the columns that are wrong, none if the row has too many fields."""
    mistakes: Counter[str] = field(default_factory=Counter)


def write_products(path: Path, rows: int) -> Expected:
    """Write the file; about one row in fifty has a mistake, one in thirty repeats a SKU."""
    chance, expected, known = random.Random(2026), Expected(total=rows), []
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(HEADER)
        for number in range(1, rows + 1):
            row = _product(chance, number)
            repeats = bool(known) and chance.random() < 1 / 30
            if repeats:
                row["sku"] = chance.choice(known)
            if chance.random() < 1 / 50:
                _spoil(chance, number, row, expected, file)
                if not expected.failed[number]:
                    continue
            else:
                expected.updated += repeats
                expected.created += not repeats
                if not repeats:
                    known.append(row["sku"])
                if chance.random() < 1 / 10:
                    column = chance.choice(list(HARMLESS))
                    row[column] = HARMLESS[column](row[column])
            writer.writerow(row.values())
    return expected


def _product(chance: random.Random, number: int) -> dict[str, str]:
    category = chance.choice(list(CATEGORIES))
    return {
        "sku": f"{CATEGORIES[category]}-{number:05d}",
        "name": f"{chance.choice(ADJECTIVES)} {chance.choice(NOUNS)}",
        "category": category,
        "price": f"{chance.randrange(1, 999_999) / 100:.2f}",
        "stock": str(chance.randrange(500)),
        "active": chance.choice(["yes", "no", "1", "0", "Y"]),
        "released": f"{chance.randrange(1, 29):02d}.{chance.randrange(1, 13):02d}.{chance.randrange(2015, 2027)}",
    }


def _spoil(chance: random.Random, number: int, row: dict[str, str], expected: Expected, file: io.TextIOBase) -> None:
    """Make one or two columns wrong, or the whole line by a comma that somebody forgot to quote."""
    if chance.random() < 1 / 5:
        values = [row["sku"], "Table, round", *list(row.values())[2:]]
        file.write(",".join(values) + "\r\n")
        wrong: list[str] = []
        expected.mistakes["too many fields"] += 1
    else:
        wrong = chance.sample(list(MISTAKES), k=1 if chance.random() < 4 / 5 else 2)
        for column in wrong:
            row[column] = chance.choice(MISTAKES[column])
            expected.mistakes[column] += 1
    expected.failed[number] = frozenset(wrong)
