"""The grammar of a CSV record, exactly: what a good field is.

Two statements of one grammar exist: the vectorised scan of :mod:`.csv_index` with PyArrow behind it, and the
regular expressions here. They agree on every record (property tests); :mod:`.csv_recover` says with these where a
broken record ends and what was meant by it.

* A field that starts with the quote ends at a quote before a delimiter, a newline or the end of the file. Inside, a
  doubled quote is a quote. Anything else after a quote breaks the record.
* In any other field a quote is text, as it is for Python's ``csv``, PyArrow and DuckDB.
* A line ends with LF, CRLF or CR.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from airflow_provider_ingest.formats.csv_dialect import Dialect

MAX_RECORD = 16 << 20
"""Bytes of the longest record that is read; a longer one is malformed."""

MAX_LINE = 64 << 20
"""Bytes after which a line that does not end refuses the file: nothing behind it could be trusted to be a row."""

NEWLINE = re.compile(rb"\r\n|\n|\r")

STRAY_QUOTE = "text after a closing quote"
OPEN_QUOTE = "a quote is not closed"
TOO_LONG = f"longer than {MAX_RECORD >> 20} MiB"
NOT_UTF8 = "not valid UTF-8"
HAS_NUL = "contains a NUL byte"


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
    each: re.Pattern[bytes]
    """A good field and the delimiter behind it."""
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
        if not self.marks.search(record):
            return record.split(self.delimiter)
        texts = self.texts(record)
        return None if texts is None else [self.value(text) for text in texts]

    def texts(self, record: bytes) -> list[bytes] | None:
        """The fields of a record as they are written, quotes included, or ``None`` if it is broken."""
        if not self.marks.search(record):
            return record.split(self.delimiter)
        good = self.fields.match(record)
        return self.each.findall(record + self.delimiter) if good and good.end() == len(record) else None

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
        re.compile(b"(" + field + b")" + d, re.DOTALL),
        re.compile(opened, re.DOTALL),
        re.compile(text, re.DOTALL),
        re.compile(q + end if quote else b"(?!)", re.DOTALL),
        re.compile(rb"[\r\n" + q + e + b"]"),
    )
