"""Where the table of a CSV file starts, whether it has a header, and the names of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.csv_dialect import CsvOptions
from airflow_provider_ingest.formats.csv_exact import NEWLINE, Grammar
from airflow_provider_ingest.formats.csv_ragged import EXTRA
from airflow_provider_ingest.formats.csv_recover import meant_cells
from airflow_provider_ingest.formats.csv_sniff import SampleRecord, sample_records
from airflow_provider_ingest.formats.csv_types import is_value, is_year, kind_of, shape_of
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER

_RESERVED = (ROW_NUMBER, LINE_NUMBER, EXTRA)
_MAX_PREAMBLE = 50
_MAX_PAIRS = 20
_LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a table's start says.

    :param start: offset of the first data record in the sample.
    :param line: its physical line.
    """

    columns: tuple[str, ...]
    start: int
    line: int
    has_header: bool
    skipped_lines: int
    warnings: tuple[str, ...] = ()


def find_layout(sample: bytes, rules: Grammar, options: CsvOptions) -> Layout:
    """Find preamble, header and first data record in the sample.

    :raises FormatError: there is no header where the options say it is.
    """
    skipped = options.skipped
    offset = _after_lines(sample, skipped)
    table = sample[offset:]
    records = list(sample_records(table, rules, line=skipped + 1))
    if not records:
        raise FormatError(
            f"The file holds nothing after its first {skipped} lines."
            if skipped
            else "The file holds empty lines only."
        )
    width = _width(records)
    first = 0
    if options.header_row is None and options.skip_rows is None:
        first = _preamble(records, width)
        if first and len(_cells(records[first - 1], table, rules, width)) == width and not _is_named(records[first]):
            first -= 1  # names with another delimiter than the rows
    has_header = _has_header(records[first:], width, options)
    while not has_header and first > 0 and len(records[first - 1].cells or ()) == width:
        first -= 1
    rows = min(options.header_rows or 1, len(records) - first) if has_header else 0
    warnings = []
    if first:
        before = records[first].line - 1
        what = "1 line" if before == 1 else f"{before} lines"
        warnings.append(f"{what} before the {'header' if has_header else 'table'} left out.")
    names = _join_names([_cells(record, table, rules, width) for record in records[first : first + rows]])
    repeats = (
        _repeats(records[first : first + rows], records[first + rows :]) if rows and not options.header_rows else 0
    )
    if repeats:
        what = "1 line that repeats" if repeats == 1 else f"{repeats} lines that repeat"
        warnings.append(f"{what} the header left out.")
    body = [record.cells for record in records[first + rows + repeats :] if record.cells is not None]
    names = _trimmed(names, body, width) if has_header else [""] * width
    if options.column_names:
        names = list(options.column_names)
    elif has_header and _is_too_short(names, body, width):
        warnings.append(_too_short(len(names), width))
        names = [""] * (width - len(names)) + names if _is_counted(body) else names + [""] * (width - len(names))
    columns, renamed = unique_names(names)
    last = records[first + rows + repeats - 1] if rows else None
    return Layout(
        columns=columns,
        start=offset + (last.end if last else records[first].start),
        line=last.line + len(NEWLINE.findall(sample, offset + last.start, offset + last.end))
        if last
        else records[first].line,
        has_header=has_header,
        skipped_lines=records[first].line - 1,
        warnings=(*warnings, *renamed),
    )


