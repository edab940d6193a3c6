"""Transformers of text: trim, slug, concatenation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Rows, Transformer
from airflow_provider_ingest.transformers.values import BLANKS, as_text, is_ascii, mend

_FOLDED = str.maketrans(
    {
        "ß": "ss", "ẞ": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "đ": "d", "Đ": "d",
        "ð": "d", "Ð": "d", "þ": "th", "Þ": "th", "ł": "l", "Ł": "l", "ħ": "h", "Ħ": "h", "ı": "i", "ŧ": "t",
        "Ŧ": "t", "ŋ": "n", "Ŋ": "n", "ĸ": "k",
    }
)  # fmt: skip
"""Latin letters that Unicode does not decompose into an ASCII letter and an accent."""

_OTHERS = re.compile(r"[^a-z0-9]+")


class TrimTransformer(Transformer):
    """Removes blanks, or the given characters, from both ends of text; leaves other values alone.

    :param characters: the characters to remove instead of Unicode's blanks, in any order.

    >>> TrimTransformer().transform(pl.Series([" a b ", None]), rows=None).to_list()
    ['a b', None]
    >>> TrimTransformer("*-").transform(pl.Series(["-*a*b*"]), rows=None).to_list()
    ['a*b']
    """

    is_elementwise = True
    cuts_only = True

    def __init__(self, characters: str | None = None) -> None:
        if characters is not None and (not isinstance(characters, str) or not characters):
            raise ConfigError(
                f"TrimTransformer: characters must be a text of at least one character, not {characters!r}."
            )
        self.characters = characters

    def transform(self, values: pl.Series, rows: Rows) -> pl.Series:
        """The trimmed column."""
        if values.dtype != pl.String:
            return values
        return values.str.strip_chars(self.characters or BLANKS)

    def describe(self) -> Mapping[str, Any]:
        """The characters."""
        return {"characters": self.characters}


class SlugTransformer(Transformer):
    """Makes a slug: accents folded to ASCII, lower case, everything else one separator, none at the ends.

    What leaves nothing becomes null.

    >>> SlugTransformer().transform(pl.Series(["Crème Brûlée, 2 kg!", "…"]), rows=None).to_list()
    ['creme-brulee-2-kg', None]
    """

    is_elementwise = True

    def __init__(self, separator: str = "-") -> None:
        if not isinstance(separator, str):
            raise ConfigError(f"SlugTransformer: separator must be a text, not {separator!r}.")
        self.separator = separator

    def transform(self, values: pl.Series, rows: Rows) -> pl.Series:
        """The slugs."""
        text = as_text(values)
        fast = (
            text.str.to_lowercase()
            .str.replace_all(r"[^a-z0-9]+", " ")
            .str.strip_chars(" ")
            .str.replace_all(" ", self.separator, literal=True)
        )
        slugs = mend(fast, ~is_ascii(text).fill_null(True), text, self.slug)
        return slugs.set((slugs == "").fill_null(False), None)

    def slug(self, text: str) -> str:
        """The slug of one text, empty if nothing is left."""
        decomposed = unicodedata.normalize("NFKD", text.translate(_FOLDED)).translate(_FOLDED).lower()
        folded = "".join(character for character in decomposed if not unicodedata.combining(character))
        return self.separator.join(part for part in _OTHERS.split(folded) if part)

    def describe(self) -> Mapping[str, Any]:
        """The separator."""
        return {"separator": self.separator}


class ConcatTransformer(Transformer):
    """Joins raw source fields; empty and null parts are left out, and nothing but these gives null.

    :param fields: names of source fields, in order.

    >>> rows = Rows(pl.DataFrame({"first": ["Ada", ""], "last": ["Lovelace", None]}), pl.Series([1, 2]))
    >>> ConcatTransformer(["first", "last"], " ").transform(pl.Series([None, None]), rows).to_list()
    ['Ada Lovelace', None]
    """

    needs_field = False

    def __init__(self, fields: Sequence[str], separator: str = " ") -> None:
        if isinstance(fields, str) or not fields or not all(isinstance(field, str) for field in fields):
            raise ConfigError(f"ConcatTransformer: fields must be a list of source field names, not {fields!r}.")
        if not isinstance(separator, str):
            raise ConfigError(f"ConcatTransformer: separator must be a text, not {separator!r}.")
        self.reads = tuple(fields)
        self.separator = separator

    def transform(self, values: pl.Series, rows: Rows) -> pl.Series:
        """The joined fields; a field that the rows do not have counts as null."""
        parts = [as_text(rows[field]).rename(str(index)) for index, field in enumerate(self.reads) if field in rows]
        if not parts:
            return pl.repeat(None, values.len(), dtype=pl.String, eager=True).alias(values.name)
        frame = pl.DataFrame([part.set((part == "").fill_null(False), None) for part in parts])
        joined = frame.select(pl.concat_str(pl.all(), separator=self.separator, ignore_nulls=True)).to_series()
        return joined.set((joined == "").fill_null(False), None).alias(values.name)

    def describe(self) -> Mapping[str, Any]:
        """Fields and separator."""
        return {"fields": list(self.reads), "separator": self.separator}
