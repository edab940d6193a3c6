"""What was most probably meant by a CSV record that is no row, and where a broken one ends.

Nothing here makes a good row of a bad one: the cells are for the people who look at it, and the end is for finding the
next record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from airflow_provider_ingest.formats.csv_dialect import DELIMITERS, Dialect
from airflow_provider_ingest.formats.csv_exact import NEWLINE, Grammar, grammar

LOOKAHEAD_LINES = 8
LOOKAHEAD_BYTES = 64 << 10
"""How far beyond its line the end of a broken record is looked for."""

_MAX_STEPS = 500
_MAX_CLOSINGS = 24
_MAX_RECOVERED = 256 << 10
"""Bytes of the longest broken record whose cells are looked for: each step of that may scan all of it."""
_MOST_SURPLUS = 1000
"""Cells that are told apart of such a record, beyond those it should have."""
_NO_START = b" .,;:!?)"
"""What no cell starts with where a delimiter was forgotten: there the text simply goes on behind a quote in it."""


def meant_cells(rules: Grammar, record: bytes, width: int) -> list[bytes]:
    """The cells that were most probably meant by a record that is no row, as many as there are."""
    texts = rules.texts(record)
    if texts is None:
        cells, is_whole = recover(rules, record, width)
        if is_whole:
            return cells
    else:
        texts = _without_surplus(rules, texts, width) or split_apart(rules, texts, width) or texts
        cells = [rules.value(text) for text in texts]
        if len(cells) == width:
            return cells
    return in_other_dialect(rules, record, width) or cells


def _without_surplus(rules: Grammar, texts: Sequence[bytes], width: int) -> list[bytes] | None:
    """The fields without those that one delimiter too many makes: empty, where all others are quoted."""
    filled = [text for text in texts if text]
    is_plain = rules.quote != b"" and len(texts) > width == len(filled)
    return filled if is_plain and all(text.startswith(rules.quote) for text in filled) else None


def split_apart(rules: Grammar, texts: Sequence[bytes], width: int) -> list[bytes] | None:
    """The fields with those taken apart between which a delimiter is missing, as in ``"a""b"``.

    ``None`` if that does not give ``width`` of them, or could be done in more than one way.
    """
    missing, quote = width - len(texts), rules.quote
    if missing < 1 or not quote or not all(text.startswith(quote) for text in texts):
        return None
    places = [(at, place) for at, text in enumerate(texts) for place in _seams(text, quote, rules.escape)]
    if len(places) > missing:  # "48""" more probably ends with a quote than with an empty cell
        places = [(at, place) for at, place in places if 2 < place < len(texts[at]) - 2]
    if len(places) != missing:
        return None
    found = list(texts)
    for at, place in reversed(places):
        found[at : at + 1] = [found[at][:place], found[at][place:]]
    return found


def _seams(text: bytes, quote: bytes, escape: bytes) -> list[int]:
    """Where a quoted field may be two: between doubled quotes with text, or nothing, on both sides."""
    found = []
    place = text.find(quote * 2, 1, len(text) - 1)
    while place > 0:
        if escape and text.startswith(escape, place - 1):
            place = text.find(quote * 2, place + 1, len(text) - 1)
            continue
        after = text[place + 2 : -1]
        goes_on = after.startswith(quote) or (after and after[:1] in _NO_START) or text.startswith(b" ", place - 1)
        if not goes_on:
            found.append(place + 1)
        place = text.find(quote * 2, place + 2, len(text) - 1)
    return found


def recover(rules: Grammar, record: bytes, width: int) -> tuple[list[bytes], bool]:
    """The most plausible cells of a broken record, and whether there are exactly ``width`` of them.

    Every field that starts with a quote is taken as written if it is good; else as one with stray quotes inside,
    closed at one of the next quotes before a delimiter; else as text that happens to start with a quote. One bad field
    alone is tried first; then the first combination, in that order of preference, with the right number of cells wins.
    """
    size, step = len(record), len(rules.delimiter)
    if size > _MAX_RECOVERED:
        return record.split(rules.delimiter, width + _MOST_SURPLUS), False
    is_possible = record.count(rules.delimiter) >= width - 1
    if is_possible and (cells := _with_one_bad_field(rules, record, width)) is not None:
        return cells, True
    failed: set[tuple[int, int]] = set()
    longest: list[tuple[int, int, bool]] = []
    path: list[tuple[int, int, bool]] = []
    # A depth-first walk without recursion: records may have thousands of fields.
    stack = [_readings(rules, record, 0)]
    starts = [0]
    steps = 0
    while stack and steps < _MAX_STEPS + width and (is_possible or not longest):
        steps += 1
        reading = next(stack[-1], None)
        if reading is None:
            failed.add((starts.pop(), len(stack)))
            stack.pop()
            if path:
                path.pop()
            continue
        end, is_literal = reading
        path.append((starts[-1], end, is_literal))
        if end == size:
            if len(path) == width:
                return _values(rules, record, path), True
            longest = longest or list(path)
        elif record.startswith(rules.delimiter, end) and (len(path) < width or not longest):
            following = end + step
            is_dead = longest and len(path) + 1 + record.count(rules.delimiter, following) < width
            if not is_dead and (following, len(stack) + 1) not in failed:
                stack.append(_readings(rules, record, following))
                starts.append(following)
                continue
        path.pop()
    return _values(rules, record, longest) if longest else record.split(rules.delimiter), False