def unique_names(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Column names made unique, and a sentence for each that was changed.

    >>> unique_names(["a", "a", ""])[0]
    ('a', 'a_2', 'column_3')
    """
    taken: set[str] = set(_RESERVED)
    given = {name.strip() for name in names}
    repeats: dict[str, int] = {}
    result: list[str] = []
    warnings: list[str] = []
    for place, raw in enumerate(names, 1):
        name = wanted = raw.strip().removeprefix("\ufeff") or f"column_{place}"
        number = repeats.get(wanted, 2)
        while name in taken or (name != wanted and name in given):
            name, number = f"{wanted}_{number}", number + 1
        repeats[wanted] = number
        if name != wanted:
            why = "is reserved" if wanted in _RESERVED else "is there before"
            warnings.append(f"The header name {wanted!r} of column {place} {why}: the column is called {name!r}.")
        taken.add(name)
        result.append(name)
    return tuple(result), tuple(warnings)


def _after_lines(sample: bytes, number: int) -> int:
    position = 0
    for _ in range(number):
        newline = NEWLINE.search(sample, position)
        if newline is None:
            raise FormatError(f"The file has fewer than {number + 1} lines: look at skip_rows and header_row.")
        position = newline.end()
    return position


def _width(records: Sequence[SampleRecord]) -> int:
    """Number of columns: of the first table if it is long enough to be one, else the most frequent."""
    widths = [len(record.cells) for record in records if record.cells is not None and not _is_sparse(record)]
    if not widths:
        return max((len(record.cells) for record in records if record.cells), default=1)
    run = next((place for place, width in enumerate(widths) if width != widths[0]), len(widths))
    if widths[0] == 2 and run <= _MAX_PAIRS and widths.count(most := _most_frequent(widths)) >= 2 * run and most > 2:
        return most  # names and values above a table
    if widths[0] > 1 and (run >= 5 or run * 5 >= len(widths) > 2):
        return widths[0] if run > 1 else _most_frequent(widths)
    return _most_frequent(widths)


def _most_frequent(widths: Sequence[int]) -> int:
    return max(Counter(widths).items(), key=lambda item: (item[1], item[0]))[0]


def _is_sparse(record: SampleRecord) -> bool:
    """Whether hardly a cell is filled, as in a title above a table."""
    cells = record.cells or []
    return len(cells) > 2 and sum(bool(cell.strip()) for cell in cells) <= 1


def _preamble(records: Sequence[SampleRecord], width: int) -> int:
    """Number of records before the table."""
    if width == 1:
        return 0
    for place, record in enumerate(records[:_MAX_PREAMBLE]):
        cells = record.cells
        if cells is None:
            if place == 0 and len(records) > 1:
                return 0
            continue
        if _is_sparse(record):
            continue
        if len(cells) == width:
            return place
        if len(cells) * 2 > width and len(cells) > 1 and _is_named(record) and not _is_apart(records[place:], width):
            return place
    return 0


def _is_apart(records: Sequence[SampleRecord], width: int) -> bool:
    """Whether an empty line stands between the first record and those that are as wide as the table."""
    for record, following in pairwise(records):
        if following.start > record.end:
            return True
        if following.cells is not None and len(following.cells) == width:
            return False
    return False


def _is_named(record: SampleRecord) -> bool:
    return not any(is_value(kind_of(text)) for text in record.texts())


def _has_header(records: Sequence[SampleRecord], width: int, options: CsvOptions) -> bool:
    """Whether the first record names the columns: its cells are no values where those below are."""
    if options.has_header is not None:
        return options.has_header
    first = records[0].texts()
    if options.column_names:
        given = [name.strip().casefold() for name in options.column_names]
        return [text.strip().casefold() for text in first] == given
    if options.header_row or options.header_rows or not first:
        return True
    body = [record.texts() for record in records[1:_LOOKED_AT] if record.cells and len(record.cells) == width]
    if not body:
        return not any(is_value(kind_of(text)) for text in first)
    votes = sum(
        _vote(text, [row[place] for row in body if row[place].strip()]) for place, text in enumerate(first[:width])
    )
    return votes >= 0 if votes or _is_named(records[0]) else False


def _vote(text: str, below: Sequence[str]) -> int:
    """What a column says about the cell above it: 1 it is a name, -1 it is a value like the others, 0 nothing."""
    if not below:
        return 0
    kind, number = Counter(kind_of(cell) for cell in below).most_common(1)[0]
    if number * 5 < len(below) * 4:
        return 0
    own = kind_of(text)
    if is_value(kind):
        if own in ("words", "other") or (is_year(text) and not all(is_year(cell) for cell in below)):
            return 1
        return -1 if own == kind else 0
    shape, number = Counter(shape_of(cell) for cell in below).most_common(1)[0]
    if not shape or number * 5 < len(below) * 4:
        return 0
    return -1 if shape_of(text) == shape else 1


def _cells(record: SampleRecord, text: bytes, rules: Grammar, width: int) -> list[str]:
    """The cells of a header record; one with stray quotes or another delimiter is recovered as well as it can be."""
    cells = record.cells
    if cells is None or len(cells) < width:
        meant = meant_cells(rules, text[record.start : record.stop], width)
        cells = meant if cells is None or len(meant) == width else cells
    names = [cell.decode(errors="replace") for cell in cells]
    if len(names) == 1 and len(words := names[0].split()) == width:
        return words
    is_quoted = all(len(name) > 2 and name[0] == name[-1] == "'" for name in names)
    return [name[1:-1] for name in names] if is_quoted else names


def _repeats(header: Sequence[SampleRecord], following: Sequence[SampleRecord]) -> int:
    """How many records behind the header say the same again."""
    cells = header[-1].cells
    number = 0
    while cells and len(cells) > 1 and number < len(following) and following[number].cells == cells:
        number += 1
    return number


def _join_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """The names of a header of several rows, joined by blanks."""
    width = max((len(row) for row in rows), default=0)
    return [
        " ".join(part for row in rows if place < len(row) and (part := row[place].strip())) for place in range(width)
    ]


def _trimmed(names: list[str], body: Sequence[Sequence[bytes]], width: int) -> list[str]:
    """The names without those that are empty where they are too many, or with one more, where only a delimiter at the
    line's end makes the difference.
    """
    whole = [row for row in body if len(row) == width]
    named = [name for name in names if name.strip()]
    if len(names) > width == len(named) and whole:
        return named
    if len(names) == width + 1 and not names[-1].strip() and whole:
        return names[:-1]
    if len(names) == width - 1 and whole and not any(row[-1].strip() for row in whole):
        return [*names, ""]
    return names


def _is_too_short(names: Sequence[str], body: Sequence[Sequence[bytes]], width: int) -> bool:
    """Whether all rows have more fields than the header has names; a single row may as well be the one in error."""
    widths = Counter(len(row) for row in body)
    return len(names) < width and widths[width] > 1 and not widths[len(names)]


def _is_counted(body: Sequence[Sequence[bytes]]) -> bool:
    """Whether the first fields are the numbers of the rows: that column goes without a name in some programs' files."""
    first = [row[0] for row in body if row]
    return any(first == [b"%d" % number for number in range(start, start + len(first))] for start in (0, 1))


def _too_short(names: int, width: int) -> str:
    more = "1 more column" if width - names == 1 else f"{width - names} more columns"
    return f"The header has {names} names, the rows have {width} fields: {more} without a name."
