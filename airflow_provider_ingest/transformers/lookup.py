"""Transformers that look a value up: tables, booleans, defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.runs.columns import pl
from airflow_provider_ingest.transformers.base import Rows, Transformer
from airflow_provider_ingest.transformers.values import (
    always_fits,
    as_text,
    is_ascii,
    is_empty,
    mend,
    over_distinct,
    stripped,
    text_of,
    to_series,
)

TRUTHY = ("yes", "true", "1", "on", "y")
FALSY = ("no", "false", "0", "off", "n")


def json_value(value: Any) -> Any:
    """A value as the manifest shows it: JSON's own types as they are, anything else as text."""
    return value if value is None or isinstance(value, str | bool | int) else text_of(value)


def sequence(owner: str, option: str, values: Any) -> tuple[Any, ...]:
    """The values of an option that takes a list.

    :raises ConfigError: for a single text or something that is no list.
    """
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise ConfigError(f"{owner}: {option} must be a list of values, not {values!r}.")
    return tuple(values)


class MapTransformer(Transformer):
    """Maps values through a table: looked up by the value, then by its text; what is not in it gives ``default``.

    >>> MapTransformer({"S": "small", 2: "two"}, default="?").transform(pl.Series(["S", "2", ""]), rows=None).to_list()
    ['small', 'two', '?']
    """

    is_elementwise = True

    def __init__(self, lookup: Mapping[Any, Any], default: Any = None) -> None:
        if not isinstance(lookup, Mapping):
            raise ConfigError(f"MapTransformer: lookup must be a dict, not {lookup!r}.")
        self.lookup = MappingProxyType(dict(lookup))
        self.default = default
        if not always_fits([default, *self.lookup.values()]):
            try:
                self._outputs.len()
            except TypeError as error:
                raise ConfigError(f"MapTransformer: {error}.") from None
        self._by_value = {key: position for position, key in enumerate(self.lookup, 1)}
        texts: dict[str, int] = {}
        for key, position in self._by_value.items():
            if key is not None and (isinstance(key, str) or text_of(key) not in self._by_value):
                texts[text_of(key)] = position
        self._by_text = texts

    @cached_property
    def _outputs(self) -> pl.Series:
        return to_series([self.default, *self.lookup.values()])

    def transform(self, values: pl.Series, rows: Rows) -> pl.Series:
        """The mapped column; its type is that of the table's values, whatever is in the batch."""
        if values.dtype == pl.String:
            keys = pl.Series(list(self._by_text), dtype=pl.String)
            found = pl.Series(list(self._by_text.values()), dtype=pl.UInt32)
            positions = (
                values.replace_strict(keys, found, default=0, return_dtype=pl.UInt32)
                if self._by_text
                else pl.repeat(0, values.len(), dtype=pl.UInt32, eager=True)
            )
        else:
            positions = over_distinct(values, self._position, pl.UInt32)
        positions = positions.set(values.is_null(), self._by_value.get(None, 0)).fill_null(0)
        return self._outputs.gather(positions).alias(values.name)

    def _position(self, value: Any) -> int:
        try:
            found = self._by_value.get(value)
        except TypeError:  # a list or struct is in no table by itself
            found = None
        return found if found is not None else self._by_text.get(text_of(value), 0)

    def describe(self) -> Mapping[str, Any]:
        """The table, as pairs in its own order, and the default."""
        pairs = [[json_value(key), json_value(value)] for key, value in self.lookup.items()]
        return {"lookup": pairs, "default": json_value(self.default)}


