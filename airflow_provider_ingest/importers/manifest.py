"""An importer's definition as a JSON document, for the processes that cannot import the user's code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping as MappingABC
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from airflow_provider_ingest.importers.mapping import Key, Mapping, Relation
from airflow_provider_ingest.importers.schema import SchemaField
from airflow_provider_ingest.importers.source import SourceSpec, SourceType
from airflow_provider_ingest.importers.steps import qualified_name
from airflow_provider_ingest.transformers.callables import callable_name

if TYPE_CHECKING:
    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.importers.mapping import AnyStep
    from airflow_provider_ingest.importers.nested import NestedConfig

MANIFEST_VERSION = 1
DAG_PREFIX = "ingest_"

EXAMPLES = {
    "string": "text",
    "integer": "1",
    "numeric": "1.50",
    "boolean": "true",
    "date": "2026-01-31",
    "datetime": "2026-01-31T12:00:00Z",
}
"""What a template's example row shows for each type of the expected schema."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A typed reader of the document that the DAG of an importer carries in ``doc_json`` of its first task.

    The document is deterministic: sorted where order means nothing, callables by their qualified names, no addresses,
    so that parsing a DAG file twice gives the same DAG version.
    """

    document: MappingABC[str, Any]

    @classmethod
    def of(cls, config: IngestConfig, slug: str) -> Manifest:
        """The manifest of a complete definition; raises :class:`ConfigError` if it is not."""
        config.check(slug)
        document = manifest_document(config, slug)
        canonical = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        # that its tables are classes is told beside: it alone makes no other definition
        fingerprint = hashlib.sha256(canonical.encode()).hexdigest()
        return cls({**document, "classes": _classes(config), "fingerprint": fingerprint})

    @classmethod
    def from_dict(cls, document: MappingABC[str, Any]) -> Manifest:
        """The inverse of :meth:`to_dict`; further members, such as ``dag``, are kept."""
        return cls(document)

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return dict(self.document)

    def to_json(self) -> str:
        """The document as text, the same for the same definition."""
        return json.dumps(self.document, sort_keys=True, ensure_ascii=False)

    @property
    def slug(self) -> str:
        """The importer's name."""
        return str(self.document["slug"])

    @property
    def dag_id(self) -> str:
        """The DAG that runs it."""
        return str(self.document["dag_id"])

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the definition: two definitions that differ in anything but code bodies have different ones."""
        return str(self.document["fingerprint"])

    @property
    def source_type(self) -> SourceType:
        """Where its rows come from."""
        return SourceType(self.document["source"]["type"])

    @property
    def source_options(self) -> MappingABC[str, Any]:
        """The source's options; an URL is without its query."""
        return dict(self.document["source"].get("options") or {})

    @property
    def takes_upload(self) -> bool:
        """Whether a run is started with an uploaded file."""
        return self.source_type is SourceType.UPLOAD

    @property
    def takes_path(self) -> bool:
        """Whether a start may name the file to read."""
        return self.source_type.takes_path

    @property
    def default_path(self) -> str | None:
        """The path that is read when a start names none."""
        path = self.source_options.get("path")
        return None if path is None else str(path)

    @property
    def has_default_path(self) -> bool:
        """Whether a start may leave out the path."""
        return self.default_path is not None

    @property
    def target_label(self) -> str:
        """The target table's name for people."""
        return str(self.document["target"]["table"])

    @property
    def conn_id(self) -> str:
        """The connection of the target's database."""
        return str(self.document["target"]["conn_id"])

    @property
    def fields(self) -> tuple[str, ...]:
        """The source fields, each by its first name, in the order of the mappings."""
        named = [entry["fields"][0] for entry in self.document["mappings"] if entry["fields"]]
        read = [field for entry in self.document["mappings"] for field in entry.get("reads", ())]
        related = [entry["field"] for entry in self.document.get("relations", ())]
        nested = [entry["path"] for entry in self.document.get("nested", ())]
        return tuple(dict.fromkeys([*named, *read, *related, *self.document.get("schema", {}), *nested]))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The target attributes that are filled, in the order of the mappings."""
        mapped = [entry["attribute"] for entry in self.document["mappings"]]
        return tuple(dict.fromkeys([*mapped, *(entry["attribute"] for entry in self.document.get("relations", ()))]))

    @property
    def sensitive_fields(self) -> frozenset[str]:
        """Fields whose values are shown nowhere."""
        return frozenset(self.document.get("sensitive_fields", ()))

    @property
    def row_log(self) -> str | None:
        """Which rows are logged; ``None`` leaves it to ``[ingest] log_rows``."""
        return self.document.get("row_log")

    @property
    def has_nested(self) -> bool:
        """Whether rows hold collections, so that a CSV cannot carry them."""
        return bool(self.document.get("nested"))

    def template_header(self) -> tuple[str, ...]:
        """The header of a file that this importer reads."""
        return self.fields

    def example_row(self) -> dict[str, str]:
        """One row of a template: an example for each field whose type is declared."""
        schema = self.document.get("schema", {})
        return {field: EXAMPLES[schema[field]["type"]] if field in schema else "" for field in self.fields}


def manifest_document(config: IngestConfig, slug: str) -> dict[str, Any]:
    """The manifest without its fingerprint."""
    assert config.source is not None
    assert config.target is not None
    limit = config.reject_limit
    return {
        "manifest_version": MANIFEST_VERSION,
        "slug": slug,
        "dag_id": DAG_PREFIX + slug,
        "source": _source(config.source),
        "schema": {name: _schema_field(entry) for name, entry in sorted(config.schema.items())},
        **_table(config),
        "handlers": [qualified_name(handler) for handler in config.handlers],
        "tracing": asdict(config.tracing),
        "chunk_rows": config.chunk_rows,
        "row_log": config.row_log,
        "reject_limit": asdict(limit) if limit else None,
        "is_atomic": config.is_atomic,
        "refuses_duplicates": config.refuses_duplicates,
        "sensitive_fields": sorted(config.sensitive_fields),
    }


def _table(config: IngestConfig | NestedConfig) -> dict[str, Any]:
    assert config.target is not None
    return {
        "target": {"table": config.target.label, "conn_id": config.target.conn_id},
        "key": _key(config.key) if config.key else None,
        "mappings": [_mapping(mapping) for mapping in config.mappings],
        "relations": [_relation(relation) for relation in config.relations],
        "nested": [
            {"path": nested.path, "parent_key": nested.parent_key, **_table(nested)} for nested in config.nested
        ],
    }


def _classes(config: IngestConfig | NestedConfig) -> list[str]:
    """Paths of the tables that were given as a mapped class or ``Table``; ``""`` is the importer's own."""
    own = [] if config.target is None or isinstance(config.target.model, str) else [getattr(config, "path", "")]
    return [*own, *(path for nested in config.nested for path in _classes(nested))]


