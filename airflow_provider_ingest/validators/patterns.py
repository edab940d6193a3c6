"""Searching a pattern of Python's ``re`` in a column: exactly as ``re`` does, fast, and in bounded time.

Three ways, chosen when the pattern is compiled:

1. A pattern of what regular languages have (no look-around, no back-references) is translated to Polars' engine,
   which works in linear time whatever the pattern (:mod:`~airflow_provider_ingest.validators.translation`).
2. Anything else runs in Python over the distinct values, as long as the number of ways in which the pattern can try to
   match a value of that length has a low bound.
3. Longer values, and patterns that may blow up, run in a process of their own that gives each value one second.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.values import is_ascii
from airflow_provider_ingest.validators import pattern_process
from airflow_provider_ingest.validators.translation import Translated, paths, translate

STEPS = 1e7
"""Most steps that a value may cost in this process: about a tenth of a second."""

VALUE_SECONDS = 1.0
"""CPU seconds that one value may take in the other process."""

BATCH_SECONDS = 10.0
"""CPU seconds that the values of one batch may take there together; what is not reached fails unchecked."""

_LONGEST = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What a search found, as Boolean columns without nulls: exactly one is true in each row.

    ``found`` is true for null.
    """

    found: pl.Series
    missed: pl.Series
    too_long: pl.Series
    unchecked: pl.Series


class Pattern:
    r"""A compiled pattern that searches columns of text.

    >>> Pattern(re.compile(r"^\d+$")).search(pl.Series(["7", "x", None])).found.to_list()
    [True, False, True]
    """

    def __init__(self, compiled: re.Pattern[str]) -> None:
        self.compiled = compiled

    @cached_property
    def translated(self) -> Translated | None:
        """The pattern for Polars, made when the first column is searched."""
        return translate(self.compiled)

    @cached_property
    def safe_length(self) -> int:
        """The longest value that is searched here rather than in a process that can give up."""
        return _safe_length(paths(self.compiled))

    def search(self, text: pl.Series) -> Searched:
        """Which values have a match."""
        unsure = text.is_not_null()
        found = ~unsure
        if self.translated is not None:
            sure = unsure & is_ascii(text).fill_null(False) if self.translated.ascii_only else unsure
            found = found | (sure & text.str.contains(self.translated.pattern).fill_null(False))
            unsure = unsure & ~sure
        too_long = unchecked = pl.repeat(False, text.len(), dtype=pl.Boolean, eager=True)
        if unsure.any():
            answers = self._answers(text.filter(unsure).unique().to_list())
            marks = text.set(~unsure, None).replace_strict(
                list(answers), list(answers.values()), default=None, return_dtype=pl.String
            )
            found = found | (marks == pattern_process.FOUND).fill_null(False)
            too_long = (marks == pattern_process.TOO_LONG).fill_null(False)
            unchecked = (marks == pattern_process.UNCHECKED).fill_null(False)
        missed = ~(found | too_long | unchecked)
        return Searched(found=found, missed=missed, too_long=too_long, unchecked=unchecked)

    def _answers(self, values: Sequence[str]) -> dict[str, str]:
        search = self.compiled.search
        found, missed = pattern_process.FOUND, pattern_process.MISSED
        answers = {value: found if search(value) else missed for value in values if len(value) <= self.safe_length}
        risky = sorted(
            (value for value in values if len(value) > self.safe_length), key=lambda value: (len(value), value)
        )
        if risky:
            answers.update(zip(risky, _elsewhere(self.compiled, risky), strict=True))
        return answers

    def __reduce__(self) -> tuple[Callable[[Any], Pattern], tuple[re.Pattern[str]]]:
        return Pattern, (self.compiled,)


def _safe_length(count: Callable[[int], float]) -> int:
    """The longest value whose search has a low bound of steps: starts × ways × characters."""

    def is_safe(length: int) -> bool:
        return count(length) + 2 * math.log(length + 1) <= math.log(STEPS)

    if not is_safe(1):
        return 0
    low, high = 1, _LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_safe(middle) else (low, middle - 1)
    return low


def _elsewhere(compiled: re.Pattern[str], values: Sequence[str]) -> str:
    """The marks of all values, shortest first, from a process that can give up on a value."""
    task = {
        "pattern": compiled.pattern,
        "flags": compiled.flags,
        "values": values,
        "value_seconds": VALUE_SECONDS,
        "batch_seconds": BATCH_SECONDS,
    }
    command = [sys.executable, "-I", "-S", str(Path(pattern_process.__file__))]
    try:
        done = subprocess.run(  # noqa: S603  # our own file, nothing of the user's in the command
            command, input=json.dumps(task).encode(), capture_output=True, check=True, timeout=30 + 10 * BATCH_SECONDS
        )
    except subprocess.TimeoutExpired:
        return pattern_process.TOO_LONG * len(values)
    except (OSError, subprocess.CalledProcessError) as error:
        raise RunFailed(f"The process that searches slow patterns did not work: {type(error).__name__}.") from None
    return done.stdout.decode("ascii")
