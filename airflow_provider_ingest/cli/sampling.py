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

from airflow_provider_ingest.cli.column_kinds import Guess, guess
from airflow_provider_ingest.exceptions import FormatError, InvalidParameter
from airflow_provider_ingest.formats import plan_file, read_chunk
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER, Kind

SAMPLE_ROWS = 50_000
NAME_BYTES = 50
"""Of an attribute's name; PostgreSQL cuts names after 63, and a number may follow."""

FEW = 12
"""Most distinct values of a column that looks like a list of choices."""

KEY_NAMES = ("id", "sku", "code", "number", "no", "nr", "key", "email", "isbn", "ean", "article")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of the sample.

    :param guess: what its values are.
    :param has_blanks: some have blanks around them.
    :param choices: its distinct values, where they are few and repeated.
    :param example: its first value that is not empty.
    """

    name: str
    attribute: str
    guess: Guess
    is_complete: bool = False
    is_unique: bool = False
    has_blanks: bool = False
    choices: tuple[str, ...] = ()
    example: str = ""

    @property
    def kind(self) -> str:
        """Of its values."""
        return self.guess.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample file.

    :param rows: the first rows, for the test that is written with the importer.
    :param seen: how many rows were looked at.
    :param facts: how the file is read.
    :param warnings: what the reader has to say of the file, in sentences.
    """

    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]
    seen: int
    facts: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def key(self) -> Column | None:
        """The column that most likely identifies a row: complete, unique, best with a name that says so."""
        able = [column for column in self.columns if column.is_unique and column.kind in ("text", "integer", "email")]
        named = [column for column in able if set(column.attribute.split("_")) & set(KEY_NAMES)]
        return next(iter(named or able), None)


def read_sample(name: str, sheet: str | None = None) -> Sample:
    """Look at the first rows of a file of any supported format.

    :param sheet: of a workbook; default its first visible one.

    Raises :class:`InvalidParameter` for a file that cannot be read or has no rows.
    """
    path = Path(name).expanduser()
    if not path.is_file():
        raise InvalidParameter(f"There is no file {name!r}.")
    with tempfile.TemporaryDirectory(prefix="ingest-init-") as scratch:
        try:
            options = {"sheet": sheet} if sheet else {}
            plan = plan_file(path, options=options, chunk_rows=SAMPLE_ROWS, scratch=Path(scratch))
            first = next((read_chunk(plan.reader, chunk) for chunk in plan.chunks), iter(()))
            batches = list(first)
        except FormatError as error:
            raise InvalidParameter(f"{name!r} cannot be read: {error}") from error
    malformed = pl.concat([batch.malformed for batch in batches]) if batches else None
    if not sum(batch.frame.height for batch in batches):
        raise InvalidParameter(f"{name!r} has no rows to learn from." + _left_out(malformed))
    frame = pl.concat([batch.frame for batch in batches]).drop(ROW_NUMBER, LINE_NUMBER)
    attributes = attribute_names(frame.columns)
    columns = tuple(
        _column(frame.get_column(each), attributes[each], is_json=plan.kinds.get(each) is Kind.JSON)
        for each in frame.columns
    )
    warnings = [*plan.warnings, _left_out(malformed, frame.height).strip()]
    return Sample(
        columns=columns,
        rows=tuple(frame.head(5).to_dicts()),
        seen=frame.height,
        facts=dict(plan.facts),
        warnings=tuple(each for each in warnings if each),
    )


def _left_out(malformed: pl.DataFrame | None, read: int = 0) -> str:
    """How many rows cannot be read, and why the first cannot."""
    if malformed is None or not malformed.height:
        return ""
    line, reason = malformed.select(LINE_NUMBER, "reason").row(0)
    counts = f"{malformed.height:,} of {malformed.height + read:,}"
    return f" {counts} rows cannot be read and are left out; the first is in line {line}: {reason}"


def attribute_names(columns: Iterable[str]) -> dict[str, str]:
    """A Python and SQL name for each column, all different.

    >>> attribute_names(["Unit Price (€)", "unit-price", "2nd"])
    {'Unit Price (€)': 'unit_price', 'unit-price': 'unit_price_2', '2nd': 'c_2nd'}
    >>> attribute_names(["Größe", "Дата рождения"])
    {'Größe': 'grosse', 'Дата рождения': 'дата_рождения'}
    """
    names: dict[str, str] = {}
    for column in columns:
        characters = (each if f"a{each}".isidentifier() else "_" for each in _plain_letters(column))
        bare = re.sub("_+", "_", "".join(characters)).strip("_")
        bare = bare.encode()[:NAME_BYTES].decode(errors="ignore") or "column"
        bare = bare if bare.isidentifier() else f"c_{bare}"
        name, number = bare, 2
        while name in names.values():
            name, number = f"{bare}_{number}", number + 1
        names[column] = name
    return names


def _plain_letters(name: str) -> str:
    """The name in small letters: Latin ones without accents, those of other scripts as they are."""
    folded = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    latin = "".join(each for each in folded if not unicodedata.combining(each))
    is_latin = all(each.isascii() for each in latin if each.isalpha())
    return unicodedata.normalize("NFKC", latin if is_latin else name).lower()


def _column(values: pl.Series, attribute: str, *, is_json: bool) -> Column:
    stripped = values.drop_nulls().str.strip_chars()
    filled = stripped.filter(stripped != "")
    is_complete = len(filled) == len(values)
    distinct = filled.n_unique()
    guessed = Guess(kind="json") if is_json else guess(filled)
    is_list = guessed.kind == "text" and 1 < distinct <= FEW and len(filled) >= 5 * distinct
    return Column(
        name=values.name,
        attribute=attribute,
        guess=guessed,
        is_complete=is_complete,
        is_unique=is_complete and distinct == len(values) > 1,
        has_blanks=bool((stripped != values.drop_nulls()).any()),
        choices=tuple(filled.unique().sort().to_list()) if is_list else (),
        example=filled[0] if len(filled) else "",
    )