def _source(source: SourceSpec) -> dict[str, Any]:
    options = {name: _json(value) for name, value in sorted(source.options.items())}
    if "url" in options:
        options["url"] = urlunsplit(urlsplit(options["url"])._replace(query="", fragment=""))
    document: dict[str, Any] = {"type": source.type.value, "options": options}
    if source.custom is not None:
        document["class"] = qualified_name(type(source.custom))
    return document


def _schema_field(entry: SchemaField) -> dict[str, Any]:
    return {"type": entry.type, "required": entry.required, "nullable": entry.nullable}


def _mapping(mapping: Mapping) -> dict[str, Any]:
    return {
        "fields": list(mapping.fields),
        "attribute": mapping.attribute,
        "transformers": [_step(step) for step in mapping.transformers],
        "validators": [_step(step) for step in mapping.validators],
        "condition": mapping.condition_name,
        "reads": [field for step in mapping.transformers for field in getattr(step, "reads", ())],
    }


def _step(step: AnyStep) -> dict[str, Any]:
    return {"name": step.name, "options": _json(step.describe())}


def _key(key: Key) -> dict[str, Any]:
    return {
        "attributes": list(key.attributes),
        "on_duplicate": key.on_duplicate.value,
        "newer_field": key.newer_field,
        "newer_column": key.newer_column,
        "assume_unique": key.assume_unique,
    }


def _relation(relation: Relation) -> dict[str, Any]:
    return asdict(relation)


def _json(value: Any) -> Any:
    """The value as JSON without addresses: what is no JSON becomes text or a qualified name."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if value == value and abs(value) != float("inf") else str(value)
        case MappingABC():
            return {str(name): _json(entry) for name, entry in value.items()}
        case list() | tuple():
            return [_json(entry) for entry in value]
        case set() | frozenset():
            return sorted((_json(entry) for entry in value), key=repr)
        case Decimal() | date() | datetime() | time() | timedelta():
            return str(value)
        case _:
            return callable_name(value) if callable(value) else qualified_name(value)
