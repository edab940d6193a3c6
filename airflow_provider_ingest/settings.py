"""The section ``[ingest]`` of Airflow's configuration as one frozen value."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from airflow_provider_ingest.exceptions import SettingsError
from airflow_provider_ingest.get_provider_info import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTION = "ingest"


MAX_PRUNE_DAYS, MAX_PRUNE_HOURS = 36_500, 876_000
"""A hundred years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSettings:
    """The settings, checked; field names are the configuration keys (see ``docs/reference/configuration.md``).

    >>> IngestSettings.parse({"prune_days": "7"}).prune_days
    7
    """

    url_prefix: str
    storage_path: str
    default_disk: str | None
    chunk_size: int
    max_upload_bytes: int
    max_source_bytes: int
    max_show_rows: int
    log_rows: str
    prune_days: int
    prune_hours: int
    allowed_url_hosts: tuple[str, ...]
    allow_private_networks: bool
    url_timeout: float
    max_redirects: int
    allowed_paths: tuple[str, ...]
    db_conn_id: str
    max_active_runs: int
    pool: str
    retries: int
    retry_delay: float
    starts_per_minute: int
    lost_after_minutes: int

    @classmethod
    def parse(cls, values: Mapping[str, str]) -> IngestSettings:
        """Settings from texts as they stand in the configuration; missing keys take their defaults.

        Raises :class:`SettingsError` with the key's name where a text cannot be used.
        """
        unknown = sorted(set(values) - set(PARSERS))
        if unknown:
            raise SettingsError(f"[{SECTION}] has no key {unknown[0]!r}; it has {', '.join(PARSERS)}.")
        parsed: dict[str, Any] = {}
        for key, parser in PARSERS.items():
            value = values.get(key, OPTIONS[key]["default"])
            try:
                parsed[key] = parser(value.strip())
            except ValueError as problem:
                raise SettingsError(
                    f"[{SECTION}] {key} = {value!r} cannot be used: {problem}. For example: {OPTIONS[key]['example']}"
                ) from None
        return cls(**parsed)


def load_settings() -> IngestSettings:
    """Read ``[ingest]`` from Airflow's configuration and environment.

    Raises :class:`SettingsError` with the key's name where a value cannot be used.
    """
    from airflow.configuration import AIRFLOW_HOME, conf

    values: dict[str, str] = {}
    for key, option in OPTIONS.items():
        value = str(conf.get(SECTION, key, fallback=option["default"]))
        values[key] = value.replace("{AIRFLOW_HOME}", AIRFLOW_HOME)
    return IngestSettings.parse(values)


def check_keys() -> None:
    """Raise :class:`SettingsError` for a key of ``[ingest]`` that there is not, with the one that may be meant."""
    import difflib

    from airflow.configuration import conf

    for key in conf.getsection(SECTION) or {}:
        if key not in OPTIONS:
            close = difflib.get_close_matches(key, OPTIONS, n=1)
            meant = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(OPTIONS)}."
            raise SettingsError(f"[{SECTION}] has no key {key!r}; {meant}")


def _integer(least: int, most: int = 2**62) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]+", text) or not least <= int(text) <= most:
            raise ValueError(f"expected a whole number from {least}" + (f" to {most}" if most < 2**62 else ""))
        return int(text)

    return parse


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) or not 0 < float(text) <= 86_400:
        raise ValueError("expected seconds, above 0 and at most a day")
    return float(text)


def _boolean(text: str) -> bool:
    if text.lower() in ("true", "t", "1", "yes", "on"):
        return True
    if text.lower() in ("false", "f", "0", "no", "off"):
        return False
    raise ValueError("expected True or False")


def _choice(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return text.lower()

    return parse


def _prefix(text: str) -> str:
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+/?", text):
        raise ValueError("expected a path that begins with / and holds letters, digits and . _ ~ -")
    path = text.rstrip("/")
    if {".", ".."} & set(path.split("/")):
        raise ValueError("expected a path without . and .. as parts")
    if path in ("/api", "/api/v2", "/auth", "/execution", "/ui", "/static"):
        raise ValueError("that path belongs to Airflow itself")
    return path


def _storage(text: str) -> str:
    if text.startswith("/"):
        return "file://" + text.rstrip("/")
    if not re.fullmatch(r"[a-z][a-z0-9+.-]*://.+", text):
        raise ValueError("expected an absolute path or an object storage path (scheme://connection@bucket/path)")
    return text.rstrip("/")


def _identifier(text: str) -> str:
    if not re.fullmatch(r"[\w.-]{1,200}", text):
        raise ValueError("expected a name of letters, digits and _ . -")
    return text


def _optional_identifier(text: str) -> str | None:
    return _identifier(text) if text else None


def _hosts(text: str) -> tuple[str, ...]:
    hosts = tuple(part.strip().lower().rstrip(".") for part in text.split(",") if part.strip())
    for host in hosts:
        if not re.fullmatch(r"(\*\.)?[\w.:-]+", host):
            raise ValueError(f"expected host names separated by commas, found {host!r}")
    return hosts


def _paths(text: str) -> tuple[str, ...]:
    paths = tuple(part.strip() for part in text.split(",") if part.strip())
    for path in paths:
        if not os.path.isabs(path):
            raise ValueError(f"expected absolute paths separated by commas, found {path!r}")
        if os.path.normpath(path) == os.sep:
            raise ValueError("the whole file system cannot be allowed")
    return tuple(os.path.normpath(path) for path in paths)


PARSERS: dict[str, Callable[[str], Any]] = {
    "url_prefix": _prefix,
    "storage_path": _storage,
    "default_disk": _optional_identifier,
    "chunk_size": _integer(1),
    "max_upload_bytes": _integer(1),
    "max_source_bytes": _integer(1),
    "max_show_rows": _integer(1, 1000),
    "log_rows": _choice("failed", "all", "none"),
    "prune_days": _integer(0, MAX_PRUNE_DAYS),
    "prune_hours": _integer(0, MAX_PRUNE_HOURS),
    "allowed_url_hosts": _hosts,
    "allow_private_networks": _boolean,
    "url_timeout": _seconds,
    "max_redirects": _integer(0, 30),
    "allowed_paths": _paths,
    "db_conn_id": _identifier,
    "max_active_runs": _integer(1, 1000),
    "pool": _identifier,
    "retries": _integer(0, 100),
    "retry_delay": _seconds,
    "starts_per_minute": _integer(0),
    "lost_after_minutes": _integer(1),
}
"""How each key's text becomes its value; one per field of :class:`IngestSettings` and per declared option."""

if set(PARSERS) != set(OPTIONS) or set(PARSERS) != {field.name for field in fields(IngestSettings)}:
    raise AssertionError("The [ingest] keys differ between provider info, parsers and settings")
