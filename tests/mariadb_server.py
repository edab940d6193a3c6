"""Debian's MariaDB as a server of the tests' own: a directory, a port, nothing shared with one that runs already."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymysql

SERVER = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
INSTALL = shutil.which("mariadb-install-db")
MISSING = "MariaDB is not here: apt-get install mariadb-server, or name a server by INGEST_TEST_MARIADB"


@contextmanager
def mariadb_server(folder: Path) -> Iterator[str]:
    """URL of a new server with an empty database ``test``; its data lies in ``folder``."""
    assert SERVER is not None
    assert INSTALL is not None
    data, log = folder / "data", folder / "mariadb.log"
    user = [f"--user={'root' if os.geteuid() == 0 else os.environ.get('USER', 'mysql')}"]
    install = [INSTALL, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal"]
    subprocess.run([*install, "--skip-test-db", *user], check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--datadir={data}", f"--socket={folder / 's'}", f"--pid-file={folder / 'pid'}", f"--port={port}"]
    options += ["--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin", *user]
    # the tests crash processes, not the machine
    options += ["--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-buffer-pool-size=128M"]
    with log.open("wb") as out:
        process = subprocess.Popen([SERVER, "--no-defaults", *options], stdout=out, stderr=out)
    try:
        _wait(process, port, log)
        yield f"mysql+pymysql://root@127.0.0.1:{port}/"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with pymysql.connect(host="127.0.0.1", port=port, user="root") as connection:
                connection.cursor().execute("CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4")
        except pymysql.err.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"MariaDB does not start:\n{log.read_text(errors='replace')[-2000:]}") from None
            time.sleep(0.1)
        else:
            return