class BooleanTransformer(Transformer):
    """Turns words into 1 or 0: case and surrounding blanks do not count, anything else gives ``default``.

    >>> BooleanTransformer().transform(pl.Series(["Yes ", "off", "perhaps"]), rows=None).to_list()
    [1, 0, None]
    """

    is_elementwise = True

    def __init__(
        self,
        truthy_values: Sequence[Any] | None = None,
        falsy_values: Sequence[Any] | None = None,
        default: Any = None,
    ) -> None:
        truthy = TRUTHY if truthy_values is None else sequence("BooleanTransformer", "truthy_values", truthy_values)
        falsy = FALSY if falsy_values is None else sequence("BooleanTransformer", "falsy_values", falsy_values)
        self.truthy_values = tuple(dict.fromkeys(self._word(text_of(value)) for value in truthy))
        self.falsy_values = tuple(dict.fromkeys(self._word(text_of(value)) for value in falsy))
        if both := sorted(set(self.truthy_values) & set(self.falsy_values)):
            raise ConfigError(f"BooleanTransformer: {', '.join(map(repr, both))} cannot be both truthy and falsy.")
        self.default = int(default) if isinstance(default, bool) else default
        if not always_fits([self.default]):
            self._outputs.len()  # refuses what no column holds

    @cached_property
    def _outputs(self) -> pl.Series:
        return to_series([self.default, 1, 0])

    @staticmethod
    def _word(text: str) -> str:
        return text.strip().casefold()

    def transform(self, values: pl.Series, rows: Rows) -> pl.Series:
        """1, 0 or the default; an integer column unless the default is of another type."""
        text = as_text(values)
        words = mend(stripped(text).str.to_lowercase(), ~is_ascii(text).fill_null(True), text, self._word)
        words = words.set((words == "").fill_null(False), None)
        frame = words.to_frame("word").select(
            pl.when(pl.col("word").is_in(self.truthy_values))
            .then(1)
            .when(pl.col("word").is_in(self.falsy_values))
            .then(2)
            .otherwise(0)
        )
        return self._outputs.gather(frame.to_series()).alias(values.name)

    def describe(self) -> Mapping[str, Any]:
        """The words and the default."""
        return {
            "truthy_values": list(self.truthy_values),
            "falsy_values": list(self.falsy_values),
            "default": json_value(self.default),
        }


class DefaultValueTransformer(Transformer):
    """Replaces empty values with a default: null and the empty text, or exactly those of ``empties``.

    >>> DefaultValueTransformer("n/a").transform(pl.Series(["", "x", None]), rows=None).to_list()
    ['n/a', 'x', 'n/a']
    >>> DefaultValueTransformer("n/a", ["-"]).transform(pl.Series(["", "-", None]), rows=None).to_list()
    ['', 'n/a', None]
    """

    is_elementwise = True

    def __init__(self, default: Any, empties: Sequence[Any] | None = None) -> None:
        self.default = default
        self.empties = None if empties is None else sequence("DefaultValueTransformer", "empties", empties)
        if not always_fits([default]):
            try:
                self._default.len()
            except TypeError as error:
                raise ConfigError(f"DefaultValueTransformer: default is {error}.") from None
        counted = (None, "") if self.empties is None else self.empties
        self._null_is_empty = None in counted
        self._texts = tuple(text_of(value) for value in counted if value is not None)

    @cached_property
    def _default(self) -> pl.Series:
        return to_series([self.default])

    def transform(self, values: pl.Series, rows: Rows) -> pl.Series:
        """The filled column: of its own type if the default has the same, of the default's if all null, else text."""
        empty = self._empty(values)
        default = self._default
        if default.dtype == pl.Null:
            return values.set(empty, None)
        if values.dtype == pl.Null:
            values = values.cast(default.dtype)
        elif values.dtype != default.dtype:
            values, default = as_text(values), as_text(default)
        return default.new_from_index(0, values.len()).zip_with(empty, values).alias(values.name)

    def _empty(self, values: pl.Series) -> pl.Series:
        if self.empties is None:
            return is_empty(values)
        listed = as_text(values).is_in(pl.Series(self._texts, dtype=pl.String))
        return listed.fill_null(self._null_is_empty) if self._texts else values.is_null() & self._null_is_empty

    def describe(self) -> Mapping[str, Any]:
        """The default and what it replaces."""
        empties = None if self.empties is None else [json_value(value) for value in self.empties]
        return {"default": json_value(self.default), "empties": empties}
