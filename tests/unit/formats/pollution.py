"""One table, polluted in the ways of the Pollock benchmark (Vitagliano et al., VLDB 2023): generated, nothing copied.

Every field of the table is quoted, lines end with CRLF. A pollution touches the whole file or one place in one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

HEADER = ["DATE", "TIME", "Qty", "PRODUCTID", "Price", "ProductType", "ProductDescription", "URL", "Comments"]
_NAMES = (
    "Men's Trail Boots",
    "Rain Jacket, Light",
    'Round Table 48"',
    "Kids' Hat",
    'Boxer, 5" Inseam',
    "Fly Rod 8 Wt.",
    "Coffee Table",
)
_TEXTS = (
    "Light boots for men, rugged enough for every season yet quick on the feet.",
    "The next level of protection. From running, biking or walking the dog, it won't let you down.",
    "A lightweight rod that can be used with one hand or with two, as you like it.",
    "Crisp action and a light feel in our 8\\'9\" rod, designed for her.",
    "Our kids' hat: warm, soft and ready to go from bus stop to trail, and back.",
)


def rows(number: int = 83) -> list[list[str]]:
    """The data rows."""
    return [
        [
            f"{at % 28 + 1:02}/{at // 28 + 1:02}/2018",
            f"{at % 24:02}:{at * 15 % 60:02}",
            str(at * 7 % 31),
            f"{'MRYC'[at % 4]}{'GIYC'[at % 3]}-{1000 + at * 97 % 9000}",
            f"${at * 13 % 90}.{at * 7 % 100:02}",
            _NAMES[at % len(_NAMES)],
            _TEXTS[at % len(_TEXTS)],
            f"https://www.example.com/product/P_{at}.html",
            "",
        ]
        for at in range(number)
    ]


@dataclass(frozen=True, slots=True)
class Polluted:
    """A file and what is to be read from it.

    :param lost: the data rows, from 0, that cannot be read as they were meant.
    :param given: the options of someone who knows the file.
    :param names: the columns; ``None`` where they cannot be known.
    """

    name: str
    data: bytes
    rows: list[list[str]]
    names: list[str] | None = field(default_factory=lambda: list(HEADER))
    lost: tuple[int, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)


def quoted(cell: str, quote: str = '"', escape: str | None = None) -> str:
    """A field as the file has it."""
    return quote + cell.replace(quote, (quote if escape is None else escape) + quote) + quote


def line(cells: list[str], delimiter: str = ",", quote: str = '"', escape: str | None = None) -> str:
    """A record without its newline."""
    return delimiter.join(quoted(cell, quote, escape) for cell in cells)


def whole(table: list[list[str]], newline: str = "\r\n", **how: Any) -> str:
    """A file."""
    return "".join(line(cells, **how) + newline for cells in table)


KNOWN = {"delimiter": ",", "quote": '"', "escape": '"', "header_row": 1}


def files() -> Iterator[Polluted]:
    """Pollutions of the whole file."""
    data = rows()
    table = [HEADER, *data]
    clean = whole(table)

    def one(name: str, text: str, **facts: Any) -> Polluted:
        given = {**KNOWN, **facts.pop("given", {})}
        return Polluted(name, text.encode(), facts.pop("rows", data), given=given, **facts)

    yield one("source", clean)
    yield one("no_trailing_newline", clean.removesuffix("\r\n"))
    yield one("double_trailing_newline", clean + "\r\n")
    names = [f"column_{at}" for at in range(1, 10)]
    yield one("no_header", whole(data), names=names, given={"header_row": None, "has_header": False})
    for number in (2, 3):
        yield one(f"header_multirow_{number}", whole([HEADER] * (number - 1) + table))
    preamble = whole([["PREAMBLE", *[""] * 8], [""] * 9])
    yield one("preamble", preamble + clean, given={"header_row": 3})
    for name, width in (("less", 8), ("same", 9), ("more", 10)):
        second = [[f"{name} {at} {place}" for place in range(width)] for at in range(84)]
        if width == 9:
            yield one(f"multitable_{name}", clean + whole(second), rows=data + second)
        else:
            lost = tuple(range(83, 167))
            yield one(f"multitable_{name}", clean + whole(second), rows=data + second, lost=lost)
    yield one("header_only", whole([HEADER]), rows=[])
    yield one("one_data_row", whole(table[:2]), rows=data[:1])
    for name, newline in (("0xA", "\n"), ("0xD", "\r")):
        yield one(f"record_delimiter_{name}", whole(table, newline))
    for name, delimiter in (("0x20", " "), ("0x2C_0x20", ", "), ("0x3B", ";"), ("0x9", "\t"), ("two", "||")):
        yield one(f"field_delimiter_{name}", whole(table, delimiter=delimiter), given={"delimiter": delimiter})
    yield one("quotation_char_0x27", whole(table, quote="'"), given={"quote": "'", "escape": "'"})
    yield one("escape_char_0x5C", whole(table, escape="\\"), given={"escape": "\\"})
    unescaped = tuple(at for at, cells in enumerate(data) if any('"' in cell for cell in cells))
    yield one("escape_char_0x00", whole(table, escape=""), lost=unescaped, given={"escape": None})


def places(lines: tuple[int, ...]) -> Iterator[Polluted]:
    """Pollutions of one place: in each of these lines (0: the header), in each column."""
    data = rows()
    table = [HEADER, *data]
    texts = [line(cells) for cells in table]

    def put(at: int, name: str, text: str) -> Polluted:
        changed = [*texts[:at], text, *texts[at + 1 :]]
        lost = (at - 1,) if at else ()
        return Polluted(
            name, "".join(f"{one}\r\n" for one in changed).encode(), data, None if not at else HEADER, lost, KNOWN
        )

    for at in lines:
        fields = [quoted(cell) for cell in table[at]]
        for column in range(len(HEADER)):
            yield put(at, f"more_sep_row{at}_col{column}", ",".join([*fields[:column], "", *fields[column:]])
                      if column else "," + ",".join(fields))  # fmt: skip
            if column:
                joined = [*fields[: column - 1], fields[column - 1] + fields[column], *fields[column + 1 :]]
                yield put(at, f"less_sep_row{at}_col{column}", ",".join(joined))
            stray = [*fields]
            stray[column] = '""' + stray[column][1:]
            yield put(at, f"extra_quote_row{at}_col{column}", ",".join(stray))
        yield put(at, f"field_delimiter_row{at}_0x20", " ".join(fields))
