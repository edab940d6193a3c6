"""From source fields to target attributes: the parts of an importer's definition."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingABC
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import polars as pl

    from airflow_provider_ingest.transformers.base import ScalarTransformer, Transformer
    from airflow_provider_ingest.validators.base import ScalarValidator, Validator

    AnyTransformer = Transformer | ScalarTransformer
    AnyValidator = Validator | ScalarValidator
    AnyStep = AnyTransformer | AnyValidator
    Condition = Callable[[MappingABC[str, Any]], bool] | pl.Expr


class DuplicateStrategy(StrEnum):
    """What to do with a row whose key is already in the target."""

    UPDATE = "update"
    SKIP = "skip"
    FAIL = "fail"
    UPDATE_IF_NEWER = "update_if_newer"


@runtime_checkable
class ConditionalMapping(Protocol):
    """A mapping that decides per row whether it applies."""

    def should_apply(self, row: MappingABC[str, Any]) -> bool:
        """Whether it applies to this raw row."""

    @property
    def source_field(self) -> str:
        """The source field."""

    @property
    def attribute(self) -> str:
        """The target attribute."""

    @property
    def transformer(self) -> Any:
        """A transformer, a sequence of them, or ``None``."""

    @property
    def validator(self) -> Any:
        """A validator, a sequence of them, or ``None``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """One mapping, with everything normalised to instances.

    :param fields: the source field and its aliases, first match wins; empty where the row alone builds the value.
    :param condition: callable on the raw row, or a Polars expression over the raw columns.
    """

    fields: tuple[str, ...]
    attribute: str
    transformers: tuple[AnyTransformer, ...] = ()
    validators: tuple[AnyValidator, ...] = ()
    condition: Condition | None = None
    condition_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The attributes that identify a record, and what to do when it exists.

    :param newer_field: source field whose value must be newer than ``newer_column`` of the record
        (``UPDATE_IF_NEWER``); the two may have different names.
    """

    attributes: tuple[str, ...]
    on_duplicate: DuplicateStrategy = DuplicateStrategy.UPDATE
    newer_field: str | None = None
    newer_column: str | None = None
    assume_unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A foreign key found by a natural key: ``field``'s value is looked up in ``table.key``, the ``attribute``
    gets the row's ``value`` column.
    """

    field: str
    attribute: str
    table: str
    key: str
    value: str
    create_missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """What is recorded of each logged row."""

    transformations: bool = False
    mappings: bool = False

    @property
    def is_on(self) -> bool:
        """Whether anything is recorded."""
        return self.transformations or self.mappings


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectLimit:
    """When too many rows failed: a number, a percentage of the run's rows, or both (whichever is passed first)."""

    rows: int | None = None
    percent: float | None = None
