"""The grammar of a CSV record, exactly: what a good field is, and what can be made of a bad record.

Two statements of one grammar exist: the vectorised scan of :mod:`.csv_index` with PyArrow behind it, and the
regular expressions here. They agree on every record (property tests); these also say where a broken record
ends and which cells can be recovered from it.

* A field that starts with the quote ends at a quote before a delimiter, a newline or the end of the file. Inside, a
  doubled quote is a quote. Anything else after a quote breaks the record.
* In any other field a quote is text, as it is for Python's ``csv``, PyArrow and DuckDB.
* A line ends with LF, CRLF or CR.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from airflow_provider_ingest.formats.csv_dialect import DELIMITERS, Dialect

MAX_RECORD = 16 << 20
"""Bytes of the longest record that is read; a longer one is malformed."""

MAX_LINE = 64 << 20
"""Bytes after which a line that does not end refuses the file: nothing behind it could be trusted to be a row."""

LOOKAHEAD_LINES = 8
LOOKAHEAD_BYTES = 64 << 10
"""How far beyond its line the end of a broken record is looked for."""

NEWLINE = re.compile(rb"\r\n|\n|\r")

STRAY_QUOTE = "text after a closing quote"
OPEN_QUOTE = "a quote is not closed"
TOO_LONG = f"longer than {MAX_RECORD >> 20} MiB"
NOT_UTF8 = "not valid UTF-8"
HAS_NUL = "contains a NUL byte"

_MAX_STEPS = 500
_MAX_CLOSINGS = 24
_MAX_RECOVERED = 256 << 10
"""Bytes of the longest broken record whose cells are looked for: each step of that may scan all of it."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The compiled expressions of a dialect."""

    dialect: Dialect
    delimiter: bytes
    quote: bytes
    escape: bytes
    field: re.Pattern[bytes]
    """One good field, up to a delimiter, a newline or the end."""
    fields: re.Pattern[bytes]
    """As many good fields as follow each other."""
    opened: re.Pattern[bytes]
    """A quoted field as far as it goes without its closing quote."""
    plain: re.Pattern[bytes]
    """The text up to the next delimiter or newline."""
    closing: re.Pattern[bytes]
    """A quote that may close a field."""
    marks: re.Pattern[bytes]
    """What makes a record more than fields between delimiters: a quote, an escape, a newline."""

    def cells(self, record: bytes) -> list[bytes] | None:
        """The cells of a record without its newline, or ``None`` if it is broken."""
        texts = self.texts(record)
        return None if texts is None else [self.value(text) for text in texts]

    def texts(self, record: bytes) -> list[bytes] | None:
        """The fields of a record as they are written, quotes included, or ``None`` if it is broken."""
        if not self.marks.search(record):
            return record.split(self.delimiter)
        texts: list[bytes] = []
        position, size = 0, len(record)
        while True:
            match = self.field.match(record, position)
            if match is None:
                return None
            texts.append(match.group())
            position = match.end()
            if position == size:
                return texts
            if not record.startswith(self.delimiter, position):
                return None
            position += len(self.delimiter)

    def value(self, text: bytes) -> bytes:
        """The value that a good field's text stands for."""
        if self.quote and text.startswith(self.quote):
            text = text[1:-1].replace(self.quote * 2, self.quote) if not self.escape else self._unescaped(text[1:-1])
        elif self.escape and self.escape in text:
            text = self._unescaped(text, doubling=False)
        return text

    def _unescaped(self, text: bytes, doubling: bool = True) -> bytes:
        """Escapes dissolved: before quote, escape, delimiter or newline; elsewhere the character is text."""
        first = re.escape(self.delimiter[:1])
        quote = re.escape(self.quote)
        pattern = re.escape(self.escape) + b"([" + quote + re.escape(self.escape) + first + b"\r\n])"
        if doubling and quote:
            pattern += b"|(" + quote + b")" + quote
        return re.sub(pattern, lambda found: found.group(found.lastindex or 0), text)


@lru_cache(maxsize=64)
def grammar(dialect: Dialect) -> Grammar:
    """The grammar of a dialect, compiled once."""
    delimiter, quote, escape = dialect.delimiter.encode(), dialect.quote.encode(), dialect.escape.encode()
    d, q, e = re.escape(delimiter), re.escape(quote), re.escape(escape)
    end = b"(?=" + d + rb"|[\r\n]|\Z)"
    inner = b"[^" + q + e + b"]*+"
    pairs = q + q + (b"|" + e + b"." if escape else b"")
    opened = q + inner + b"(?:(?:" + pairs + b")" + inner + b")*+" if quote else b"(?!)"
    stop = b"[^" + e + (d if len(delimiter) == 1 else b"") + rb"\r\n]"
    text = b"(?:" + (b"" if len(delimiter) == 1 else b"(?!" + d + b")") + stop + b")*+"
    if escape:
        text = b"(?:" + text + e + b".)*+" + text
    plain = (b"(?!" + q + b")" if quote else b"") + text
    field = b"(?:" + (opened + q + end + b"|" if quote else b"") + plain + end + b")"
    return Grammar(
        dialect,
        delimiter,
        quote,
        escape,
        re.compile(field, re.DOTALL),
        re.compile(field + b"(?:" + d + field + b")*+", re.DOTALL),
        re.compile(opened, re.DOTALL),
        re.compile(text, re.DOTALL),
        re.compile(q + end if quote else b"(?!)", re.DOTALL),
        re.compile(rb"[\r\n" + q + e + b"]"),
    )


