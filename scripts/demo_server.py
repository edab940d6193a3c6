"""The demo's Airflow: one process group with a home of its own in the checkout."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx

CHECKOUT = Path(__file__).resolve().parents[1]
USER = "admin"
START_SECONDS = 300


class ServerFailed(Exception):
    """Airflow did not come up; the message says where to look."""


class DemoServer:
    """``airflow standalone`` on SQLite, with the demo's importers and target database.

    >>> with DemoServer(Path(".demo")) as server:  # doctest: +SKIP
    ...     server.start()
    """

    def __init__(self, home: Path, chunk_rows: int) -> None:
        self.home = home.resolve()
        self.shop = self.home / "shop.db"
        self.log = self.home / "airflow.log"
        port, *others = _free_ports()
        self.url = f"http://localhost:{port}"
        self.password = self._password()
        self.environment = self._environment(port, others, chunk_rows)
        self._http = httpx.Client(base_url=self.url, timeout=10)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> DemoServer:
        return self

    def start(self) -> None:
        """Start all components and wait until they are healthy; leaving the context ends them."""
        self._make_shop()
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", "airflow", "standalone"]
            self._process = subprocess.Popen(
                command, env=self.environment, cwd=self.home, stdout=log, stderr=log, start_new_session=True
            )
        self._wait()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End all of Airflow's processes: kindly first."""
        if self._process is None:
            return
        for number, seconds in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
            if self._is_gone(number, seconds):
                break
        self._process = None

    def _is_gone(self, number: int, seconds: float) -> bool:
        """Send the signal to all; whether nobody is left, executor workers and log servers included."""
        assert self._process is not None
        deadline = time.monotonic() + seconds
        try:
            os.killpg(self._process.pid, number)
            while time.monotonic() < deadline:
                self._process.poll()
                os.killpg(self._process.pid, 0)
                time.sleep(0.1)
        except ProcessLookupError:
            return True
        return False

    def wait_for_end(self) -> None:
        """Until Airflow ends by itself."""
        if self._process is not None:
            self._process.wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._is_healthy():
            if self._process is None or self._process.poll() is not None:
                raise ServerFailed(f"Airflow ended while it started; its log is {self.log}")
            if time.monotonic() > deadline:
                raise ServerFailed(f"Airflow did not start within {START_SECONDS} s; its log is {self.log}")
            time.sleep(0.5)

    def _is_healthy(self) -> bool:
        try:
            health = self._http.get("/api/v2/monitor/health").json()
        except (httpx.TransportError, ValueError):
            return False
        return all(health[part]["status"] == "healthy" for part in ("metadatabase", "scheduler", "dag_processor"))

    def _password(self) -> str:
        """The user's password, the same from one start to the next."""
        file = self.home / "passwords.json"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(json.dumps({USER: secrets.token_urlsafe(9)}))
        return str(json.loads(file.read_text())[USER])

    def _make_shop(self) -> None:
        """The tables that the importers fill, empty."""
        for file in self.home.glob(f"{self.shop.name}*"):
            file.unlink()
        code = "import sys; from shop_tables import Shop; from sqlalchemy import create_engine as engine; "
        code += "Shop.metadata.create_all(engine(sys.argv[1]))"
        subprocess.run(
            [sys.executable, "-c", code, f"sqlite:///{self.shop}"], check=True, env=self.environment, cwd=self.home
        )

    def _environment(self, port: int, others: list[int], chunk_rows: int) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
        return kept | {
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW_CONN_DEMO_DB": json.dumps({"conn_type": "sqlite", "host": str(self.shop)}),
            "AIRFLOW_CONN_DEMO_FILES": json.dumps(
                {"conn_type": "fs", "extra": {"path": str(CHECKOUT / "dags" / "data")}}
            ),
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
            "AIRFLOW__CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.url}/execution/",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__PARALLELISM": "4",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(self.home / "passwords.json"),
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{self.home / 'airflow.db'}",
            "AIRFLOW__INGEST__CHUNK_SIZE": str(chunk_rows),
            "AIRFLOW__INGEST__STORAGE_PATH": f"file://{self.home / 'ingest'}",
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(others[0]),
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(others[1]),
            "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL": "1",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "PYTHONPATH": os.pathsep.join([str(CHECKOUT), str(CHECKOUT / "dags")]),
        }


def _free_ports() -> list[int]:
    """Three ports that nobody listens on: Airflow's usual one if it is free, and two others."""
    with ExitStack() as stack:
        ports = []
        for wanted in (8080, 0, 0):
            listener = stack.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", wanted))
            except OSError:
                listener.bind(("127.0.0.1", 0))
            ports.append(listener.getsockname()[1])
        return ports
