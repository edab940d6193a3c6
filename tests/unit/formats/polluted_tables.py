"""Clean tables to be polluted: text with quotes, numbers and dates, fields of several lines, few columns and many."""

from __future__ import annotations

from dataclasses import dataclass

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
_PEOPLE = (
    ("Ada Lindqvist", 'Said: "I\'ll be back", and was.'),
    ("José Ångström", "12, rue de l'Église\nF-75005 Paris"),
    ("Mary-Ann O'Neill", ""),
    ("Bob Ray", "Likes; semicolons | pipes"),
    ("Zoë Ümit", 'one "quoted" word, and a comma'),
)
_EVENTS = ("started", "connection lost", "retry in 5 s", "user logged in", "disk 91% full")


@dataclass(frozen=True, slots=True)
class Clean:
    """A table as it was meant.

    :param quotes_all: whether every field is quoted, not only those that need it.
    """

    name: str
    header: list[str]
    rows: list[list[str]]
    quotes_all: bool = False

    def __str__(self) -> str:
        return self.name

    def field(self, cell: str, delimiter: str = ",", quote: str = '"', escape: str | None = None) -> str:
        """A field as the file has it."""
        if not self.quotes_all and not any(mark in cell for mark in (delimiter, quote, "\n")):
            return cell
        return quote + cell.replace(quote, (quote if escape is None else escape) + quote) + quote

    def fields(self, cells: list[str], delimiter: str = ",", quote: str = '"', escape: str | None = None) -> list[str]:
        """The fields of a record."""
        return [self.field(cell, delimiter, quote, escape) for cell in cells]

    def line(self, cells: list[str], delimiter: str = ",", quote: str = '"', escape: str | None = None) -> str:
        """A record without its newline."""
        return delimiter.join(self.fields(cells, delimiter, quote, escape))

    def text(
        self,
        rows: list[list[str]] | None = None,
        newline: str = "\r\n",
        delimiter: str = ",",
        quote: str = '"',
        escape: str | None = None,
    ) -> str:
        """A file: of the header and all rows, if none are given."""
        lines = [self.header, *self.rows] if rows is None else rows
        return "".join(self.line(cells, delimiter, quote, escape) + newline for cells in lines)


def products(number: int = 83) -> Clean:
    """Nine columns of everything, every field quoted, the last column empty."""
    header = ["DATE", "TIME", "Qty", "PRODUCTID", "Price", "ProductType", "ProductDescription", "URL", "Comments"]
    rows = [
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
    return Clean("products", header, rows, quotes_all=True)


def readings() -> Clean:
    """Dates and numbers, nothing quoted."""
    rows = [
        [f"2024-{at % 12 + 1:02}-{at % 28 + 1:02}", f"S{at % 7}", f"{at * 37 % 900 / 10 - 20:.1f}", str(at * 11 % 101),
         "" if at % 6 == 5 else f"{at * 0.013:.4f}", str(at % 2 == 0).lower()]
        for at in range(50)
    ]  # fmt: skip
    return Clean("readings", ["day", "station", "celsius", "humidity", "rain", "checked"], rows)


def people() -> Clean:
    """Names and notes with quotes, apostrophes, delimiters and lines in them; quoted where needed."""
    rows = [
        [str(1000 + at), *_PEOPLE[at % len(_PEOPLE)], f"person{at}@example.org", f"19{at % 90 + 10}-0{at % 9 + 1}-17"]
        for at in range(30)
    ]
    return Clean("people", ["id", "name", "note", "e-mail", "born"], rows)


def pairs() -> Clean:
    """Two columns."""
    rows = [[f"{'ABCDEFG'[at % 7]}{at:04}", f"label {at * 31 % 97}"] for at in range(200)]
    return Clean("pairs", ["code", "label"], rows)


def matrix() -> Clean:
    """Forty columns of numbers, few rows, every field quoted."""
    rows = [[str(at * 41 + column * 7 % 13) for column in range(40)] for at in range(12)]
    return Clean("matrix", [f"m{column}" for column in range(40)], rows, quotes_all=True)


def journal() -> Clean:
    """A log: times and messages, longer than a sample's records."""
    rows = [
        [
            f"2024-03-0{at % 9 + 1} 1{at % 10}:{at % 60:02}:07",
            str(at % 13),
            _EVENTS[at % 5],
            f"node{at % 3}.example.com",
        ]
        for at in range(900)
    ]
    return Clean("journal", ["when", "thread", "what", "host"], rows)


TABLES = (products(), readings(), people(), pairs(), matrix(), journal())
