"""From the syntax tree of Python's ``re`` to the regex dialect of Polars, where both find the same.

Only whether a match exists counts here, so greediness and groups do not. What a class such as ``[a-z]`` or a letter
under ``re.IGNORECASE`` matches is asked of ``re`` itself, code point by code point, so that both engines use one
Unicode table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]  # no public syntax tree
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any

from airflow_provider_ingest.runs.columns import pl

_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
_FIRST_SURROGATE, _SURROGATES, _LAST = 0xD800, 0x800, 0x10FFFF


class _Untranslatable(Exception):
    """The pattern has something that the other engine lacks or does otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """A pattern for Polars; with ``ascii_only`` it holds for ASCII values only."""

    pattern: str
    ascii_only: bool


def translate(compiled: re.Pattern[str]) -> Translated | None:
    """The same search for Polars' engine, or ``None`` where there is none."""
    try:
        translator = _Translator()
        pattern = translator.sequence(sre_parser.parse(compiled.pattern, compiled.flags), compiled.flags, is_last=True)
        pl.Series([""]).str.contains(pattern)
    except (_Untranslatable, pl.exceptions.ComputeError, RecursionError):
        return None
    return Translated(pattern=pattern, ascii_only=translator.ascii_only)


class _Translator:
    def __init__(self) -> None:
        self.ascii_only = False

    def sequence(self, nodes: Iterable[Any], flags: int, *, is_last: bool) -> str:
        """A sequence of nodes; ``is_last`` if nothing of the pattern comes after it."""
        listed = list(nodes)
        return "".join(
            self.node(operator, argument, flags, is_last=is_last and position == len(listed))
            for position, (operator, argument) in enumerate(listed, 1)
        )

    def node(self, operator: Any, argument: Any, flags: int, *, is_last: bool) -> str:
        """One node."""
        if operator is sre.ANY:
            return "(?s:.)" if flags & re.DOTALL else r"[^\n]"
        if operator is sre.LITERAL:
            return _one_of(((operator, argument),), flags)
        if operator is sre.NOT_LITERAL:
            return _one_of(((sre.NEGATE, None), (sre.LITERAL, argument)), flags)
        if operator is sre.IN:
            return _one_of(tuple(argument), flags)
        if operator is sre.AT:
            return self.position(argument, flags, is_last=is_last)
        if operator is sre.BRANCH:
            return "(?:" + "|".join(self.sequence(part, flags, is_last=is_last) for part in argument[1]) + ")"
        if operator is sre.SUBPATTERN:
            _, added, removed, inner = argument
            return "(?:" + self.sequence(inner, (flags | added) & ~removed, is_last=is_last) + ")"
        if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, inner = argument
            if most > 1 and inner.getwidth()[0] == 0:  # how often an empty match repeats is each engine's own affair
                raise _Untranslatable
            bounds = f"{least}," if most is sre.MAXREPEAT else f"{least},{most}"
            return f"(?:{self.sequence(inner, flags, is_last=False)}){{{bounds}}}"
        raise _Untranslatable

    def position(self, where: Any, flags: int, *, is_last: bool) -> str:
        """An anchor."""
        if where is sre.AT_BEGINNING_STRING or (where is sre.AT_BEGINNING and not flags & re.MULTILINE):
            return r"\A"
        if where is sre.AT_END_STRING:
            return r"\z"
        if where is sre.AT_BEGINNING:
            return "(?m:^)"
        if where is sre.AT_END and flags & re.MULTILINE:
            return "(?m:$)"
        if where is sre.AT_END and is_last:  # Python's $ also stands before a newline at the very end
            return r"\n?\z"
        if where is sre.AT_BOUNDARY:
            self.ascii_only = self.ascii_only or not flags & re.ASCII
            return r"(?-u:\b)"
        raise _Untranslatable


def _one_of(items: tuple[Any, ...], flags: int) -> str:
    negated = items[0][0] is sre.NEGATE
    members = items[1:] if negated else items
    if flags & re.IGNORECASE or any(operator is sre.CATEGORY for operator, _ in members):
        asked = "".join(map(_written, members))
        ranges = _asked(asked, flags & (re.IGNORECASE | re.ASCII))
    else:
        ranges = tuple((argument, argument) if operator is sre.LITERAL else argument for operator, argument in members)
    if negated:  # not left to the other engine: its [^…] errs where ranges meet at the surrogates
        ranges = tuple(_others(ranges))
    listed = "".join(
        rf"\x{{{first:x}}}-\x{{{last:x}}}" for given in ranges for first, last in _without_surrogates(*given)
    )
    if not listed:
        raise _Untranslatable
    return f"[{listed}]"


def _others(ranges: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """The code points outside of the ranges."""
    after = 0
    for first, last in sorted(ranges):
        if first > after:
            yield after, first - 1
        after = max(after, last + 1)
    if after <= _LAST:
        yield after, _LAST


def _written(member: Any) -> str:
    operator, argument = member
    if operator is sre.CATEGORY:
        if argument not in _CATEGORIES:
            raise _Untranslatable
        return _CATEGORIES[argument]
    if operator is sre.LITERAL:
        return rf"\U{argument:08x}"
    if operator is sre.RANGE:
        return rf"\U{argument[0]:08x}-\U{argument[1]:08x}"
    raise _Untranslatable


def _without_surrogates(first: int, last: int) -> Iterable[tuple[int, int]]:
    after = _FIRST_SURROGATE + _SURROGATES
    if first < _FIRST_SURROGATE:
        yield first, min(last, _FIRST_SURROGATE - 1)
    if last >= after:
        yield max(first, after), last


@lru_cache(maxsize=1)
def _all_characters() -> str:
    return "".join(map(chr, range(_LAST + 1)))


@lru_cache(maxsize=256)
def _asked(members: str, flags: int) -> tuple[tuple[int, int], ...]:
    """The code points that a class of ``re`` matches, as ranges."""
    runs = re.compile(f"[{members}]+", flags)
    return tuple((run.start(), run.end() - 1) for run in runs.finditer(_all_characters()))


def paths(compiled: re.Pattern[str]) -> Callable[[int], float]:
    """A function of a value's length: the logarithm of the ways in which a match can be tried from one start."""
    tree = list(sre_parser.parse(compiled.pattern, compiled.flags))
    return lambda length: _ways(tree, length)


def _ways(nodes: Iterable[Any], length: int) -> float:
    return sum(_ways_of(operator, argument, length) for operator, argument in nodes)


def _ways_of(operator: Any, argument: Any, length: int) -> float:
    if operator is sre.BRANCH:
        return _either([_ways(part, length) for part in argument[1]])
    if operator is sre.SUBPATTERN:
        return _ways(argument[3], length)
    if operator in (sre.ASSERT, sre.ASSERT_NOT):
        return _ways(argument[1], length)
    if operator is sre.GROUPREF_EXISTS:
        return _either([_ways(part, length) for part in argument[1:] if part is not None])
    if operator is sre.ATOMIC_GROUP:
        return _ways(argument, length)
    if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, inner = argument
        reach = min(int(most), max(length, int(least)))
        once = _ways(inner, length)
        return reach * once + math.log(reach - int(least) + 1) if reach else 0.0
    return 0.0


def _either(ways: list[float]) -> float:
    highest = max(ways, default=0.0)
    return highest + math.log(sum(math.exp(way - highest) for way in ways) or 1.0)
