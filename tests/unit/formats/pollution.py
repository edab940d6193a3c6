"""Clean tables polluted in the ways of the Pollock benchmark (Vitagliano et al., VLDB 2023), and in some more.

The kinds are that benchmark's, as is what is expected of each: the table as it was before. Everything is generated.
A pollution touches the whole file, or one place in one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.unit.formats.polluted_tables import Clean

DELIMITERS = (" ", ", ", ";", "\t", "|", ":", "\t\t", "||", "~", "^")
KNOWN = {"delimiter": ",", "quote": '"', "escape": '"', "header_row": 1}


@dataclass(frozen=True, slots=True)
class Polluted:
    """A file and what is expected of it.

    :param header: the names; ``None`` where the file has none.
    :param rows: the data rows as they were meant.
    :param broken: those of them, from 0, of which no reader can be certain.
    :param extra: further records in the file, that belong to another table.
    :param given: the options of someone who knows the file.
    """

    kind: str
    name: str
    data: bytes
    header: list[str] | None
    rows: list[list[str]]
    broken: frozenset[int] = frozenset()
    extra: int = 0
    given: dict[str, Any] = field(default_factory=dict)


def of_the_file(table: Clean) -> Iterator[Polluted]:
    """Pollutions of the whole file."""
    header, rows, clean = table.header, table.rows, table.text()

    def one(kind: str, text: str | bytes, name: str = "", **facts: Any) -> Polluted:
        given = {**KNOWN, **facts.pop("given", {})}
        data = text.encode() if isinstance(text, str) else text
        facts = {"header": header, "rows": rows, **facts}
        return Polluted(kind, name or kind, data, given=given, **facts)

    yield one("source", clean)
    yield one("no_trailing_newline", clean.removesuffix("\r\n"))
    yield one("double_trailing_newline", clean + "\r\n")
    yield one("header_only", table.text([header]), rows=[])
    yield one("one_data_row", table.text([header, rows[0]]), rows=rows[:1])
    no_header = {"header_row": None, "skip_rows": 0, "has_header": False}
    yield one("no_header", table.text(rows), header=None, given=no_header)
    for number in (2, 3):
        names = [" ".join([name] * number) for name in header]
        text = table.text([header] * number + rows)
        yield one("header_multirow", text, f"header_multirow_{number}", header=names, given={"header_rows": number})
    for name, above in _preambles(len(header)):
        lines = above.count("\n")
        yield one("preamble", above + clean, f"preamble_{name}", given={"header_row": lines + 1})
        yield one("preamble", above + clean, f"preamble_{name}_skipped",
                  given={"header_row": None, "skip_rows": lines, "has_header": True})  # fmt: skip
    for delimiter in DELIMITERS:
        if delimiter != ":" or table.quotes_all:  # times hold colons
            yield one("field_delimiter", table.text(delimiter=delimiter), f"field_delimiter_{delimiter!r}",
                      given={"delimiter": delimiter})  # fmt: skip
    yield one("record_delimiter", table.text(newline="\n"), "record_delimiter_LF")
    yield one("record_delimiter", table.text(newline="\r"), "record_delimiter_CR")
    yield one("quotation_char", table.text(quote="'"), given={"quote": "'", "escape": "'"})
    yield one("escape_char", table.text(escape="\\"), "escape_char_backslash", given={"escape": "\\"})
    for encoding in ("utf-8-sig", "utf-16", "latin-1", "cp1252"):
        data = clean.encode(encoding, "replace")
        if data.decode(encoding) == clean:
            yield one("encoding", data, f"encoding_{encoding}", given={"encoding": encoding})
    yield from _unescaped(table, one)
    yield from _two_tables(table, one)


def _preambles(width: int) -> Iterator[tuple[str, str]]:
    commas = "," * (width - 1)
    if width > 2:
        yield "delimited", f"PREAMBLE{commas}\r\n{commas}\r\n"
        yield "delimited_quoted", f'"PREAMBLE"{commas}\r\n'
        yield "plain", "Report of the third quarter\r\n"
        yield "plain_empty_line", "Report of the third quarter\r\n\r\n"


def _unescaped(table: Clean, one: Any) -> Iterator[Polluted]:
    """Quotes in a quoted text that nothing marks as such."""
    marked = frozenset(at for at, cells in enumerate(table.rows) if any('"' in cell for cell in cells))
    if all("\n" not in cell for cells in table.rows for cell in cells):
        yield one("escape_char", table.text(escape=""), "escape_char_none", broken=marked)
    if table.quotes_all:
        marked = frozenset(at for at, cells in enumerate(table.rows) if any("'" in cell for cell in cells))
        doubled = [[cell.replace('"', '""') for cell in cells] for cells in [table.header, *table.rows]]
        text = table.text(doubled, quote="'", escape="")
        given = {"quote": "'", "escape": '"'}
        yield one("quotation_char", text, "quotation_char_unescaped", broken=marked, given=given)


def _two_tables(table: Clean, one: Any) -> Iterator[Polluted]:
    """Another table below, without anything between: the rows of the first one are expected."""
    header, rows = table.header, table.rows
    for name, width in (("less", len(header) - 1), ("same", len(header)), ("more", len(header) + 1)):
        if width < 2:
            continue
        second = [[*cells, "more"][:width] for cells in [header, *rows[:-1]]]
        text = table.text() + "".join(",".join(_bare(cell) for cell in cells) + "\r\n" for cells in second)
        yield one("multitable", text, f"multitable_{name}", extra=len(second))


def _bare(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n') else cell


def of_a_row(table: Clean, at: int, columns: Sequence[int]) -> Iterator[Polluted]:
    """Pollutions of the record ``at``, from 0 for the header, each in each of these columns."""
    records = [table.header, *table.rows]
    fields, texts = table.fields(records[at]), [table.line(cells) for cells in records]
    broken = frozenset({at - 1}) if at else frozenset()

    def put(kind: str, name: str, text: str, newline: str = "\r\n", meant: list[str] | None = None) -> Polluted:
        ends = [newline if place == at else "\r\n" for place in range(len(texts))]
        lines = [text if place == at else line for place, line in enumerate(texts)]
        data = "".join(line + end for line, end in zip(lines, ends, strict=True)).encode()
        expected = [meant or cells if place == at else cells for place, cells in enumerate(records)]
        lost = broken if kind != "row_record_delimiter" else frozenset()
        return Polluted(kind, f"{kind}_row{at}_{name}", data, expected[0], expected[1:], lost, given=KNOWN)

    for column in columns:
        yield put("row_more_sep", f"col{column}", ",".join([*fields[:column], "", *fields[column:]]))
        if column:
            joined = [*fields[: column - 1], fields[column - 1] + fields[column], *fields[column + 1 :]]
            yield put("row_less_sep", f"col{column}", ",".join(joined))
        meant = [*records[at]]
        meant[column] = '"' + meant[column]
        stray = [*fields]
        stray[column] = f'"{stray[column]}' if fields[column][:1] != '"' else f'""{stray[column][1:]}'
        yield put("row_extra_quote", f"col{column}", ",".join(stray), meant=meant)
    yield put("row_field_delimiter", "blank", " ".join(fields))
    yield put("row_field_delimiter", "semicolon", ";".join(fields))
    for name, newline in (("LF", "\n"), ("CR", "\r")):
        yield put("row_record_delimiter", name, texts[at], newline)
    yield put("row_quotation_char", "apostrophe", table.line(records[at], quote="'"))
    yield put("row_escape_char", "backslash", table.line(records[at], escape="\\"))
    if at and len(fields) > 2:
        yield put("row_n_fields", "less", ",".join(fields[:-2]), meant=records[at][:-2])
        yield put("row_n_fields", "more", ",".join([*fields, "x", "y"]), meant=[*records[at], "x", "y"])
        yield put("row_nul", "inside", texts[at].replace(fields[0], fields[0][:-1] + "\0" + fields[0][-1:], 1),
                  meant=[records[at][0] + "\0", *records[at][1:]])  # fmt: skip
