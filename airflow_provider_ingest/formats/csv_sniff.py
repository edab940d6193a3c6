"""The dialect of a CSV file, found from a sample.

Every delimiter that occurs is tried with every quote; what reads the sample as the most even table of cells that look
like values wins. After "Wrangling Messy CSV Files by Detecting Row and Type Patterns" (van den Burg et al., 2019),
with fewer types and a price on broken quotes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from airflow_provider_ingest.formats.csv_dialect import DELIMITERS, CsvOptions, Dialect
from airflow_provider_ingest.formats.csv_exact import NEWLINE, Grammar, grammar
from airflow_provider_ingest.formats.csv_recover import recover
from airflow_provider_ingest.formats.csv_types import is_value, kind_of

UNUSED_DELIMITER = "\x1f"
"""Delimiter of a table of one column whose text holds commas."""

_MAX_RECORDS = 300
_MAX_BYTES = 128 << 10
_MAX_CELLS = 64
_LEAST_SCORE = 0.1
_UNEVEN_START = 0.6
_UNUSUAL = re.compile(r"[|~@#<>:;,^&!*¦§¬·]{2,4}|[#&!¦§¬\x02-\x08\x0b\x0c\x0e-\x1e]")
"""What else may be a delimiter, if each line has as many of it: two to four marks in a row, or one of a few."""
_RARE = "/$_%+=*\\"
"""What is in texts so often that only names above values make a delimiter of it."""
_UNUSUAL_PRICE = 0.8
_BLANK_PRICE = 0.9
_UNUSUAL_QUOTES = "`|~^*$%#"
_LINES_LOOKED_AT = 40
_NAME = re.compile(r"[^\W\d]\w*(?:[ .-]\w+){0,3}")
_LEAST_NAMES = 3
_SURE = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """A record of the sample, before its newline (``stop``) and after it (``end``); ``cells`` is ``None`` if it is
    broken.
    """

    start: int
    stop: int
    end: int
    line: int
    cells: list[bytes] | None

    def texts(self) -> list[str]:
        """The cells as text."""
        return [cell.decode(errors="replace") for cell in self.cells or ()]


def sample_records(sample: bytes, rules: Grammar, most: int = _MAX_RECORDS, *, line: int = 1) -> Iterator[SampleRecord]:
    """The records of a sample, without empty lines; broken ones end with their line."""
    position, found = 0, 0
    while position < len(sample) and found < most:
        match = rules.fields.match(sample, position)
        stop = match.end() if match else position
        newline = NEWLINE.match(sample, stop)
        is_good = match is not None and (newline is not None or stop == len(sample))
        if not is_good:
            newline = NEWLINE.search(sample, stop)
            stop = newline.start() if newline else len(sample)
        end = newline.end() if newline else len(sample)
        if stop > position:
            cells = rules.cells(sample[position:stop]) if is_good else None
            yield SampleRecord(position, stop, end, line, cells)
            found += 1
        is_one_line = sample.find(b"\n", position, stop) < 0 and sample.find(b"\r", position, stop) < 0
        line += 1 if is_one_line else len(NEWLINE.findall(sample, position, end))
        position = end


def find_dialect(sample: bytes, options: CsvOptions) -> Dialect:
    """The dialect that reads the sample best; what the options say is not questioned.

    :param sample: whole lines, UTF-8.
    """
    sample = sample[: sample.rfind(b"\n", 0, _MAX_BYTES) + 1 or _MAX_BYTES] if len(sample) > _MAX_BYTES else sample
    best, best_score = None, 0.0
    for delimiter in (options.delimiter,) if options.delimiter else _candidates(sample):
        for quote in _quotes(sample, delimiter, options):
            dialect = Dialect(delimiter=delimiter, quote=quote, escape=options.escape or "")
            if options.escape is None:
                dialect = _with_escape(sample, dialect)
            score = _score(sample, dialect)
            if best is None or score > best_score * 1.0001:
                best, best_score = dialect, score
    if best is None or (best_score < _LEAST_SCORE and not options.delimiter and not _is_below_names(sample, best)):
        return _single_column(sample, options)
    return best


def _candidates(sample: bytes) -> list[str]:
    common = [
        delimiter * 2 if _is_doubled(sample, delimiter) else delimiter
        for delimiter in DELIMITERS
        if delimiter.encode() in sample
    ]
    return [*common, *(delimiter for delimiter in _unusual(sample) if delimiter not in common)]


def _unusual(sample: bytes) -> list[str]:
    """Delimiters that hardly anyone uses, where nearly every line has equally many of them, and not just one."""
    lines = [line.decode(errors="replace") for line in sample.splitlines()[:_LINES_LOOKED_AT] if line.strip()]
    found = []
    for mark, number in Counter(mark for line in lines for mark in _UNUSUAL.findall(line)).most_common(3):
        times, even = Counter(line.count(mark) for line in lines).most_common(1)[0]
        if number >= len(lines) and times > 1 and even * 3 >= len(lines) * 2:
            found.append(mark)
    return found + [mark for mark in _RARE if _is_between_names_and_values(lines, mark)]


def _is_between_names_and_values(lines: list[str], mark: str) -> bool:
    """Whether each line has equally many of the mark, two at least, with no value in the first but values below."""
    rows = [line.split(mark) for line in lines]
    if len(rows) < 2 or len(rows[0]) < 3 or any(len(row) != len(rows[0]) or not row[0].strip() for row in rows):
        return False
    kinds = [[kind_of(cell) for cell in row] for row in rows]
    below = [any(is_value(row[place]) for row in kinds[1:]) for place in range(len(rows[0]))]
    return all(kind == "words" for kind in kinds[0]) and any(below)


def _is_below_names(sample: bytes, dialect: Dialect) -> bool:
    """Whether the first record is nothing but names, three or more, and each other one has several fields or is broken:
    a table, however uneven its rows are. Words of a sentence may look so between blanks and colons.
    """
    if dialect.delimiter not in _SURE:
        return False
    first, *others = sample_records(sample, grammar(dialect), _LINES_LOOKED_AT)
    names = first.texts()
    is_head = len(set(names)) == len(names) >= _LEAST_NAMES and all(map(_NAME.fullmatch, names))
    return is_head and bool(others) and all(record.cells is None or len(record.cells) > 1 for record in others)


def _is_doubled(sample: bytes, delimiter: str) -> bool:
    """Whether the delimiter always comes in pairs, most often in one pair alone."""
    if len(delimiter) > 1 or delimiter == " ":
        return False
    runs = Counter(map(len, re.findall(re.escape(delimiter.encode()) + b"+", sample)))
    return all(length % 2 == 0 for length in runs) and runs[2] * 2 > sum(runs.values())


def _quotes(sample: bytes, delimiter: str, options: CsvOptions) -> list[str]:
    """Quotes worth a try: the double one, the single one where it stands beside delimiters, none."""
    if options.quote is not None:
        return [options.quote]
    found = ['"']
    mark = delimiter.encode()
    if b"'" in sample and (sample.startswith(b"'") or mark + b"'" in sample or b"\n'" in sample):
        beside = sample.count(b"'" + mark) + sample.count(b"'\n") + sample.count(b"'\r")
        if beside >= 2:
            found.append("'")
    if b'"' not in sample:
        found += [
            quote for quote in _UNUSUAL_QUOTES if quote not in delimiter and _is_around_fields(sample, mark, quote)
        ]
    return found


def _is_around_fields(sample: bytes, mark: bytes, quote: str) -> bool:
    """Whether about as many fields start with it as end with it."""
    sign = quote.encode()
    opening = sample.count(mark + sign) + sample.count(b"\n" + sign)
    closing = sample.count(sign + mark) + sample.count(sign + b"\n") + sample.count(sign + b"\r")
    return min(opening, closing) > 2 and abs(opening - closing) <= 1 + opening // 10


def _with_escape(sample: bytes, dialect: Dialect) -> Dialect:
    """The dialect with a backslash before quotes, if that mends most of the broken records."""
    if dialect.quote == "'" and b'""' in sample and not re.search(rb'(?<!")"(?:"")*(?!")', sample):
        return replace(dialect, escape='"')  # quotes were doubled before they were replaced
    if not dialect.quote or b"\\" + dialect.quote.encode() not in sample:
        return dialect
    escaped = replace(dialect, escape="\\")
    return escaped if _broken(sample, escaped) * 2 < _broken(sample, dialect) else dialect


def _broken(sample: bytes, dialect: Dialect) -> int:
    return sum(record.cells is None for record in sample_records(sample, grammar(dialect)))


def _score(sample: bytes, dialect: Dialect) -> float:
    """From 0 to 1: evenness of the rows × share of cells that look like values × share of good records."""
    rules = grammar(dialect)
    records = list(sample_records(sample, rules))
    rows = [
        [text.decode(errors="replace") for text in rules.texts(sample[record.start : record.stop]) or ()]
        for record in records
        if record.cells is not None
    ]
    if not rows:
        return 0.0
    widths = Counter(map(len, rows))
    width, number = max(widths.items(), key=lambda item: (item[1], item[0]))
    if width == 1 or (dialect.delimiter == " " and width < 3 and not _is_quoted(rows, dialect.quote)):
        return 0.0
    even = (number / len(rows)) ** 2 * (width - 1) / width
    cells = [text for row in rows for text in row[:_MAX_CELLS]]
    known = sum(number for cell, number in Counter(cells).items() if _is_known(cell, dialect.quote)) / len(cells)
    mended = sum(
        recover(rules, sample[record.start : record.stop], width)[1] for record in records if record.cells is None
    )
    whole = (len(rows) + mended / 2) / len(records)
    price = 1.0 if len(rows[0]) == width else _UNEVEN_START if len(rows[0]) > 1 else _UNEVEN_START / 2
    if dialect.delimiter == ":" and (b"://" in sample or any(kind_of(line) == "time" for line in _words(sample))):
        price *= 0.3
    elif dialect.delimiter.isspace() and dialect.delimiter != "\t":
        price *= 0.7
    elif len(dialect.delimiter) > 1 and dialect.delimiter.strip() != dialect.delimiter:
        price *= 0.95
    elif all(cell.startswith(" ") for row in rows for cell in row[1:]):
        price *= _BLANK_PRICE  # the blank belongs to the delimiter
    elif dialect.delimiter[0] not in DELIMITERS:
        price *= _UNUSUAL_PRICE
    return even * (known**2) * whole**2 * price


def _is_known(text: str, quote: str) -> bool:
    """Whether a field as written looks whole: it is quoted, or of a kind."""
    return (quote != "" and text.startswith(quote)) or kind_of(text) != "other" or _is_prose(text)


def _is_quoted(rows: list[list[str]], quote: str) -> bool:
    """Whether every other row has a quoted field."""
    return quote != "" and sum(any(cell.startswith(quote) for cell in row) for row in rows) * 2 > len(rows)


def _words(sample: bytes) -> list[str]:
    return sample[:4096].decode(errors="replace").replace('"', " ").replace(",", " ").replace(";", " ").split()


def _is_prose(cell: str) -> bool:
    """Whether it is a sentence rather than cells that were not taken apart."""
    return len(cell) > 40 and cell.count(" ") * 12 >= len(cell) and not any(mark in cell for mark in ";|\t")


def _single_column(sample: bytes, options: CsvOptions) -> Dialect:
    quote = '"' if options.quote is None else options.quote
    has_comma = any(
        record.cells is None or len(record.cells) > 1
        for record in sample_records(sample, grammar(Dialect(quote=quote, escape=options.escape or "")))
    )
    return Dialect(delimiter=UNUSED_DELIMITER if has_comma else ",", quote=quote, escape=options.escape or "")
