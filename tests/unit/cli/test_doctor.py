"""What the doctor says of an address at which something listens and does not answer."""

from __future__ import annotations

import socket

import pytest

from airflow_provider_ingest.cli import doctor
from airflow_provider_ingest.exceptions import SetupError


def test_a_server_that_does_not_answer_is_told_from_one_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PROBE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AIRFLOW__API__BASE_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(SetupError, match=r"does not answer within 0\.3 s: the API server may still be starting"):
            doctor._look_at_api()
    with pytest.raises(SetupError, match="Nothing answers at http://127"):
        doctor._look_at_api()