def _with_one_bad_field(rules: Grammar, record: bytes, width: int) -> list[bytes] | None:
    """The cells of a record all of whose fields are good but one, if there are ``width`` of them."""
    good = rules.fields.match(record)
    before = rules.each.findall(record[: good.end()] + rules.delimiter) if good else []
    start = good.end() + len(rules.delimiter) if good else 0
    if not record.startswith(rules.delimiter, start - len(rules.delimiter)) and good:
        return None
    for end, is_literal in _readings(rules, record, start):
        after: list[bytes] | None = []
        if end < len(record):
            after = (
                rules.texts(record[end + len(rules.delimiter) :]) if record.startswith(rules.delimiter, end) else None
            )
        if after is not None and len(before) + 1 + len(after) == width:
            bad = record[start:end]
            return [*map(rules.value, before), bad if is_literal else rules.value(bad), *map(rules.value, after)]
    return None


def _values(rules: Grammar, record: bytes, path: Sequence[tuple[int, int, bool]]) -> list[bytes]:
    return [record[start:end] if is_literal else rules.value(record[start:end]) for start, end, is_literal in path]


def _readings(rules: Grammar, record: bytes, position: int) -> Iterator[tuple[int, bool]]:
    """Where the field that starts here may end, the most plausible first, and whether its quotes are text."""
    good = rules.field.match(record, position)
    if good is not None:
        yield good.end(), False
    if rules.quote and record.startswith(rules.quote, position):
        for number, closing in enumerate(rules.closing.finditer(record, position + 1)):
            if number >= _MAX_CLOSINGS:
                break
            if good is None or closing.end() != good.end():
                yield closing.end(), False
        literal = rules.plain.match(record, position)
        if literal is not None:
            yield literal.end(), True


def in_other_dialect(rules: Grammar, record: bytes, width: int) -> list[bytes] | None:
    """The cells of a record that is written with another delimiter or apostrophes, if there are exactly ``width``."""
    if width > 1 and len(record) <= _MAX_RECOVERED:
        for mark, others in _other_dialects(rules.dialect):
            cells = others.cells(record) if record.count(mark) >= width - 1 else None
            if cells is not None and len(cells) == width:
                return cells
    return None


def other_marks(dialect: Dialect) -> list[str]:
    """What stands between the fields of a record that may be written with another delimiter."""
    return [mark.decode() for mark, _ in _other_dialects(dialect)]


@lru_cache(maxsize=16)
def _other_dialects(dialect: Dialect) -> list[tuple[bytes, Grammar]]:
    """The same dialect with other delimiters, or apostrophes as its quotes, and what a record must hold for each.

    Blanks count between quotes only: any sentence has them. So has it the own delimiter with a blank behind it: in a
    record like ``91,Jan 3, 2024`` the plain one is no part of a cell.
    """
    found = []
    for delimiter in DELIMITERS:
        is_own = dialect.delimiter in (delimiter, delimiter.strip(" "))
        if not is_own and not (dialect.quote and dialect.quote in delimiter):
            mark = f"{dialect.quote} {dialect.quote}" if delimiter == " " else delimiter
            if mark.strip(" "):
                found.append((mark.encode(), grammar(replace(dialect, delimiter=delimiter))))
    if dialect.quote != "'":
        found.append((f"'{dialect.delimiter}'".encode(), grammar(replace(dialect, quote="'"))))
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
        texts = rules.texts(data[end : following.end()])
        if texts is not None and len(texts) == width:
            return end
    position = end
    for _ in range(LOOKAHEAD_LINES):
        newline = NEWLINE.search(data, position, reach)
        if newline is None and not (is_last and reach == limit):
            break
        stop, after = newline.span() if newline else (reach, reach)
        line = rules.texts(data[position:stop])
        if stop == after == position or (line is not None and len(line) == width):
            break
        if rules.closing.search(data, position, stop) and recover(rules, data[start:stop], width)[1]:
            return after
        position = after
    return end
