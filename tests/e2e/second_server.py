"""Another API server beside the tests' Airflow, over the same metadata database, with settings of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.ports import free_ports


@contextmanager
def second_api_server(
    airflow: AirflowServer, home: Path, *, base_path: str = "", **settings: str
) -> Iterator[AirflowServer]:
    """Start it, give it as a server of its own, stop it.

    :param base_path: path of its ``[api] base_url``.
    """
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    environment = {
        **airflow.environment,
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": url + base_path,
        **settings,
    }
    server = replace(airflow, home=home, url=url + base_path, environment=environment, process=None, _tokens={})
    with server.log.open("ab") as log:
        server.process = subprocess.Popen(
            ["airflow", "api-server"], env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        deadline = time.monotonic() + 180
        while not _answers(server):
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The second API server does not start:\n{server.log_tail()}")
            time.sleep(0.3)
        yield server
    finally:
        with suppress(ProcessLookupError):  # a test may have killed it
            os.killpg(server.process.pid, signal.SIGTERM)
        server.process.wait(30)


def _answers(server: AirflowServer) -> bool:
    try:
        return server.client.get("/api/v2/version").status_code == 200
    except httpx.TransportError:
        return False
