"""The plugin refuses settings that cannot be used when the API server asks for its apps."""

from __future__ import annotations

import pytest

from airflow_provider_ingest.exceptions import SettingsError
from airflow_provider_ingest.plugins import ingest_plugin


def test_a_bad_setting_keeps_the_api_from_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__INGEST__MAX_UPLOAD_BYTES", "10 GB")
    with pytest.raises(SettingsError, match=r"\[ingest\] max_upload_bytes = '10 GB' cannot be used"):
        ingest_plugin._apps.__wrapped__()


def test_without_fab_there_are_no_status_tables() -> None:
    assert ingest_plugin._fab_views.__wrapped__() == []
    assert ingest_plugin._fab_links.__wrapped__() == []
