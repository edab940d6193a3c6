"""What a transformer is: a whole column in, a whole column out, and the rows it could not do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from airflow_provider_ingest.runs.columns import pl


class Rows(Mapping[str, "pl.Series"]):
    """The raw source columns of a batch, by field name, for steps that look beyond their own column.

    All columns are text as the file had them; ``rows.numbers`` are the row numbers.
    """

    __slots__ = ("_frame", "numbers")

    def __init__(self, frame: pl.DataFrame, numbers: pl.Series) -> None:
        self._frame = frame
        self.numbers = numbers

    def __getitem__(self, field: str) -> pl.Series:
        if field not in self._frame.columns:
            raise KeyError(field)
        return self._frame.get_column(field)

    def __iter__(self) -> Iterator[str]:
        return iter(self._frame.columns)

    def __len__(self) -> int:
        return self._frame.width

    @property
    def height(self) -> int:
        """Number of rows."""
        return self._frame.height

    @property
    def frame(self) -> pl.DataFrame:
        """The columns as a frame."""
        return self._frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Rows that a step refuses, for one reason.

    :param rows: Boolean series, true where the row fails (null counts as false).
    :param message: what is wrong; a String series where it differs from row to row.
    """

    rows: pl.Series
    code: str
    message: str | pl.Series


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformed:
    """The new column, and the rows that could not be transformed (their new values are ignored)."""

    values: pl.Series
    refused: tuple[Refusal, ...] = ()


class Transformer(ABC):
    """A columnar transformation: subclass and implement :meth:`transform`.

    >>> class Double(Transformer):
    ...     def transform(self, values, rows):
    ...         return values.cast(pl.Int64, strict=False) * 2
    >>> Double().transform(pl.Series(["2", "x"]), rows=None).to_list()
    [4, None]
    """

    needs_field: bool = True
    """Whether it works on a source field; one that builds its value from the row alone says ``False``."""

    reads: tuple[str, ...] = ()
    """Raw source fields that it reads from the rows, beyond its own, where it can name them."""

    is_elementwise: bool = False
    """Whether each result depends on its value alone, not on other rows or fields. Such a step may be given the
    distinct values of a column, in any order and without rows. A subclass with a :meth:`transform` of its own says so
    anew."""

    cuts_only: bool = False
    """Whether each text that comes out is a part of the text that went in: no character is in it that was not looked
    for already. A subclass with a :meth:`transform` of its own says so anew."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "transform" in cls.__dict__:
            for promise in ("is_elementwise", "cuts_only"):
                if promise not in cls.__dict__:
                    setattr(cls, promise, False)

    @property
    def name(self) -> str:
        """The step's name in traces and manifests."""
        return type(self).__name__

    @abstractmethod
    def transform(self, values: pl.Series, rows: Rows) -> pl.Series | Transformed:
        """The transformed column, of the same length.

        :param values: text from the file, or whatever type the step before gave; null where there is no value.
        :param rows: the raw columns of the same rows.
        """

    def describe(self) -> Mapping[str, Any]:
        """The options as JSON values for the manifest: deterministic, without addresses."""
        return {}


class ScalarTransformer(ABC):
    """A transformation written for one value at a time: the engine loops, over distinct values where it can.

    Raise ``ValueError("what is wrong")`` to fail the row. Set ``uses_row = True`` to receive the row (raw
    fields by name); the loop then runs over all rows instead of the distinct values.

    >>> class Shout(ScalarTransformer):
    ...     def transform_value(self, value, row):
    ...         return value.upper()
    >>> Shout().transform_value("a", None)
    'A'
    """

    needs_field: bool = True
    uses_row: bool = False

    @property
    def name(self) -> str:
        """The step's name in traces and manifests."""
        return type(self).__name__

    @abstractmethod
    def transform_value(self, value: Any, row: Mapping[str, Any] | None) -> Any:
        """The transformed value; ``value`` may be ``None``."""

    def describe(self) -> Mapping[str, Any]:
        """The options as JSON values for the manifest."""
        return {}
