"""An importer's definition, built step by step and immutable at every step."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.importers.builder import MappingBuilder
from airflow_provider_ingest.importers.mapping import Key, Mapping, RejectLimit, Relation, Tracing
from airflow_provider_ingest.importers.model import check_model
from airflow_provider_ingest.importers.nested import NestedConfig
from airflow_provider_ingest.importers.schema import SchemaField
from airflow_provider_ingest.importers.source import Source, SourceSpec, SourceType
from airflow_provider_ingest.importers.sourcing import schema_fields, source_spec
from airflow_provider_ingest.importers.suggestions import did_you_mean, listed
from airflow_provider_ingest.importers.target import TargetSpec
from airflow_provider_ingest.runs.events import EventHandler

if TYPE_CHECKING:
    from airflow_provider_ingest.importers.manifest import Manifest

ROW_LOGS = ("failed", "all", "none")
MAX_CHUNK_ROWS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class IngestConfig(MappingBuilder):
    """What an importer reads, how each field becomes an attribute, and where the records go.

    Every method returns a new definition and leaves the one it is called on as it was, so that a common beginning
    may be shared. A mistake raises :class:`~airflow_provider_ingest.exceptions.ConfigError` where it is made.

    >>> config = (
    ...     IngestConfig.for_("public.products", conn_id="shop")
    ...     .from_source(SourceType.UPLOAD)
    ...     .map("SKU", "sku")
    ...     .map("Name", "name")
    ...     .keyed_by("sku")
    ... )
    >>> [mapping.attribute for mapping in config.mappings]
    ['sku', 'name']
    """

    target: TargetSpec | None = None
    source: SourceSpec | None = None
    mappings: tuple[Mapping, ...] = ()
    nested: tuple[NestedConfig, ...] = ()
    relations: tuple[Relation, ...] = ()
    schema: MappingABC[str, SchemaField] = field(default_factory=dict)
    key: Key | None = None
    handlers: tuple[EventHandler, ...] = ()
    tracing: Tracing = field(default_factory=Tracing)
    chunk_rows: int | None = None
    row_log: str | None = None
    reject_limit: RejectLimit | None = None
    is_atomic: bool = False
    refuses_duplicates: bool = False
    sensitive_fields: frozenset[str] = frozenset()

    @classmethod
    def for_(cls, model: Any, conn_id: str) -> IngestConfig:
        """Begin an importer into a table.

        :param model: an SQLAlchemy mapped class, a ``Table``, or a name like ``"public.products"``.
        :param conn_id: the Airflow connection of its database.
        """
        check_model(model, "IngestConfig.for_()")
        if not isinstance(conn_id, str) or not conn_id:
            raise ConfigError(f"IngestConfig.for_(): conn_id is {conn_id!r}; give the id of an Airflow connection.")
        return cls(target=TargetSpec(model=model, conn_id=conn_id))

    @property
    def where(self) -> str:
        """What messages call this definition."""
        return f'importer into "{self.target.label}"' if self.target else "importer without a target"

    def from_source(
        self, source: SourceType | str | Source, options: MappingABC[str, Any] | None = None, /, **named: Any
    ) -> IngestConfig:
        """Set where the rows come from: a built-in type with its options, or a source object of your own."""
        return replace(self, source=source_spec(source, {**(options or {}), **named}, self.where))

    def expect_schema(self, schema: MappingABC[str, MappingABC[str, Any] | SchemaField]) -> IngestConfig:
        """Declare the raw input: field name to ``{"type", "required", "nullable"}`` or a :class:`SchemaField`."""
        return replace(self, schema={**self.schema, **schema_fields(schema, self.where)})

    def with_event_handler(self, handler: EventHandler) -> IngestConfig:
        """Add lifecycle hooks; several handlers are called in the order in which they were added."""
        if not isinstance(handler, EventHandler):
            what = f"the class {handler.__name__}" if isinstance(handler, type) else type(handler).__name__
            raise ConfigError(
                f"{self.where}: {what} is no event handler; give an instance of a subclass of EventHandler."
            )
        return replace(self, handlers=(*self.handlers, handler))

    def with_tracing(self) -> IngestConfig:
        """Trace transformations and mappings of every logged row."""
        return replace(self, tracing=Tracing(transformations=True, mappings=True))

    def trace_transformations(self) -> IngestConfig:
        """Trace input and output of every transformation step."""
        return replace(self, tracing=replace(self.tracing, transformations=True))

    def trace_mappings(self) -> IngestConfig:
        """Trace which fields were mapped where and which conditional mappings were active."""
        return replace(self, tracing=replace(self.tracing, mappings=True))

    def chunk_size(self, rows: int) -> IngestConfig:
        """Set how many rows a chunk, and so a task, works."""
        if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MAX_CHUNK_ROWS:
            raise ConfigError(f"{self.where}: chunk_size is {rows!r}; it is a number from 1 to {MAX_CHUNK_ROWS:,}.")
        return replace(self, chunk_rows=rows)

    def log_rows(self, which: str) -> IngestConfig:
        """Set which rows are kept in the row log: ``"failed"``, ``"all"`` or ``"none"``."""
        if which not in ROW_LOGS:
            raise ConfigError(
                f"{self.where}: log_rows is {which!r}.{did_you_mean(str(which), ROW_LOGS)} "
                f"It is one of {listed(ROW_LOGS)}."
            )
        return replace(self, row_log=which)

    def reject_above(self, rows: int | None = None, percent: float | None = None) -> IngestConfig:
        """End the run as failed once more rows failed than this number, or than this percentage of all rows."""
        if rows is None and percent is None:
            raise ConfigError(f"{self.where}: reject_above() needs rows=, percent=, or both.")
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
            raise ConfigError(f"{self.where}: reject_above(rows={rows!r}): it is a number of rows from 0.")
        is_number = isinstance(percent, (int, float)) and not isinstance(percent, bool)
        if percent is not None and not (is_number and 0 <= percent < 100):
            raise ConfigError(f"{self.where}: reject_above(percent={percent!r}): it is a number from 0 to below 100.")
        return replace(self, reject_limit=RejectLimit(rows=rows, percent=percent))

    def atomic(self) -> IngestConfig:
        """Make nothing visible in the target until the whole run is accepted."""
        return replace(self, is_atomic=True)

    def sensitive(self, *fields: str) -> IngestConfig:
        """Name source fields whose values appear in no log, trace, row log or download."""
        if not fields or not all(isinstance(name, str) and name for name in fields):
            raise ConfigError(f"{self.where}: sensitive() takes the names of one or more source fields.")
        return replace(self, sensitive_fields=self.sensitive_fields | set(fields))

    def assume_unique_keys(self) -> IngestConfig:
        """Promise that no key occurs twice in a file, which spares looking for it."""
        if self.key is None:
            raise ConfigError(f"{self.where}: assume_unique_keys() needs a key; call keyed_by() first.")
        return replace(self, key=replace(self.key, assume_unique=True))

    def refuse_duplicates(self) -> IngestConfig:
        """Refuse a file that a completed run with this definition has imported already."""
        return replace(self, refuses_duplicates=True)

    def check(self, slug: str) -> None:
        """Raise :class:`ConfigError` unless this is a complete importer that can work under the slug."""
        from airflow_provider_ingest.importers.checks import check_importer

        check_importer(self, slug)

    def manifest(self, slug: str) -> Manifest:
        """The definition as a JSON document for those who cannot import it; checks it first."""
        from airflow_provider_ingest.importers.manifest import Manifest

        return Manifest.of(self, slug)
