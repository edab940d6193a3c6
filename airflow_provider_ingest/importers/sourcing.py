"""Checks and normalises what an importer says of its source and of the input it expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.importers.schema import FIELD_TYPES, SchemaField
from airflow_provider_ingest.importers.source import FORMAT_OPTIONS, SOURCE_OPTIONS, Source, SourceSpec, SourceType
from airflow_provider_ingest.importers.suggestions import did_you_mean, listed

TEXT_OPTIONS = frozenset({"path", "disk", "url", "conn_id", "format", "delimiter", "quote", "escape", "encoding"})


def source_spec(source: Any, options: Mapping[str, Any], where: str) -> SourceSpec:
    """A built-in source type with its options, or a source object; raises :class:`ConfigError`."""
    built_in = [kind.value for kind in SOURCE_OPTIONS]
    if isinstance(source, str):
        if source not in built_in:
            raise ConfigError(
                f'{where}: "{source}" is no source type.{did_you_mean(source, built_in)} The types are '
                f"{listed(built_in)}; a source of your own is given as an object."
            )
        kind = SourceType(source)
        _check_options(kind, options, where)
        return SourceSpec(type=kind, options=dict(sorted(options.items())))
    if isinstance(source, type):
        raise ConfigError(f"{where}: {source.__name__} is a class; give an instance of it as the source.")
    if not isinstance(source, Source):
        lacking = [name for name in ("read", "get_schema", "get_source_metadata") if not hasattr(source, name)]
        raise ConfigError(
            f"{where}: {type(source).__name__} is no source; it lacks {listed(lacking)}. Give one of the types "
            f"{listed(built_in)}, or an object with read(), get_schema() and get_source_metadata()."
        )
    if options:
        raise ConfigError(f"{where}: a source object takes no options here; got {listed(options)}.")
    return SourceSpec(type=SourceType.CUSTOM, custom=source)


def _check_options(kind: SourceType, options: Mapping[str, Any], where: str) -> None:
    required, optional = SOURCE_OPTIONS[kind]
    known = required | optional | FORMAT_OPTIONS
    for name, value in options.items():
        if name not in known:
            own = listed(sorted(required | optional)) or "no options of its own"
            raise ConfigError(
                f'{where}: a source of type {kind.name} has no option "{name}".{did_you_mean(name, known)} It takes '
                f"{own}; how the file is read is said by {listed(sorted(FORMAT_OPTIONS))}."
            )
        if name in TEXT_OPTIONS and (not isinstance(value, str) or not value):
            raise ConfigError(f'{where}: the option "{name}" of the source is {value!r}; it must be a text.')
    missing = sorted(required - options.keys())
    if missing:
        raise ConfigError(f"{where}: a source of type {kind.name} needs the option {listed(missing)}.")
    url = options.get("url")
    if url is not None and not url.lower().startswith(("http://", "https://")):
        raise ConfigError(f'{where}: the option "url" must begin with http:// or https://.')
    if url is not None and "@" in url.split("://", 1)[1].split("/", 1)[0]:
        raise ConfigError(
            f'{where}: the option "url" holds credentials; keep them in a connection and name it by conn_id.'
        )


def schema_fields(given: Any, where: str) -> dict[str, SchemaField]:
    """The expected schema from dicts or :class:`SchemaField`; raises :class:`ConfigError`."""
    if not isinstance(given, Mapping) or not given:
        raise ConfigError(f"{where}: expect_schema() takes a map of field name to {{type, required, nullable}}.")
    return {name: _schema_field(name, entry, where) for name, entry in given.items()}


def _schema_field(name: Any, entry: Any, where: str) -> SchemaField:
    at = f'{where}, expected field "{name}"'
    known = [one.name for one in fields(SchemaField)]
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{at}: the name of a field is a text.")
    if isinstance(entry, Mapping):
        for member in entry:
            if member not in known:
                raise ConfigError(
                    f'{at}: "{member}" is unknown.{did_you_mean(str(member), known)} It has {listed(known)}.'
                )
        entry = SchemaField(**entry)
    if not isinstance(entry, SchemaField):
        raise ConfigError(f"{at}: {entry!r} is no schema; give a dict with {listed(known)}, or a SchemaField.")
    if entry.type not in FIELD_TYPES:
        raise ConfigError(
            f'{at}: "{entry.type}" is no type.{did_you_mean(str(entry.type), FIELD_TYPES)} The types are '
            f"{listed(FIELD_TYPES)}."
        )
    for member in ("required", "nullable"):
        if not isinstance(getattr(entry, member), bool):
            raise ConfigError(f'{at}: "{member}" is {getattr(entry, member)!r}; it is True or False.')
    return entry