def recover(rules: Grammar, record: bytes, width: int) -> tuple[list[bytes], bool]:
    """The most plausible cells of a broken record, and whether there are exactly ``width`` of them.

    Every field that starts with a quote is taken as written if it is good; else as one with stray quotes inside,
    closed at one of the next quotes before a delimiter; else as text that happens to start with a quote. The first
    combination, in that order of preference, with the right number of cells wins.
    """
    size = len(record)
    if size > _MAX_RECOVERED:
        return record.split(rules.delimiter), False
    failed: set[tuple[int, int]] = set()
    steps = 0

    def readings(position: int) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        good = rules.field.match(record, position)
        if good is not None:
            found.append((good.end(), rules.value(good.group())))
        if rules.quote and record.startswith(rules.quote, position):
            for closing in rules.closing.finditer(record, position + 1):
                if len(found) >= _MAX_CLOSINGS:
                    break
                found.append((closing.end(), rules.value(record[position : closing.end()])))
            literal = rules.plain.match(record, position)
            if literal is not None:
                found.append((literal.end(), literal.group()))
        return found

    # A depth-first walk without recursion: records may have thousands of fields.
    first = readings(0)
    longest: list[bytes] = []
    path: list[bytes] = []
    stack: list[tuple[int, list[tuple[int, bytes]]]] = [(0, first)]
    while stack and steps < _MAX_STEPS + width:
        steps += 1
        position, options = stack[-1]
        if not options:
            failed.add((position, len(stack)))
            stack.pop()
            if path:
                path.pop()
            continue
        end, value = options.pop(0)
        path.append(value)
        if end == size:
            if len(path) == width:
                return path, True
            if not longest:
                longest = list(path)
        elif record.startswith(rules.delimiter, end) and (len(path) < width or not longest):
            following = end + len(rules.delimiter)
            if (following, len(stack) + 1) not in failed:
                stack.append((following, readings(following)))
                continue
        path.pop()
    return longest or record.split(rules.delimiter), False


def in_other_dialect(rules: Grammar, record: bytes, width: int) -> list[bytes] | None:
    """The cells of a record that is written with another delimiter than its file, if there are exactly ``width``."""
    if width > 1 and len(record) <= _MAX_RECOVERED:
        for mark, others in _other_dialects(rules.dialect):
            cells = others.cells(record) if mark in record else None
            if cells is not None and len(cells) == width:
                return cells
    return None


@lru_cache(maxsize=16)
def _other_dialects(dialect: Dialect) -> list[tuple[bytes, Grammar]]:
    """The same dialect with other delimiters, and what a record must hold for each.

    Blanks count between quotes only: any sentence has them.
    """
    found = []
    for delimiter in DELIMITERS:
        if delimiter != dialect.delimiter and not (dialect.quote and dialect.quote in delimiter):
            mark = f"{dialect.quote} {dialect.quote}" if delimiter == " " else delimiter
            if mark.strip(" "):
                found.append((mark.encode(), grammar(replace(dialect, delimiter=delimiter))))
    return found


def broken_end(rules: Grammar, data: bytes, start: int, fault: int, limit: int, width: int, is_last: bool) -> int:
    """Where a broken record ends, after its newline: as a rule with the physical line in which its bad field starts.

    Only if the lines that follow are no good rows by themselves, and complete the record to ``width`` cells, do they
    belong to it. So a quote that nobody closes costs one line, and never the rest of the file.

    :param fault: where the bad field starts.
    :param limit: end of what may be looked at.
    :param is_last: whether the file ends at ``limit``.
    :returns: -1 if the line does not end before ``limit``.
    """
    newline = NEWLINE.search(data, fault, limit)
    if newline is None:
        return limit if is_last else -1
    end = newline.end()
    if recover(rules, data[start : newline.start()], width)[1]:
        return end
    reach = min(limit, end + LOOKAHEAD_BYTES)
    following = rules.fields.match(data, end, reach)
    if following is not None and following.end() > end and NEWLINE.match(data, following.end(), reach):
        # Only here may a record be looked at: it is in the same chunk as the broken one, or in the reader's next.
        cells = rules.cells(data[end : following.end()])
        if cells is not None and len(cells) == width:
            return end
    position = end
    for _ in range(LOOKAHEAD_LINES):
        newline = NEWLINE.search(data, position, reach)
        if newline is None and not (is_last and reach == limit):
            break
        stop, after = newline.span() if newline else (reach, reach)
        line = rules.cells(data[position:stop])
        if stop == after == position or (line is not None and len(line) == width):
            break
        if rules.closing.search(data, position, stop) and recover(rules, data[start:stop], width)[1]:
            return after
        position = after
    return end
