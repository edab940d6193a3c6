"""What a sample file tells of its columns: type, emptiness, uniqueness; text unless every value proves otherwise."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from airflow_provider_ingest.exceptions import FormatError, InvalidParameter
from airflow_provider_ingest.formats import plan_file, read_chunk
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER

SAMPLE_ROWS = 50_000
FEW = 12
"""Most distinct values of a column that looks like a list of choices."""

INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
DECIMAL = r"^-?(0|[1-9][0-9]*)\.[0-9]+$|^-?(0|[1-9][0-9]*)$"
DECIMAL_COMMA = r"^-?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+),[0-9]+$|^-?(0|[1-9][0-9]*)$"
EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
BOOLEANS = frozenset({"yes", "no", "true", "false", "y", "n", "on", "off"})
DATES = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y")
KEY_NAMES = ("id", "sku", "code", "number", "no", "nr", "key", "email", "isbn", "ean", "article")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of the sample.

    :param kind: ``text``, ``integer``, ``decimal``, ``decimal_comma``, ``boolean``, ``date`` or ``email``.
    :param format: of a date.
    :param choices: its distinct values, where they are few and repeated.
    """

    name: str
    attribute: str
    kind: str
    format: str | None = None
    is_complete: bool = False
    is_unique: bool = False
    is_ambiguous_date: bool = False
    choices: tuple[str, ...] = ()
    has_leading_zeros: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample file.

    :param rows: the first rows, for the test that is written with the importer.
    """

    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]
    seen: int
    facts: dict[str, Any]

    @property
    def key(self) -> Column | None:
        """The column that most likely identifies a row: complete, unique, best with a name that says so."""
        able = [column for column in self.columns if column.is_unique and column.kind in ("text", "integer", "email")]
        named = [column for column in able if set(column.attribute.split("_")) & set(KEY_NAMES)]
        return next(iter(named or able), None)


def read_sample(name: str) -> Sample:
    """Look at the first rows of a file of any supported format.

    Raises :class:`InvalidParameter` for a file that cannot be read or has no rows.
    """
    path = Path(name).expanduser()
    if not path.is_file():
        raise InvalidParameter(f"There is no file {name!r}.")
    with tempfile.TemporaryDirectory(prefix="ingest-init-") as scratch:
        try:
            plan = plan_file(path, options={}, chunk_rows=SAMPLE_ROWS, scratch=Path(scratch))
            first = next((read_chunk(plan.reader, chunk) for chunk in plan.chunks), iter(()))
            frames = [batch.frame for batch in first]
        except FormatError as error:
            raise InvalidParameter(f"{name!r} cannot be read: {error}") from error
    if not frames or not sum(frame.height for frame in frames):
        raise InvalidParameter(f"{name!r} has no rows to learn from.")
    frame = pl.concat(frames).drop(ROW_NUMBER, LINE_NUMBER)
    attributes = attribute_names(frame.columns)
    columns = tuple(_column(frame.get_column(each), attributes[each]) for each in frame.columns)
    return Sample(columns=columns, rows=tuple(frame.head(5).to_dicts()), seen=frame.height, facts=dict(plan.facts))


def attribute_names(columns: Iterable[str]) -> dict[str, str]:
    """A Python and SQL name for each column, all different.

    >>> attribute_names(["Unit Price (€)", "unit-price", "2nd"])
    {'Unit Price (€)': 'unit_price', 'unit-price': 'unit_price_2', '2nd': 'c_2nd'}
    """
    names: dict[str, str] = {}
    for column in columns:
        plain = unicodedata.normalize("NFKD", column).encode("ascii", "ignore").decode().lower()
        bare = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:50] or "column"
        bare = f"c_{bare}" if bare[0].isdigit() else bare
        name, number = bare, 2
        while name in names.values():
            name, number = f"{bare}_{number}", number + 1
        names[column] = name
    return names


def _column(values: pl.Series, attribute: str) -> Column:
    stripped = values.drop_nulls().str.strip_chars()
    filled = stripped.filter(stripped != "")
    is_complete = len(filled) == len(values)
    distinct = filled.n_unique()
    kind, date_format = _kind(filled)
    is_list = kind == "text" and 1 < distinct <= FEW and len(filled) >= 5 * distinct
    return Column(
        name=values.name,
        attribute=attribute,
        kind=kind,
        format=date_format if kind == "date" else None,
        is_complete=is_complete,
        is_unique=is_complete and distinct == len(values) > 1,
        is_ambiguous_date=kind == "text" and date_format is not None,
        choices=tuple(filled.unique().sort().to_list()) if is_list else (),
        has_leading_zeros=kind == "text" and bool(filled.str.contains("^0[0-9]+$").any()),
    )


def _kind(filled: pl.Series) -> tuple[str, str | None]:
    """The narrowest kind that every value is of, and a date's format; numbers with leading zeros are text, and so
    are dates of which day and month cannot be told apart.
    """
    if not len(filled):
        return "text", None
    if set(filled.str.to_lowercase().unique()) <= BOOLEANS:
        return "boolean", None
    for kind, pattern in (
        ("integer", INTEGER),
        ("decimal", DECIMAL),
        ("decimal_comma", DECIMAL_COMMA),
        ("email", EMAIL),
    ):
        if filled.str.contains(pattern).all():
            return kind, None
    fitting = [each for each in DATES if filled.str.to_date(each, strict=False).is_not_null().all()]
    if not fitting:
        return "text", None
    return "text" if len(fitting) > 1 else "date", fitting[0]
