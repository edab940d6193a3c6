"""The last check of a definition, when it gets its slug: everything that one call alone cannot see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.importers.model import columns_that_must_be_set
from airflow_provider_ingest.importers.suggestions import did_you_mean, listed

if TYPE_CHECKING:
    from airflow_provider_ingest.importers.config import IngestConfig
    from airflow_provider_ingest.importers.nested import NestedConfig

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,199}")
RESERVED_SLUGS = frozenset({"prune"})
"""``ingest_prune`` is the id of the pruning DAG."""


def check_slug(slug: str) -> None:
    """Raise :class:`ConfigError` for a slug that cannot name an importer and its DAG."""
    if not isinstance(slug, str) or not SLUG.fullmatch(slug):
        raise ConfigError(
            f"{slug!r} is no slug: it has 1 to 200 lower-case letters, digits, _ and -, "
            "and begins with a letter or a digit."
        )
    if slug in RESERVED_SLUGS:
        raise ConfigError(f'The slug "{slug}" is used by the service itself; choose another one.')


def check_importer(config: IngestConfig, slug: str) -> None:
    """Raise :class:`ConfigError` for what is missing or does not fit together, naming the importer."""
    check_slug(slug)
    where = f'importer "{slug}"'
    if config.target is None:
        raise ConfigError(f"{where}: it has no target; begin with IngestConfig.for_(Model, conn_id=…).")
    if config.source is None:
        raise ConfigError(f"{where}: it has no source; call from_source(SourceType.UPLOAD), for example.")
    if not (config.mappings or config.relations or config.nested):
        raise ConfigError(f"{where}: it maps nothing; call map(field, attribute) at least once.")
    _check_table(config, where)
    for nested in config.nested:
        _check_nested(nested, where)
    if config.is_atomic and (created := sorted(_creating(config))):
        raise ConfigError(
            f"{where}: atomic() and relate(…, create_missing=True) exclude each other: the records made for "
            f"{listed(created)} would be visible before the run is accepted. Import them first, or drop one of the two."
        )


def _creating(config: IngestConfig | NestedConfig) -> Iterator[str]:
    """The attributes whose relations make missing records, nested ones included."""
    yield from (relation.attribute for relation in config.relations if relation.create_missing)
    for nested in config.nested:
        yield from _creating(nested)


def _check_nested(nested: NestedConfig, where: str) -> None:
    at = f'{where}, nested collection "{nested.path}"'
    _check_table(nested, at)
    for inner in nested.nested:
        _check_nested(inner, where)


def _check_table(config: IngestConfig | NestedConfig, where: str) -> None:
    assert config.target is not None
    mapped = {mapping.attribute for mapping in config.mappings} | {relation.attribute for relation in config.relations}
    parent_key = getattr(config, "parent_key", None)
    for attribute in config.key.attributes if config.key else ():
        if attribute not in mapped and attribute != parent_key:
            raise ConfigError(
                f'{where}: keyed_by("{attribute}"): the attribute is not mapped.{did_you_mean(attribute, mapped)} '
                f"Mapped are {listed(sorted(mapped))}."
            )
    unset = [
        name for name in columns_that_must_be_set(config.target.model) if name not in mapped and name != parent_key
    ]
    if unset:
        raise ConfigError(
            f'{where}: no mapping sets {listed(unset)} of "{config.target.label}", which take no null and have no '
            "default, so that no row could be written; map them, give them a default, or make them nullable."
        )
