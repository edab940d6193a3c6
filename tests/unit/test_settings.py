"""The section [ingest]: declared, read, checked, documented."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import airflow
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import SettingsError
from airflow_provider_ingest.get_provider_info import OPTIONS, get_provider_info
from airflow_provider_ingest.settings import PARSERS, IngestSettings, load_settings

ROOT = Path(__file__).resolve().parents[2]

USABLE: list[tuple[str, str, Any]] = [
    ("url_prefix", "/ingest/", "/ingest"),
    ("url_prefix", " /api/v1/ingest ", "/api/v1/ingest"),
    ("storage_path", "s3://aws_default@bucket/in/", "s3://aws_default@bucket/in"),
    ("storage_path", "/srv/ingest", "file:///srv/ingest"),
    ("default_disk", "", None),
    ("default_disk", "landing_zone", "landing_zone"),
    ("chunk_size", "1", 1),
    ("log_rows", "ALL", "all"),
    ("prune_days", "0", 0),
    ("allowed_url_hosts", "Example.COM., *.example.org ,", ("example.com", "*.example.org")),
    ("allow_private_networks", "true", True),
    ("allow_private_networks", "0", False),
    ("url_timeout", "0.5", 0.5),
    ("allowed_paths", "/srv/in/, /mnt/a/../b", ("/srv/in", "/mnt/b")),
    ("starts_per_minute", "0", 0),
]

UNUSABLE = [
    ("url_prefix", "api/v1/ingest"),
    ("url_prefix", "/"),
    ("url_prefix", "/a/../b"),
    ("url_prefix", "/api/v2"),
    ("url_prefix", "/ingest?x=1"),
    ("storage_path", "ingest"),
    ("storage_path", ""),
    ("default_disk", "a b"),
    ("chunk_size", "0"),
    ("chunk_size", "1e6"),
    ("chunk_size", "500_000"),
    ("max_upload_bytes", "10 GB"),
    ("max_show_rows", "100000"),
    ("log_rows", "some"),
    ("prune_hours", "-1"),
    ("allowed_url_hosts", "https://example.com/"),
    ("allow_private_networks", "perhaps"),
    ("url_timeout", "0"),
    ("url_timeout", "nan"),
    ("max_redirects", "1.5"),
    ("allowed_paths", "imports"),
    ("allowed_paths", "/srv, /"),
    ("db_conn_id", ""),
    ("max_active_runs", "0"),
    ("retries", "٣"),
]


@pytest.mark.parametrize(("key", "text", "value"), USABLE)
def test_a_usable_text_becomes_its_value(key: str, text: str, value: Any) -> None:
    assert getattr(IngestSettings.parse({key: text}), key) == value


@pytest.mark.parametrize(("key", "text"), UNUSABLE)
def test_an_unusable_text_is_refused_with_the_name_of_its_key(key: str, text: str) -> None:
    with pytest.raises(SettingsError, match=rf"\[ingest\] {key} = ") as refused:
        IngestSettings.parse({key: text})
    assert OPTIONS[key]["example"] in str(refused.value)


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(SettingsError, match="no key 'chunksize'"):
        IngestSettings.parse({"chunksize": "1"})


@given(st.sampled_from(sorted(PARSERS)), st.text(max_size=40))
def test_any_text_is_either_usable_or_refused_by_name(key: str, text: str) -> None:
    refusals: list[str] = []
    try:
        IngestSettings.parse({key: text})
    except SettingsError as refused:
        refusals.append(str(refused))
    assert all(f"[ingest] {key} = " in refusal for refusal in refusals)


@pytest.mark.parametrize("key", sorted(OPTIONS))
def test_default_and_example_of_each_key_are_usable(key: str) -> None:
    IngestSettings.parse({key: OPTIONS[key]["default"]})
    IngestSettings.parse({key: OPTIONS[key]["example"]})


@pytest.mark.parametrize("key", sorted(OPTIONS))
def test_the_declared_type_of_each_key_is_that_of_its_value(key: str) -> None:
    kinds = {"integer": int, "float": float, "boolean": bool, "string": (str, tuple)}
    assert isinstance(getattr(IngestSettings.parse({key: OPTIONS[key]["example"]}), key), kinds[OPTIONS[key]["type"]])


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        IngestSettings.parse({}).chunk_size = 1  # type: ignore[misc]


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__INGEST__PRUNE_DAYS", "7")
    monkeypatch.setenv("AIRFLOW__INGEST__ALLOWED_URL_HOSTS", "a.example, b.example")
    settings = load_settings()
    assert (settings.prune_days, settings.allowed_url_hosts) == (7, ("a.example", "b.example"))


def test_files_lie_under_the_home_of_airflow_unless_told_otherwise() -> None:
    from airflow.configuration import AIRFLOW_HOME

    assert load_settings().storage_path == f"file://{AIRFLOW_HOME}/ingest"


def test_a_bad_value_in_the_environment_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__INGEST__CHUNK_SIZE", "many")
    with pytest.raises(SettingsError, match=r"\[ingest\] chunk_size = 'many'.*whole number"):
        load_settings()


def test_the_provider_info_keeps_to_the_schema_of_airflow() -> None:
    schema = json.loads((Path(airflow.__file__).parent / "provider_info.schema.json").read_text())
    jsonschema.validate(get_provider_info(), schema)


def test_each_setting_is_declared_with_all_that_airflow_shows() -> None:
    assert list(OPTIONS) == [field.name for field in fields(IngestSettings)]
    for key, option in OPTIONS.items():
        assert option["description"].strip().endswith("."), key
        assert option["example"], key


def test_the_provider_info_imports_nothing_heavy() -> None:
    code = (
        "import sys; from airflow_provider_ingest.get_provider_info import get_provider_info; get_provider_info();"
        "print([name for name in ('airflow', 'sqlalchemy', 'polars', 'fastapi', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reference_of_the_configuration_is_what_the_provider_info_says() -> None:
    spec = importlib.util.spec_from_file_location("document_configuration", ROOT / "scripts/document_configuration.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.FILE.read_text() == module.render(), "run scripts/document_configuration.py"
