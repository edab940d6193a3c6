"""SFTP sources against a real SSH server."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import asyncssh
import pytest

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.filesystem import FilesystemHook
from airflow_provider_ingest.hooks.sftp import SftpHook
from airflow_provider_ingest.importers.source import SourceSpec, SourceType

ROOT = Path(__file__).parents[3]
CONTENT = b"sku,name\n" + b"A-1,Lamp\n" * 300_000


class Login(asyncssh.SSHServer):
    def begin_auth(self, username):
        return True

    def password_auth_supported(self):
        return True

    def validate_password(self, username, password):
        return (username, password) == ("shop", "secret")


class Files(asyncssh.SFTPServer):
    """Drops the connection in the middle of a file whose name says so."""

    def __init__(self, channel, root):
        super().__init__(channel, chroot=root)

    async def read(self, file_obj, offset, size):
        if "cut" in str(file_obj.name) and offset > len(CONTENT) // 2:
            self.connection.abort()
        return super().read(file_obj, offset, size)


class Server:
    """An SSH server in a thread of its own."""

    def __init__(self, folder, key, authorized):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.folder = folder
        self.listener = self.call(self.listen(folder, key, authorized))
        self.port = self.listener.get_port()

    async def listen(self, folder, key, authorized):
        return await asyncssh.create_server(
            Login,
            "127.0.0.1",
            0,
            server_host_keys=[key],
            authorized_client_keys=str(authorized),
            sftp_factory=lambda channel: Files(channel, str(folder)),
        )

    def call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    def stop(self):
        self.listener.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    client = asyncssh.generate_private_key("ssh-ed25519")
    client.write_private_key(str(folder / "client"))
    client.write_public_key(str(folder / "authorized"))
    (folder / "client").chmod(0o600)
    return folder


@pytest.fixture(scope="module")
def host_key():
    return asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture(scope="module")
def server(tmp_path_factory, keys, host_key):
    folder = tmp_path_factory.mktemp("sftp")
    (folder / "incoming").mkdir()
    (folder / "incoming" / "products.csv").write_bytes(CONTENT)
    (folder / "incoming" / "cut.csv").write_bytes(CONTENT)
    running = Server(folder, host_key, keys / "authorized")
    yield running
    running.stop()


@pytest.fixture
def disk(server, host_key, connect):
    def make(conn_id="sftp_shop", *, password="secret", **extra):
        extra = {"host_key": host_key.export_public_key().decode().strip(), "look_for_keys": False, **extra}
        extra = {name: value for name, value in extra.items() if value is not None}
        fields = {"conn_type": "sftp", "host": "127.0.0.1", "port": server.port, "login": "shop", "extra": extra}
        return connect(conn_id, **fields, **({"password": password} if password else {}))

    return make


def test_a_file_is_read_whole_with_a_password(disk, fetch):
    got = fetch(SftpHook(disk(), "/incoming/products.csv"))
    assert (got.name, got.content) == ("products.csv", CONTENT)


def test_a_file_is_read_with_a_key(disk, fetch, keys):
    place = disk(password=None, key_file=str(keys / "client"))
    assert fetch(SftpHook(place, "/incoming/products.csv")).content == CONTENT


def test_a_file_of_the_disk_is_read_by_a_filesystem_source_too(disk, fetch):
    assert fetch(FilesystemHook("products.csv", f"{disk()}:/incoming")).content == CONTENT


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/incoming/missing.csv", "is not there"),
        ("/incoming", "is no ordinary file"),
        ("../../etc/passwd", "'..' is not allowed"),
    ],
)
def test_a_path_that_names_no_file_is_refused_for_good(disk, fetch, path, message):
    with pytest.raises(SourceError, match=message) as caught:
        fetch(SftpHook(disk(), path))
    assert not caught.value.retryable


def test_a_symbolic_link_out_of_the_disks_root_is_refused(server, disk, fetch):
    (server.folder / "secret.csv").write_text("secret")
    for name, target in (("out.csv", "../secret.csv"), ("in.csv", "products.csv"), ("above", "..")):
        (server.folder / "incoming" / name).symlink_to(target)
    for path in ("out.csv", "above/secret.csv"):
        with pytest.raises(SourceError, match="leads out of the disk's root") as caught:
            fetch(SftpHook(f"{disk()}:/incoming", path))
        assert not caught.value.retryable
    assert fetch(SftpHook(f"{disk()}:/incoming", "in.csv")).content == CONTENT
    assert fetch(SftpHook(disk(), "/incoming/out.csv")).content == b"secret"


def test_a_file_that_is_written_meanwhile_is_refused(server, disk):
    path = server.folder / "incoming" / "changing.csv"
    path.write_bytes(CONTENT)
    with SftpHook(disk(), "/incoming/changing.csv").open() as stream:
        next(stream.blocks)
        os.utime(path, (1, 1))
        with pytest.raises(SourceError, match="was changed while it was read") as caught:
            list(stream.blocks)
    assert caught.value.retryable


def test_a_run_keeps_the_version_that_it_staged_first(server, disk, stays_pinned):
    path = server.folder / "incoming" / "versions.csv"
    path.write_bytes(b"a\n1\n")
    source = SourceSpec(type=SourceType.SFTP, options={"disk": disk(), "path": "/incoming/versions.csv"})
    stays_pinned(source, lambda: path.write_bytes(b"a\n2\n"))


def test_a_refused_login_is_final_and_shows_no_password(disk, fetch):
    with pytest.raises(SourceError, match="refuses the login") as caught:
        fetch(SftpHook(disk(password="guess-7"), "/incoming/products.csv"))
    assert not caught.value.retryable
    assert "guess-7" not in str(caught.value)


def test_another_host_key_than_the_known_one_is_refused(disk, fetch):
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    with pytest.raises(SourceError, match="another host key"):
        fetch(SftpHook(disk(host_key=other), "/incoming/products.csv"))


def test_an_unknown_host_key_is_refused_unless_the_connection_says_otherwise(disk, fetch):
    with pytest.raises(SourceError, match="host key that is not known"):
        fetch(SftpHook(disk(host_key=None), "/incoming/products.csv"))
    open_disk = disk(host_key=None, no_host_key_check=True)
    assert fetch(SftpHook(open_disk, "/incoming/products.csv")).content == CONTENT


def test_a_cut_transfer_is_never_taken_for_whole(disk, fetch):
    with pytest.raises(SourceError, match=r"broke off|was cut") as caught:
        fetch(SftpHook(disk(), "/incoming/cut.csv"))
    assert caught.value.retryable


def test_a_server_that_is_not_there_is_worth_another_try(fetch, connect):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        connect("gone", conn_type="sftp", host="127.0.0.1", port=port, login="a", password="b", extra={})
        with pytest.raises(SourceError, match="does not answer") as caught:
            fetch(SftpHook("gone", "/a.csv"))
    assert caught.value.retryable


def test_the_connection_test_says_whether_the_file_can_be_read(disk):
    assert SftpHook(disk(), "/incoming/products.csv").test_connection() == (True, "products.csv can be read.")
    is_good, why = SftpHook(disk(), "/incoming/missing.csv").test_connection()
    assert not is_good
    assert "is not there" in why


FLAT = """
import json, sys
from pathlib import Path
from airflow_provider_ingest.hooks.base import Sink
from airflow_provider_ingest.hooks.filesystem import FilesystemHook

def size(path):
    with open("/dev/null", "wb") as nowhere, Sink(nowhere, max_bytes=1 << 40) as sink:
        FilesystemHook(path, "sftp_shop").fetch(sink)
    return sink.size

peak = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
size("/incoming/products.csv")
before = peak()
print(json.dumps([size(sys.argv[1]), peak() - before]))
"""


def test_a_large_file_of_an_sftp_disk_takes_flat_memory(server, disk):
    disk()
    size = int(os.environ.get("INGEST_TEST_SFTP_MB", "48")) << 20
    with (server.folder / "incoming" / "large.csv").open("wb") as file:
        file.truncate(size)
    done = subprocess.run(
        [sys.executable, "-c", FLAT, "/incoming/large.csv"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    read, extra = json.loads(done.stdout.splitlines()[-1])
    assert read == size
    assert extra < 24, f"{extra} MiB above a small file"
